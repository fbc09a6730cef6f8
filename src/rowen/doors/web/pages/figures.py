"""Figures of a source: how much was verified lately, changes by day, what was avoided."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from itertools import pairwise
from statistics import median
from typing import Any

from rowen.core.run import Run
from rowen.core.web.verified import Freshness
from rowen.ports.store.runs import RunDay

DAYS = 30
MOST_MISSED = 6
"""Gaps that are drawn in a row; a service that was off for months should not push its runs out."""


def verified(fresh: Freshness) -> dict[str, Any]:
    """When a document was last verified, by the record that hits read, and the shares of a day and a week."""
    total = max(1, fresh.total)
    return {
        "verified_at": fresh.last,
        "fresh_day": fresh.day / total,
        "fresh_week": (fresh.day + fresh.week) / total,
    }


def avoided(runs: Sequence[Run]) -> dict[str, Any]:
    """What the runs of a stretch did not have to download and to embed."""
    saved = sum(int(run.counters.get("not_modified") or 0) for run in runs)
    asked = saved + sum(_bodies(run) for run in runs)
    reused = sum(int(run.counters.get("embeddings_reused") or 0) for run in runs)
    return {
        "avoided_share": saved / asked if asked else None,
        "avoided_text": f"{saved:,} of {asked:,} bodies; {reused:,} embeddings",
    }


def by_day(days: Sequence[RunDay], today: date) -> dict[int, list[int]]:
    """Changed documents of each source in the last 30 days, the newest day last."""
    found: dict[int, list[int]] = {}
    for one in days:
        age = (today - one.day).days
        if 0 <= age < DAYS:
            found.setdefault(one.source_id, [0] * DAYS)[DAYS - 1 - age] += one.changed
    return found


def since(now: datetime) -> datetime:
    """When the days of `by_day` begin."""
    return now - timedelta(days=DAYS)


def slots(drawn: Sequence[dict[str, Any]], every_s: float) -> list[dict[str, Any]]:
    """The drawn runs from the oldest to the newest, and a gap for each that was due and did not happen.

    Gaps are told only of sources whose runs follow their schedule: who syncs by hand misses none.
    """
    gaps = [(later["at"] - one["at"]).total_seconds() for one, later in pairwise(drawn)]
    if not gaps or not 0.5 * every_s <= median(gaps) <= 1.5 * every_s:
        return list(drawn)
    made = [drawn[0]]
    for gap, run in zip(gaps, drawn[1:], strict=True):
        missed = min(MOST_MISSED, round(gap / every_s) - 1)
        made += [
            {"at": made[-1]["at"] + timedelta(seconds=every_s * number), "missed": True}
            for number in range(1, missed + 1)
        ]
        made.append(run)
    return made


def _bodies(run: Run) -> int:
    return sum(
        int(run.counters.get(name) or 0) for name in ("created", "updated", "same_body", "same_content")
    )
