"""From visible documents to offers and companies: follow the change feed, and find a company for a reader.

What was written and how far the feed was read go into one transaction, so an interruption loses nothing and
doubles nothing. Following along and reading the whole feed once, at the end, give the same companies with the
same aggregates, except for what the feed does not tell afterwards:

- the ids of companies and offers, and which of two spellings of a name is shown;
- offers that were closed before: they count for their companies only if they were met while they were open;
- keys that no open offer names any more (a former website), and what was joined through them;
- when an offer was not seen for a while and came back: that it was away.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from rowen.core.feed import Cursor, Document, FeedItem
from rowen.core.lease import Lease
from rowen.core.offers.company import Company
from rowen.core.offers.decide import KnownOffers, Seen, decide, link
from rowen.core.offers.employer import company_name, registrable
from rowen.core.offers.offer import OFFER_KINDS, Posting, is_offer, read
from rowen.core.source import Source
from rowen.core.web.urls import host_of
from rowen.engine.leases import acquire, kept
from rowen.engine.ports import Ports
from rowen.errors import LeaseLost, NotFound
from rowen.ports.store.feed import Feed
from rowen.ports.store.offers import Offers
from rowen.ports.store.sources import Sources

LEASE = "projection:companies"
PAGE = 500
SHOWN = 5


class OfferFeed(Offers, Feed, Sources, Protocol):
    """Offers, and the change feed they are projected from."""


async def project(ports: Ports, *, limit: int = 500) -> int:
    """Bring offers and companies in step with what readers see; returns how many references were looked at.

    `limit` is how many of them go into one transaction. While another process holds the lease, it does this.
    """
    done = 0
    # Looked at again after the release: a process that found the lease taken relies on this one.
    while await _is_behind(ports.store):
        lease = await acquire(ports, LEASE)
        if lease is None:
            break
        try:
            async with kept(ports, lease):
                done += await _catch_up(ports.store, lease, limit)
        except LeaseLost:
            break
    return done


async def find(store: Offers, name_or_id: str) -> Company:
    """A company by its id or by its name, however it is spelt, or by a part that fits one company only."""
    if name_or_id.isascii() and name_or_id.isdigit() and len(name_or_id) <= 18:
        company = await store.company(int(name_or_id))
        if company is not None:
            return company
    found = await store.companies(query=name_or_id, limit=PAGE)
    plain = company_name(name_or_id)
    exact = [company for company in found if plain and company_name(company.name) == plain]
    if len(exact or found) == 1:
        return (exact or found)[0]
    if found:
        some = ", ".join(f"`{company.id}` {company.name}" for company in (exact or found)[:SHOWN])
        raise NotFound(
            f"company `{name_or_id}`: fits {len(exact or found)} companies",
            hint=f"name one by its id: {some}",
            name=name_or_id,
        )
    raise NotFound(
        f"company `{name_or_id}`: no such company", hint="list them with `rowen companies`", name=name_or_id
    )


async def listed(
    store: Offers,
    *,
    query: str | None = None,
    min_open: int = 0,
    source_ids: Collection[int] | None = None,
    limit: int,
) -> list[Company]:
    """Companies for a reader: those with the most open offers first."""
    every: list[Company] = []
    while True:
        page = await store.companies(
            query=query,
            min_open=min_open,
            source_ids=source_ids,
            after=every[-1].id if every else 0,
            limit=PAGE,
        )
        every += page
        if len(page) < PAGE:
            break
    every.sort(key=lambda company: (-company.open_offers, -company.offers, company_name(company.name)))
    return every[:limit]


async def _is_behind(store: OfferFeed) -> bool:
    stand = await store.projection(OFFER_KINDS)
    if stand.orphaned:
        return True
    if not stand.source_ids:
        return False
    return bool(await store.feed(stand.cursor, source_ids=stand.source_ids, limit=1))


async def _catch_up(store: OfferFeed, lease: Lease, limit: int) -> int:
    done = 0
    while True:
        stand = await store.projection(OFFER_KINDS)
        if stand.orphaned:
            # First of all: the id of a source that is gone may be another's by now.
            await _save(store, lease, await store.orphaned_offers(limit=limit), (), cursor=None)
            continue
        if not stand.source_ids:
            return done
        items = await store.feed(stand.cursor, source_ids=stand.source_ids, limit=limit)
        if not items:
            return done
        seen = await _seen(store, items)
        known = await store.known_offers(
            places=_places(seen),
            offers={one.posting.key for one in seen if one.posting},
            company_keys={key for one in seen for key in _keys(one.posting)},
        )
        await _save(store, lease, known, seen, cursor=items[-1].cursor)
        done += len(items)


async def _save(
    store: Offers, lease: Lease, known: KnownOffers, seen: Sequence[Seen], *, cursor: Cursor | None
) -> None:
    decision = decide(known, seen)
    if decision.alike or decision.merged:
        alike = await store.offers_alike(fingerprints=decision.alike, company_ids=decision.merged)
        decision = link(decision, alike)
    await store.save_offers(lease, decision, cursor=cursor)


async def _seen(store: OfferFeed, items: Sequence[FeedItem]) -> list[Seen]:
    """What readers see of these references now, with the texts of the offers among them."""
    wanted: defaultdict[int, dict[str, None]] = defaultdict(dict)
    for item in items:
        if item.document is not None and is_offer(item.document.metadata):
            wanted[item.source_id][item.reference] = None
    sources = {source.id: source for source in await store.sources()} if wanted else {}
    postings: dict[tuple[int, str], Posting | None] = {}
    for source_id, references in wanted.items():
        documents = await store.documents(
            source_id, references=list(references), limit=len(references), text=True
        )
        for document in documents:
            boards = _boards(document, sources.get(source_id))
            postings[source_id, document.reference] = read(document, boards=boards)
    return [
        Seen(
            source_id=item.source_id,
            reference=item.reference,
            at=item.at,
            posting=postings.get((item.source_id, item.reference)),
        )
        for item in items
    ]


def _boards(document: Document, source: Source | None) -> set[str]:
    """The domains that show an offer: that of its own address, and that of its source."""
    addresses = (document.url, source.location if source else "")
    return {registrable(host) for host in map(host_of, addresses) if host}


def _places(seen: Sequence[Seen]) -> Mapping[int, Sequence[str]]:
    places: defaultdict[int, list[str]] = defaultdict(list)
    for one in seen:
        places[one.source_id].append(one.reference)
    return places


def _keys(posting: Posting | None) -> tuple[str, ...]:
    return posting.employer.keys if posting and posting.employer else ()
