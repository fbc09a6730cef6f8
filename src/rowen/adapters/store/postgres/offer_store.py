"""`PostgresOffers`: the part of the store that keeps offers and companies."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from rowen.adapters.store.postgres import offers as work
from rowen.adapters.store.postgres.database import Database
from rowen.core.feed import Cursor
from rowen.core.lease import Lease
from rowen.core.offers.company import Company
from rowen.core.offers.decide import Decision, KnownOffers
from rowen.core.offers.offer import Offer
from rowen.ports.store.offers import Projection


class PostgresOffers:
    _db: Database

    async def projection(self, kinds: Collection[str]) -> Projection:
        return await self._db.read(work.projection, kinds)

    async def known_offers(
        self,
        *,
        places: Mapping[int, Sequence[str]],
        offers: Collection[tuple[str, str]],
        company_keys: Collection[str],
    ) -> KnownOffers:
        return await self._db.read(work.known, places, offers, company_keys)

    async def orphaned_offers(self, *, limit: int) -> KnownOffers:
        return await self._db.read(work.orphaned, limit)

    async def offers_alike(
        self, *, fingerprints: Collection[bytes], company_ids: Collection[int]
    ) -> list[Offer]:
        return await self._db.read(work.alike, fingerprints, company_ids)

    async def save_offers(self, lease: Lease, decision: Decision, *, cursor: Cursor | None) -> None:
        await self._db.write(work.save, lease, decision, cursor)

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
        return await self._db.read(work.companies, ids, query, min_open, source_ids, after, limit)

    async def company(self, company_id: int) -> Company | None:
        return await self._db.read(work.company, company_id)

    async def offers_of(self, company_id: int) -> list[Offer]:
        return await self._db.read(work.offers_of, company_id)

    async def set_resolution(self, company_id: int, text: str, now: datetime) -> None:
        await self._db.write(work.set_resolution, company_id, text, now)
