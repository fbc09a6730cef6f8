"""Which pages a run asks for when it may not ask for all of them.

At first everything is asked in turn, the longest unchecked first: two such sweeps say enough about most
pages. Then the requests go where they gain most. No page waits for longer than three times the interval at
which the same budget would ask for every page in turn, however little it seems to change: an estimate may be
wrong, and only asking corrects it. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import nlargest

from rowen.core.freshness.gain import gain
from rowen.records import dataclass

SWEEPS = 2
"""So many times everything is asked in turn before estimates decide."""
LONGEST = 3.0
"""No page waits for longer than so many uniform intervals."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """A page that may be asked for."""

    reference: str
    rate: float
    """Changes per second."""
    age_s: float
    """Since it was last checked."""
    weight: float = 1.0
    """How often readers see it, in any unit."""
    checks: int = SWEEPS
    """How often it was checked since it was first fetched; what is beyond `SWEEPS` does not matter."""


def uniform_interval(pages: int, requests: int, every_s: float) -> float:
    """How long a sweep over all pages takes with so many requests in a run, and a run every so often."""
    return every_s * max(pages, 1) / max(requests, 1)


def plan(pages: Sequence[Page], requests: int, *, every_s: float) -> list[Page]:
    """The pages to ask for in this run with so many requests, when there is a run every `every_s`."""
    if requests >= len(pages):
        return list(pages)
    longest_s = LONGEST * uniform_interval(len(pages), requests, every_s)
    unsure = [page for page in pages if page.checks < SWEEPS]
    # A page that would be too old before the next run is asked in this one.
    overdue = [page for page in pages if page.checks >= SWEEPS and page.age_s + every_s > longest_s]
    first = nlargest(requests, unsure + overdue, key=lambda page: page.age_s)
    chosen = {page.reference for page in first}
    others = (page for page in pages if page.reference not in chosen)
    return first + nlargest(
        requests - len(first), others, key=lambda page: (gain(page.rate, page.age_s, page.weight), page.age_s)
    )
