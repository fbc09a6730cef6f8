"""Offers and companies. What belongs together the core decides; here it is kept and found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from rowen.adapters.store.shared.database import Topic, reads, writes
from rowen.adapters.store.shared.topics.leases import fence
from rowen.adapters.store.shared.transaction import Transaction
from rowen.adapters.store.shared.values import maybe_time_in, value_out
from rowen.core.feed import Cursor
from rowen.core.lease import Lease
from rowen.core.offers.company import Company, Identity, aggregate, said_together
from rowen.core.offers.decide import Decision, KnownOffers
from rowen.core.offers.employer import company_name
from rowen.core.offers.offer import Offer, Sighting
from rowen.errors import NotFound
from rowen.ports.store.offers import Projection


class Offers(Topic):
    @reads
    def projection(self, db: Transaction, kinds: Collection[str]) -> Projection:
        row = db.row("projection_get")
        return Projection(
            cursor=Cursor(row[0], row[1]) if row else Cursor(),
            source_ids=[found[0] for found in db.rows("sources_of_kinds", kinds=list(kinds))],
            orphaned=db.row("sightings_orphaned", limit=1) is not None,
        )

    @reads
    def known_offers(
        self,
        db: Transaction,
        *,
        places: Mapping[int, Sequence[str]],
        offers: Collection[tuple[str, str]],
        company_keys: Collection[str],
    ) -> KnownOffers:
        ids: set[int] = set()
        for source_id, references in places.items():
            rows = db.rows("offers_at", source=source_id, keys=_keys(db, references))
            ids.update(row[0] for row in rows)
        by_provider: defaultdict[str, list[str]] = defaultdict(list)
        for provider, external_id in offers:
            by_provider[provider].append(external_id)
        for provider, external_ids in by_provider.items():
            rows = db.rows("offers_named", provider=provider, keys=_keys(db, external_ids))
            ids.update(row[0] for row in rows)
        owners = [row[0] for row in db.rows("companies_with_keys", keys=_keys(db, company_keys))]
        companies = [identity for identity, _ in _identities(db, owners)]
        return replace(_offers_with_sightings(db, ids), companies=companies)

    @reads
    def orphaned_offers(self, db: Transaction, *, limit: int) -> KnownOffers:
        orphans: dict[int, int] = dict(db.rows("sightings_orphaned", limit=limit))
        return replace(_offers_with_sightings(db, set(orphans.values())), orphans=orphans)

    @reads
    def offers_alike(
        self, db: Transaction, *, fingerprints: Collection[bytes], company_ids: Collection[int]
    ) -> list[Offer]:
        theirs = {row[0] for row in db.rows("fingerprints_of", companies=list(company_ids))}
        return db.all(Offer, "offers_alike", fingerprints=list(theirs.union(fingerprints)))

    @writes
    def save_offers(
        self, db: Transaction, lease: Lease, decision: Decision, *, cursor: Cursor | None
    ) -> None:
        fence(db, lease)
        companies = decision.companies
        db.write_many(
            "company_save", [{"id": one.id, "name": one.name, "website": one.website} for one in companies]
        )
        db.write_many(
            "company_key_save",
            [
                {"digest": db.key(key), "key": key, "company": one.id}
                for one in companies
                for key in sorted(one.keys)
            ],
        )
        for gone, into in sorted(decision.merged.items()):
            _merge(db, gone, into)
        offers = [value_out(one) | {"digest": db.key(one.external_id)} for one in decision.offers]
        db.write_many("offer_save", offers)
        db.write_many(
            "offer_repost", [{"offer": offer, "first": first} for offer, first in decision.reposts.items()]
        )
        sightings = [value_out(one) | {"digest": db.key(one.reference)} for one in decision.sightings]
        db.write_many("sighting_save", sightings)
        db.write("sightings_delete", ids=list(decision.orphans))
        db.write("offers_delete", ids=list(decision.forgotten))
        db.write("companies_forget", ids=list(decision.left))
        db.write(
            "projection_save",
            activation=cursor.activation if cursor else None,
            item=cursor.item if cursor else None,
            last_offer_id=decision.last_offer_id,
            last_company_id=decision.last_company_id,
        )

    @reads
    def companies(
        self,
        db: Transaction,
        *,
        ids: Collection[int] | None = None,
        query: str | None = None,
        min_open: int = 0,
        source_ids: Collection[int] | None = None,
        after: int = 0,
        limit: int = 1000,
    ) -> list[Company]:
        rows = db.rows(
            "companies_page",
            everyone=ids is None,
            ids=list(ids or ()),
            query=query,
            name=company_name(query or ""),
            min_open=min_open,
            everywhere=source_ids is None,
            sources=list(source_ids or ()),
            after=after,
            limit=limit,
        )
        return _companies(db, [row[0] for row in rows])

    @reads
    def company(self, db: Transaction, company_id: int) -> Company | None:
        current = db.value("company_current", id=company_id)
        return None if current is None else _companies(db, [current])[0]

    @reads
    def offers_of(self, db: Transaction, company_id: int) -> list[Offer]:
        current = db.value("company_current", id=company_id)
        if current is None:
            return []
        found = db.all(Offer, "offers_of_companies", companies=[current])
        sightings: defaultdict[int, list[tuple[str, bool]]] = defaultdict(list)
        for offer_id, label, gone_at in db.rows("offer_sources", offers=[offer.id for offer in found]):
            sightings[offer_id].append((label, gone_at is None))
        found.sort(key=lambda offer: (offer.is_open, offer.appeared_at, offer.id), reverse=True)
        return [replace(offer, sources=_labels(offer, sightings[offer.id])) for offer in found]

    @writes
    def set_resolution(self, db: Transaction, company_id: int, text: str, now: datetime) -> None:
        current = db.value("company_current", id=company_id)
        if current is None:
            raise NotFound(f"company {company_id}: no such company", hint="list them with `rowen companies`")
        db.write("resolution_save", id=current, text=text.strip(), now=now)


def _keys(db: Transaction, texts: Iterable[str]) -> list[Any]:
    return [db.key(text) for text in texts]


def _offers_with_sightings(db: Transaction, offer_ids: Collection[int]) -> KnownOffers:
    given = db.row("projection_get")
    return KnownOffers(
        offers=db.all(Offer, "offers_by_id", ids=list(offer_ids)),
        sightings=db.all(Sighting, "sightings_of", offers=list(offer_ids)),
        last_offer_id=given[2] if given else 0,
        last_company_id=given[3] if given else 0,
    )


def _identities(db: Transaction, company_ids: Sequence[int]) -> list[tuple[Identity, str]]:
    """Companies with what people say about them."""
    keys: defaultdict[int, set[str]] = defaultdict(set)
    for company_id, key in db.rows("company_keys_of", companies=list(company_ids)):
        keys[company_id].add(key)
    return [
        (Identity(id=row[0], name=row[1], website=row[2], keys=frozenset(keys[row[0]])), row[3])
        for row in db.rows("companies_by_id", ids=list(company_ids))
    ]


def _companies(db: Transaction, company_ids: Sequence[int]) -> list[Company]:
    as_of = maybe_time_in(db.value("offers_looked_at"))
    offers: defaultdict[int | None, list[Offer]] = defaultdict(list)
    for offer in db.all(Offer, "offers_of_companies", companies=list(company_ids)):
        offers[offer.company_id].append(offer)
    return [
        aggregate(identity, offers[identity.id], resolution=resolution, as_of=as_of)
        for identity, resolution in _identities(db, company_ids)
    ]


def _merge(db: Transaction, gone: int, into: int) -> None:
    said = {row[0]: row[3] for row in db.rows("companies_by_id", ids=[gone, into])}
    if said[gone]:
        db.write("resolution_move", gone=gone, into=into, text=said_together((said[into], said[gone])))
    db.write("company_move_offers", gone=gone, into=into)
    db.write("company_move_ids", gone=gone, into=into)
    db.write("company_delete", gone=gone)
    db.write("company_merged", gone=gone, into=into)


def _labels(offer: Offer, sightings: Iterable[tuple[str, bool]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(label for label, there in sightings if there or not offer.is_open))
