"""How fast pages change: what their checks said, and what was learnt from it.

A page that never changed has no row: how long it stood is in its version and in the record of the source's
last look. One that changed has one row, which is written when it changes. What was learnt is kept in the
record of the last look; so a run that finds nothing new writes no more rows than without all this.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from rowen.core.freshness.evidence import Evidence
from rowen.core.freshness.source_rates import SourceRates
from rowen.records import NamedTuple


class CheckedPage(NamedTuple):
    reference: str
    evidence: Evidence
    verified_at: datetime
    """When it was last known to be right."""


class Rates(Protocol):
    async def rates_learnt_at(self, source_id: int) -> datetime | None:
        """When rates of the source's pages were last learnt; None if they never were."""
        ...

    async def checked_pages(self, source_id: int, *, most: int) -> list[tuple[str, Evidence]]:
        """What the checks of visible pages said, by reference: of all, or of every so many of them.

        Nothing when the source has not been looked at since its pages were first fetched.
        """
        ...

    async def pages_to_schedule(self, source_id: int) -> tuple[SourceRates | None, list[CheckedPage]]:
        """What was learnt of a source, and every visible page with its last check."""
        ...

    async def shown(self, source_id: int) -> dict[str, float]:
        """How often readers were lately shown pages of a source, by reference; without those shown rarely."""
        ...

    async def add_shown(self, counts: Mapping[int, int], *, now: datetime) -> None:
        """How often visible documents were shown since the last call; one row for each of their sources."""
        ...
