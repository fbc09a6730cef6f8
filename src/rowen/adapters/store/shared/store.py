"""The store of both databases: its topics, and what they share."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

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
from rowen.core.section import Passage
from rowen.ports.embedder import Model
from rowen.ports.store.generations import Vacuumed
from rowen.ports.store.handoffs import Ingested
from rowen.ports.store.runs import RunEnd

if TYPE_CHECKING:
    from rowen.adapters.store.shared.search.ahead import IndexAhead


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

    def read_at_once(self) -> None:
        """Read in the caller's thread from now on, for one that does one thing after the other."""
        self._db.reads_at_once = True

    @cached_property
    def _ahead(self) -> IndexAhead:
        from rowen.adapters.children.cores import cores
        from rowen.adapters.store.shared.search.ahead import IndexAhead

        # With one core a child would only take turns with the run.
        return IndexAhead(lambda: self._finder.folder_to_write if self._follows and cores() > 1 else None)

    @property
    def _follows(self) -> bool:
        return self.follows_ahead or self._finder.is_used

    async def ingest(
        self,
        lease: Lease,
        run: Run,
        ingested: Sequence[Ingested],
        passages: Sequence[Passage],
        vectors: Mapping[bytes, bytes],
        model: Model,
        *,
        now: datetime,
    ) -> None:
        await super().ingest(lease, run, ingested, passages, vectors, model, now=now)
        await self._ahead.take(passages)

    async def finish_run(self, lease: Lease, run: Run, end: RunEnd, *, now: datetime) -> None:
        if end.activate is not None and self._follows:
            # The child indexes the last texts while it is looked up which ones there are.
            born, _ = await asyncio.gather(
                self._db.read(
                    lambda db: dict(db.rows("passages_born", source=run.source_id, generation=end.activate))
                ),
                self._ahead.rest(),
            )
            if len(born) > self._finder.worth_indexing or (born and self._finder.is_used):
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
        if "_ahead" in self.__dict__:
            await self._ahead.close()
        if "_finder" in self.__dict__:
            await asyncio.to_thread(self._finder.close)
        await self._db.close()

    def rows_written(self) -> int:
        return self._db.rows_written()
