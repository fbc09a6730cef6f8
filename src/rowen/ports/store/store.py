"""What Rowen remembers: one Protocol a topic, and all of them together.

Plain reads and writes, each one transaction; the rules live above. Every writing method of a run takes the
run's lease and raises `LeaseLost` when its token is not the newest. `StoreBusy` and `StoreFull` are raised
when the database cannot take the write now. A function asks for the topic it needs; the whole store is for
wiring.
"""

from __future__ import annotations

from typing import Protocol

from rowen.ports.store.access import Access
from rowen.ports.store.documents import Documents
from rowen.ports.store.feed import Feed
from rowen.ports.store.generations import Generations
from rowen.ports.store.handoffs import Handoffs
from rowen.ports.store.learning.claims import Claims
from rowen.ports.store.learning.outcomes import Outcomes
from rowen.ports.store.learning.plans import Plans
from rowen.ports.store.learning.rates import Rates
from rowen.ports.store.leases import Leases
from rowen.ports.store.notes import Notes
from rowen.ports.store.offers import Offers
from rowen.ports.store.passages import Passages
from rowen.ports.store.runs import Runs
from rowen.ports.store.search import Search
from rowen.ports.store.shards import Shards
from rowen.ports.store.sources import Sources


class Store(
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
    Protocol,
):
    """One database. Readers never wait for writers."""

    async def close(self) -> None: ...

    def rows_written(self) -> int:
        """Rows inserted, updated or deleted since the store was opened: the currency of "doing nothing"."""
        ...
