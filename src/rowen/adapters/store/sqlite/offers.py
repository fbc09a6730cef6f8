"""Offers and companies in SQLite. Each function is one unit of work; what belongs together core decides."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import apsw

from rowen.adapters.store.sqlite.leases import fence
from rowen.adapters.store.sqlite.queries import sql
from rowen.adapters.store.sqlite.rows import (
    blobs_parameter,
    ids_parameter,
    texts_parameter,
    time_in,
    time_out,
)
from rowen.core.feed import Cursor
from rowen.core.lease import Lease
from rowen.core.offers.company import Company, Identity, aggregate, said_together
from rowen.core.offers.decide import Decision, KnownOffers
from rowen.core.offers.employer import company_name
from rowen.core.offers.offer import Offer, Sighting
from rowen.errors import NotFound
from rowen.ports.store.offers import Projection


def projection(db: apsw.Connection, kinds: Collection[str]) -> Projection:
    row = db.execute(sql("projection_get")).get
    return Projection(
        cursor=Cursor(row[0], row[1]) if row else Cursor(),
        source_ids=[found[0] for found in db.execute(sql("sources_of_kinds"), (texts_parameter(kinds),))],
        orphaned=db.execute(sql("sightings_orphaned"), (1,)).get is not None,
    )


def known(
    db: apsw.Connection,
    places: Mapping[int, Sequence[str]],
    offers: Collection[tuple[str, str]],
    company_keys: Collection[str],
) -> KnownOffers:
    ids: set[int] = set()
    for source_id, references in places.items():
        rows = db.execute(sql("offers_at"), (source_id, texts_parameter(references)))
        ids.update(row[0] for row in rows)
    by_provider: defaultdict[str, list[str]] = defaultdict(list)
    for provider, external_id in offers:
        by_provider[provider].append(external_id)
    for provider, external_ids in by_provider.items():
        rows = db.execute(sql("offers_named"), (provider, texts_parameter(external_ids)))
        ids.update(row[0] for row in rows)
    owners = [row[0] for row in db.execute(sql("companies_with_keys"), (texts_parameter(company_keys),))]
    companies = [identity for identity, _ in _identities(db, owners)]
    return replace(_offers_with_sightings(db, ids), companies=companies)


def orphaned(db: apsw.Connection, limit: int) -> KnownOffers:
    orphans: dict[int, int] = dict(db.execute(sql("sightings_orphaned"), (limit,)))
    return replace(_offers_with_sightings(db, set(orphans.values())), orphans=orphans)


def alike(db: apsw.Connection, fingerprints: Collection[bytes], company_ids: Collection[int]) -> list[Offer]:
    values = {"fingerprints": blobs_parameter(fingerprints), "companies": ids_parameter(company_ids)}
    return [_offer(row) for row in db.execute(sql("offers_alike"), values)]


def save(db: apsw.Connection, held: Lease, decision: Decision, cursor: Cursor | None) -> None:
    fence(db, held)
    for company in decision.companies:
        values = {"id": company.id, "name": company.name, "website": company.website}
        db.execute(sql("company_save"), values)
        db.executemany(sql("company_key_save"), ((key, company.id) for key in sorted(company.keys)))
    for gone, into in sorted(decision.merged.items()):
        _merge(db, gone, into)
    db.executemany(sql("offer_save"), (_offer_out(offer) for offer in decision.offers))
    db.executemany(sql("offer_repost"), ((first, offer) for offer, first in decision.reposts.items()))
    db.executemany(sql("sighting_save"), (_sighting_out(one) for one in decision.sightings))
    db.execute(sql("sightings_delete"), (ids_parameter(decision.orphans),))
    db.execute(sql("offers_delete"), (ids_parameter(decision.forgotten),))
    db.execute(sql("companies_forget"), (ids_parameter(decision.left),))
    db.execute(
        sql("projection_save"),
        {
            "activation": cursor.activation if cursor else None,
            "item": cursor.item if cursor else None,
            "last_offer_id": decision.last_offer_id,
            "last_company_id": decision.last_company_id,
        },
    )


def companies(
    db: apsw.Connection,
    ids: Collection[int] | None,
    query: str | None,
    min_open: int,
    source_ids: Collection[int] | None,
    after: int,
    limit: int,
) -> list[Company]:
    rows = db.execute(
        sql("companies_page"),
        {
            "everyone": ids is None,
            "ids": ids_parameter(ids or ()),
            "query": query,
            "name": company_name(query or ""),
            "min_open": min_open,
            "everywhere": source_ids is None,
            "sources": ids_parameter(source_ids or ()),
            "after": after,
            "limit": limit,
        },
    )
    return _companies(db, [row[0] for row in rows])


def company(db: apsw.Connection, company_id: int) -> Company | None:
    current = db.execute(sql("company_current"), {"id": company_id}).get
    return None if current is None else _companies(db, [current])[0]


def offers_of(db: apsw.Connection, company_id: int) -> list[Offer]:
    current = db.execute(sql("company_current"), {"id": company_id}).get
    if current is None:
        return []
    found = [_offer(row) for row in db.execute(sql("offers_of_companies"), (ids_parameter([current]),))]
    sightings: defaultdict[int, list[tuple[str, bool]]] = defaultdict(list)
    for offer_id, label, gone_at in db.execute(
        sql("offer_sources"), (ids_parameter(offer.id for offer in found),)
    ):
        sightings[offer_id].append((label, gone_at is None))
    found.sort(key=lambda offer: (offer.is_open, offer.appeared_at, offer.id), reverse=True)
    return [replace(offer, sources=_labels(offer, sightings[offer.id])) for offer in found]


def set_resolution(db: apsw.Connection, company_id: int, text: str, now: datetime) -> None:
    current = db.execute(sql("company_current"), {"id": company_id}).get
    if current is None:
        raise NotFound(f"company {company_id}: no such company", hint="list them with `rowen companies`")
    db.execute(sql("resolution_save"), {"id": current, "text": text.strip(), "now": time_out(now)})


def _offers_with_sightings(db: apsw.Connection, offer_ids: Collection[int]) -> KnownOffers:
    given = db.execute(sql("projection_get")).get
    return KnownOffers(
        offers=[_offer(row) for row in db.execute(sql("offers_by_id"), (ids_parameter(offer_ids),))],
        sightings=[
            Sighting(offer_id=row[0], source_id=row[1], reference=row[2], gone_at=time_in(row[3]))
            for row in db.execute(sql("sightings_of"), (ids_parameter(offer_ids),))
        ],
        last_offer_id=given[2] if given else 0,
        last_company_id=given[3] if given else 0,
    )


def _identities(db: apsw.Connection, company_ids: Sequence[int]) -> list[tuple[Identity, str]]:
    """Companies with what people say about them."""
    keys: defaultdict[int, set[str]] = defaultdict(set)
    for company_id, key in db.execute(sql("company_keys_of"), (ids_parameter(company_ids),)):
        keys[company_id].add(key)
    return [
        (Identity(id=row[0], name=row[1], website=row[2], keys=frozenset(keys[row[0]])), row[3])
        for row in db.execute(sql("companies_by_id"), (ids_parameter(company_ids),))
    ]


def _companies(db: apsw.Connection, company_ids: Sequence[int]) -> list[Company]:
    as_of = time_in(db.execute(sql("offers_looked_at")).get)
    offers: defaultdict[int | None, list[Offer]] = defaultdict(list)
    for row in db.execute(sql("offers_of_companies"), (ids_parameter(company_ids),)):
        offers[row[3]].append(_offer(row))
    return [
        aggregate(identity, offers[identity.id], resolution=resolution, as_of=as_of)
        for identity, resolution in _identities(db, company_ids)
    ]


def _merge(db: apsw.Connection, gone: int, into: int) -> None:
    values = {"gone": gone, "into": into}
    said = {row[0]: row[3] for row in db.execute(sql("companies_by_id"), (ids_parameter((gone, into)),))}
    if said[gone]:
        text = said_together((said[into], said[gone]))
        db.execute(sql("resolution_move"), {**values, "text": text})
    db.execute(sql("company_move_offers"), values)
    db.execute(sql("company_move_ids"), values)
    db.execute(sql("company_delete"), (gone,))
    db.execute(sql("company_merged"), values)


def _labels(offer: Offer, sightings: Iterable[tuple[str, bool]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(label for label, there in sightings if there or not offer.is_open))


def _offer(row: tuple[Any, ...]) -> Offer:
    return Offer(
        id=row[0],
        provider=row[1],
        external_id=row[2],
        company_id=row[3],
        title=row[4],
        place=row[5],
        url=row[6],
        posted_at=time_in(row[7]),
        updated_at=time_in(row[8]),
        content_hash=row[9],
        fingerprint=row[10],
        first_seen_at=datetime.fromisoformat(row[11]),
        last_seen_at=datetime.fromisoformat(row[12]),
        closed_at=time_in(row[13]),
        repost_of=row[14],
    )


def _offer_out(offer: Offer) -> dict[str, Any]:
    return {
        "id": offer.id,
        "provider": offer.provider,
        "external_id": offer.external_id,
        "company_id": offer.company_id,
        "title": offer.title,
        "place": offer.place,
        "url": offer.url,
        "posted_at": _time(offer.posted_at),
        "updated_at": _time(offer.updated_at),
        "content_hash": offer.content_hash,
        "fingerprint": offer.fingerprint,
        "first_seen_at": time_out(offer.first_seen_at),
        "last_seen_at": time_out(offer.last_seen_at),
        "closed_at": _time(offer.closed_at),
    }


def _sighting_out(one: Sighting) -> dict[str, Any]:
    return {
        "offer": one.offer_id,
        "source": one.source_id,
        "reference": one.reference,
        "gone_at": _time(one.gone_at),
    }


def _time(value: datetime | None) -> str | None:
    return time_out(value) if value is not None else None
