"""How many pages a run may ask for: by a budget of pages a day, or by the share of hits to be current.

Which pages these are is decided in `plan.py`. What is not asked for in a run adds up for the next one, up to
one day. A wanted share is turned into the budget that the best schedule needs for it: the rates of change
that were learnt say which. Pure.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from rowen.core.freshness.gain import level_of_freshness, share_fresh, spent_at
from rowen.core.freshness.plan import LONGEST, SWEEPS, Page, plan
from rowen.patterns import pattern
from rowen.records import NamedTuple

DAY_S = 86_400.0
LONGEST_WAIT_S = 90 * DAY_S
"""No page waits for longer, however quiet its source is."""
REPRESENTATIVES = 100
"""So many pages stand for all when a budget is looked for."""
SHORTEST_S, LONGEST_EVERY_S = 900.0, 30 * DAY_S
"""Bounds of an interval that is chosen by itself."""
SHARE = 0.95
"""What a source with `every = "auto"` aims at when it does not say."""
LEAST_PAGES, LEAST_SHARE = 20, 0.01
"""A run that asks for fewer pages is not worth its robots.txt and sitemaps."""
_UNITS = {
    "s": 1.0,
    "m": 60.0,
    "min": 60.0,
    "h": 3600.0,
    "hour": 3600.0,
    "d": DAY_S,
    "day": DAY_S,
    "week": 7 * DAY_S,
}
_BUDGET = pattern(r"(\d[\d_,]*)\s*/\s*(\w+)")


def budget_of(text: str) -> float:
    """`5000/day` or `200/h` as pages a day; a `ValueError` says what was expected."""
    found = _BUDGET.fullmatch(text.strip().lower())
    number = int(re.sub("[_,]", "", found[1])) if found else 0
    if found is None or found[2] not in _UNITS or not number:
        raise ValueError("expected a number of pages and a time, such as `5000/day` or `200/h`")
    return number * DAY_S / _UNITS[found[2]]


class Sweep(NamedTuple):
    """How often all pages were asked for in turn since there is a budget, and when the next sweep began."""

    done: int
    since: datetime

    def as_dict(self) -> dict[str, Any]:
        return {"done": self.done, "since": self.since.isoformat()}

    @classmethod
    def of(cls, said: Any) -> Sweep | None:
        try:
            return cls(int(said["done"]), datetime.fromisoformat(said["since"]))
        except (TypeError, KeyError, ValueError):
            return None

    def after(self, oldest: datetime, now: datetime) -> Sweep:
        """When every page was asked for since it began, the next one begins now."""
        done = self.done < SWEEPS and oldest >= self.since
        return Sweep(self.done + 1, now) if done else self


def pages_a_day(pages: Sequence[Page], *, budget: float | None, share: float | None) -> float:
    """The budget that a source has, or needs for so many current hits; the smaller one, if it says both."""
    needed = math.inf if share is None else _needed(pages, share)
    return min(math.inf if budget is None else budget, needed)


def _needed(pages: Sequence[Page], share: float) -> float:
    if not pages:
        return 0.0
    ordered = sorted(pages, key=lambda page: page.rate)
    step = max(len(ordered) // REPRESENTATIVES, 1)
    standing = [(page.rate, page.weight) for page in ordered[step // 2 :: step]]
    longest_s, a_second = LONGEST_WAIT_S, 0.0
    for _ in range(3):
        level = level_of_freshness(standing, share, longest_s)
        a_second = spent_at(level, standing, longest_s)[0] * len(pages) / len(standing)
        # What is asked for in turn, three times as often as the bound needs, changes the bound.
        longest_s = min(LONGEST_WAIT_S, LONGEST * len(pages) / a_second)
    return a_second * DAY_S


def choose(pages: Sequence[Page], a_day: float, *, elapsed_s: float) -> list[Page] | None:
    """The pages to ask for, so long after the run before; None for all of them."""
    requests = int(a_day * min(max(elapsed_s, 0.0), DAY_S) / DAY_S)
    if requests >= len(pages):
        return None
    return plan(pages, max(requests, 1), every_s=max(requests, 1) / a_day * DAY_S)


def interval(pages: Sequence[Page], *, budget: float | None, share: float | None) -> float:
    """After how long a source is worth a run, in seconds.

    Without a budget every run asks for everything: as often as the wanted share of current hits needs. With
    one, as often as there is enough to ask for.
    """
    if budget is None and share is None:
        return _whole_interval(pages, SHARE)
    least = max(LEAST_PAGES, LEAST_SHARE * len(pages))
    a_day = pages_a_day(pages, budget=budget, share=share)
    return min(max(least / max(a_day, 1e-9) * DAY_S, SHORTEST_S), DAY_S)


def _whole_interval(pages: Sequence[Page], share: float) -> float:
    total = sum(page.weight for page in pages)
    low, high = SHORTEST_S, LONGEST_EVERY_S
    if not total:
        return DAY_S
    for _ in range(40):
        middle = math.sqrt(low * high)
        reached = sum(page.weight * share_fresh(page.rate, middle) for page in pages) / total
        low, high = (middle, high) if reached >= share else (low, middle)
    return low
