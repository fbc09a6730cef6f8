"""Items that fail run after run: for how long they hold up what comes after them.

A source that is read by date goes on when a stretch of time is in. An item that never answers would keep it
there for ever, so after some runs the stretch counts without it. Only few items are given up: when many fail,
the server fails, and may answer later. Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

RUNS = 3
"""In so many runs in a row an item may fail before its stretch of time counts without it."""
FEW = 10
FEW_SHARE = 0.1
"""Of the items a run asked for; the larger of the two counts."""
MAX_REMEMBERED = 1000


def counted(before: Mapping[str, int], *, failed: Collection[str], met: Collection[str]) -> dict[str, int]:
    """In how many runs in a row each item has failed; `met` are the items this run asked for.

    The others keep their number. No number is larger than `RUNS`, so that an item that is given up costs no
    further write.
    """
    after = {one: runs for one, runs in before.items() if one not in met and one not in failed}
    after |= {one: min(before.get(one, 0) + 1, RUNS) for one in failed}
    return dict(list(after.items())[-MAX_REMEMBERED:])


def lasting(runs: Mapping[str, int], failed: Collection[str]) -> list[str]:
    """Of what failed now, what has failed for so long that it may be given up."""
    return sorted(one for one in failed if runs.get(one, 0) >= RUNS)


def are_few(items: Collection[str], *, asked: int) -> bool:
    """Of so many that a run asked for, are these few enough to be about themselves?"""
    return len(items) <= max(FEW, asked * FEW_SHARE)
