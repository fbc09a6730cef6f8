"""The store of both databases: its topics, and what they share."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime

from rowen.adapters.store.shared.topics.access import Access
from rowen.adapters.store.shared.topics.documents import Documents
from rowen.adapters.store.shared.topics.feed import Feed
from rowen.adapters.store.shared.topics.generations import Generations
from rowen.adapters.store.shared.topics.handoffs import Handoffs
from rowen.adapters.store.shared.topics.learning.claims import Claims
from rowen.adapters.store.shared.topics.learning.outcomes import Outcomes
from rowen.adapters.store.shared.topics.learning.plans import Plans
from rowen.adapters.store.shared.topics.learning.rates import Rates
from rowen.adapters.store.shared.topics.leases import Leases
from rowen.adapters.store.shared.topics.notes import Notes
from rowen.adapters.store.shared.topics.offers import Offers
from rowen.adapters.store.shared.topics.passages import Passages
from rowen.adapters.store.shared.topics.runs import Runs
from rowen.adapters.store.shared.topics.search import Search
from rowen.adapters.store.shared.topics.shards import Shards
from rowen.adapters.store.shared.topics.sources import Sources
from rowen.core.lease import Lease
from rowen.core.run import Run
from rowen.ports.store.generations import Vacuumed
from rowen.ports.store.runs import RunEnd


class SharedStore(
    Sources,
    Runs,
    Documents,
    Handoffs,
    Passages,
    Generations,
    Search,
    Notes,
    Leases,
    Feed,
    Access,
    Offers,
    Shards,
    Plans,
    Claims,
    Rates,
    Outcomes,
):
    follows_ahead = True
    """A run indexes its texts for searches from this machine, before readers see them."""

    async def finish_run(self, lease: Lease, run: Run, end: RunEnd, *, now: datetime) -> None:
        if end.activate is not None and (self.follows_ahead or self._finder.is_used):
            born = await self._db.read(
                lambda db: [
                    row[0] for row in db.rows("passages_born", source=run.source_id, generation=end.activate)
                ]
            )
            if len(born) >= self._finder.worth_saving or (born and self._finder.is_used):
                await asyncio.to_thread(self._finder.follow_ahead, born)
        await super().finish_run(lease, run, end, now=now)

    async def vacuum(
        self, floors: Mapping[int, int], *, handoffs_before: datetime | None = None, everything: bool
    ) -> Vacuumed:
        done = await super().vacuum(floors, handoffs_before=handoffs_before, everything=everything)
        if everything:
            await asyncio.to_thread(self._finder.tidy)
        return done

    async def close(self) -> None:
        if "_finder" in self.__dict__:
            await asyncio.to_thread(self._finder.close)
        await self._db.close()

    def rows_written(self) -> int:
        return self._db.rows_written()
