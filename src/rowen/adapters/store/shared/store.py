"""The store of both databases: its topics, and what they share."""

from __future__ import annotations

from rowen.adapters.store.shared.topics.access import Access
from rowen.adapters.store.shared.topics.documents import Documents
from rowen.adapters.store.shared.topics.feed import Feed
from rowen.adapters.store.shared.topics.generations import Generations
from rowen.adapters.store.shared.topics.handoffs import Handoffs
from rowen.adapters.store.shared.topics.leases import Leases
from rowen.adapters.store.shared.topics.notes import Notes
from rowen.adapters.store.shared.topics.offers import Offers
from rowen.adapters.store.shared.topics.passages import Passages
from rowen.adapters.store.shared.topics.runs import Runs
from rowen.adapters.store.shared.topics.search import Search
from rowen.adapters.store.shared.topics.shards import Shards
from rowen.adapters.store.shared.topics.sources import Sources


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
):
    async def close(self) -> None:
        await self._db.close()

    def rows_written(self) -> int:
        return self._db.rows_written()
