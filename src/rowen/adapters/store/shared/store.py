"""The store of both databases: its topics, and what they share.

A topic is imported when the first of its methods is asked for (`topic_table.py`): a command that shows the
sources loads nothing about handoffs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from rowen.adapters.store.shared.database import Topic
from rowen.adapters.store.shared.topic_table import METHODS, TOPIC_OF
from rowen.eventloop import asyncio, in_thread

if TYPE_CHECKING:
    from datetime import datetime

    from rowen.adapters.store.shared.search.ahead import IndexAhead
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

    class Topics(
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
        """Every method of every topic."""

else:

    class Topics(Topic):
        """The methods of the topics that were asked so far."""

        def __getattr__(self, name: str) -> Any:
            if not name.startswith("__"):
                for topic in (TOPIC_OF[name],) if name in TOPIC_OF else METHODS:
                    take_in(topic)
                if hasattr(type(self), name):
                    return getattr(self, name)
            raise AttributeError(f"{type(self).__name__} has no attribute `{name}`")


@cache
def take_in(topic: str) -> None:
    """Give the store the methods of a topic. A method that the store itself has comes before them."""
    module = import_module(f"rowen.adapters.store.shared.topics.{topic}")
    for name, value in vars(getattr(module, topic.rpartition(".")[2].capitalize())).items():
        if not name.startswith("__") and name != "_abc_impl":
            setattr(Topics, name, value)


class SharedStore(Topics):
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
        take_in("handoffs")
        await super().ingest(lease, run, ingested, passages, vectors, model, now=now)
        await self._ahead.take(passages)

    async def index_soon(self) -> None:
        if self._follows:
            self._ahead.go_on()

    async def index_ahead(self, run: Run, generation: int) -> None:
        if not self._follows:
            return
        # The child indexes the last texts while it is looked up which ones there are.
        born, _ = await asyncio.gather(
            self._db.read(
                lambda db: dict(db.rows("passages_born", source=run.source_id, generation=generation))
            ),
            self._ahead.rest(),
        )
        if len(born) > self._finder.worth_indexing or (born and self._finder.is_used):
            await asyncio.to_thread(self._finder.follow_ahead, born)

    async def finish_run(self, lease: Lease, run: Run, end: RunEnd, *, now: datetime) -> None:
        # A database that does more at the end of a run calls this one.
        take_in("runs")
        await super().finish_run(lease, run, end, now=now)

    async def vacuum(
        self, floors: Mapping[int, int], *, handoffs_before: datetime | None = None, everything: bool
    ) -> Vacuumed:
        take_in("generations")
        done = await super().vacuum(floors, handoffs_before=handoffs_before, everything=everything)
        if everything:
            await in_thread(self._finder.tidy)
        return done

    async def close(self) -> None:
        if "_ahead" in self.__dict__:
            await self._ahead.close()
        if "_finder" in self.__dict__:
            await in_thread(self._finder.close)
        await self._db.close()

    def rows_written(self) -> int:
        return self._db.rows_written()
