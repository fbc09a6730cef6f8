"""Figures of a source that its runs tell: how much was verified lately, changes by day, what was avoided.

A run that brought everything verified everything; one that did not verified the items it has an answer for.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from rowen.core.run import Run, RunStatus

DAYS = 30
LOOKED_AT = 200
"""Runs of a source that are read for these figures."""
CHANGED = ("created", "updated", "deleted")
ANSWERED = ("created", "updated", "unchanged")


def figures(runs: Sequence[Run], documents: int, now: datetime) -> dict[str, Any]:
    """`runs` with the newest first."""
    ended = [run for run in runs if run.finished_at is not None]
    verifying = [(run, _verified(run, documents)) for run in ended]
    lately = [run for run in ended if now - run.started_at < timedelta(days=DAYS)]
    asked = sum(int(run.counters.get("not_modified") or 0) + _bodies(run) for run in lately)
    saved = sum(int(run.counters.get("not_modified") or 0) for run in lately)
    reused = sum(int(run.counters.get("embeddings_reused") or 0) for run in lately)
    return {
        "verified_at": next((run.finished_at for run, share in verifying if share > 0), None),
        "fresh_day": _within(verifying, now, days=1),
        "fresh_week": _within(verifying, now, days=7),
        "days": by_day(runs, now),
        "avoided_share": saved / asked if asked else None,
        "avoided_text": f"{saved:,} of {asked:,} bodies; {reused:,} embeddings",
    }


def by_day(runs: Sequence[Run], now: datetime) -> list[int]:
    """Changed documents of the last 30 days, the newest day last."""
    days = [0] * DAYS
    for run in runs:
        age = (now - run.started_at).days
        if 0 <= age < DAYS:
            days[DAYS - 1 - age] += sum(int(run.counters.get(name) or 0) for name in CHANGED)
    return days


def _verified(run: Run, documents: int) -> float:
    """The share of what readers see that a run has an answer for."""
    if run.status is RunStatus.COMPLETED:
        return 1.0
    if run.status not in (RunStatus.PARTIAL, RunStatus.HELD) or not documents:
        return 0.0
    return min(1.0, sum(int(run.counters.get(name) or 0) for name in ANSWERED) / documents)


def _within(verifying: Sequence[tuple[Run, float]], now: datetime, *, days: int) -> float:
    since = now - timedelta(days=days)
    return max((share for run, share in verifying if run.started_at >= since), default=0.0)


def _bodies(run: Run) -> int:
    return sum(
        int(run.counters.get(name) or 0) for name in ("created", "updated", "same_body", "same_content")
    )
