"""What is kept of offers and companies: a projection of what readers see, and what people say about them.

The projection has one writer at a time, the holder of its lease. Its place in the change feed moves in the
same transaction as what it wrote.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from rowen.core.feed import Cursor
from rowen.core.lease import Lease
from rowen.core.offers.company import Company
from rowen.core.offers.decide import Decision, KnownOffers
from rowen.core.offers.offer import Offer
from rowen.records import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Projection:
    cursor: Cursor
    """How far in the feed it has come."""
    source_ids: Collection[int]
    """The sources that may hold offers."""
    orphaned: bool
    """A source was removed, and its offers are still there."""


class Offers(Protocol):
    async def projection(self, kinds: Collection[str]) -> Projection:
        """Where the projection stands; one small read. Sources of these kinds may hold offers."""
        ...

    async def known_offers(
        self,
        *,
        places: Mapping[int, Sequence[str]],
        offers: Collection[tuple[str, str]],
        company_keys: Collection[str],
    ) -> KnownOffers:
        """The offers at these references of sources, and with these providers and ids; every sighting of
        theirs; and the companies that have one of these keys. Without orphans."""
        ...

    async def orphaned_offers(self, *, limit: int) -> KnownOffers:
        """Some sightings whose source was removed, their offers, and the other sightings of those."""
        ...

    async def offers_alike(
        self, *, fingerprints: Collection[bytes], company_ids: Collection[int]
    ) -> list[Offer]:
        """Offers that have one of these fingerprints, or the fingerprint of an offer of these companies."""
        ...

    async def save_offers(self, lease: Lease, decision: Decision, *, cursor: Cursor | None) -> None:
        """All of a decision, and how far the projection has come; None leaves that. Raises `LeaseLost`.

        What people said about merged companies goes with them; it also keeps a company that lost its offers.
        """
        ...

    async def companies(
        self,
        *,
        ids: Collection[int] | None = None,
        query: str | None = None,
        min_open: int = 0,
        source_ids: Collection[int] | None = None,
        after: int = 0,
        limit: int = 1000,
    ) -> list[Company]:
        """Companies in the order of their ids; the id of one that was merged stands for what it is now.

        `query` is a part of a name, however it is spelt, or of a domain.
        """
        ...

    async def company(self, company_id: int) -> Company | None: ...

    async def offers_of(self, company_id: int) -> list[Offer]:
        """The offers of a company with their sources: open ones first, then the newest."""
        ...

    async def set_resolution(self, company_id: int, text: str, now: datetime) -> None:
        """What people say about a company; empty takes it back. Raises `NotFound`."""
        ...
