"""What the store promises about offers and companies."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import pytest

from rowen.core.feed import Cursor
from rowen.core.lease import Lease
from rowen.core.offers.decide import Decision, Seen, decide, link
from rowen.core.offers.offer import OFFER_KINDS, Posting, fingerprint
from rowen.errors import LeaseLost, NotFound
from rowen.ports.store.store import Store
from tests.contract.helpers import a_source
from tests.core.offers.test_company import named
from tests.support.job_board import DAY, a_board, days, show
from tests.support.job_board import an_offer as a_document

pytestmark = pytest.mark.anyio


def a_posting(
    number: int,
    name: str | None = "Acme",
    *,
    company: str | None = None,
    website: str | None = None,
    text: str | None = None,
    place: str = "Madrid",
) -> Posting:
    return Posting(
        provider="p",
        external_id=str(number),
        employer=named(name, number=company, website=website) if name else None,
        title="Cook",
        place=place,
        url=f"https://board.example/{number}",
        posted_at=None,
        updated_at=DAY,
        content_hash=b"hash",
        fingerprint=fingerprint("Cook", place, text or "x" * number),
    )


def seen(source_id: int, number: int, posting: Posting | None, at: datetime = DAY) -> Seen:
    return Seen(source_id=source_id, reference=str(number), at=at, posting=posting)


async def a_lease(store: Store) -> Lease:
    lease = await store.acquire_lease("projection:companies", "me", now=DAY, ttl_s=60)
    assert lease is not None
    return lease


async def project(
    store: Store, lease: Lease, news: Sequence[Seen], *, cursor: Cursor | None = None
) -> Decision:
    postings = [one.posting for one in news if one.posting]
    known = await store.known_offers(
        places={one.source_id: [other.reference for other in news] for one in news},
        offers=[posting.key for posting in postings],
        company_keys=[key for one in postings if one.employer for key in one.employer.keys],
    )
    decision = decide(known, news)
    alike = await store.offers_alike(fingerprints=decision.alike, company_ids=decision.merged)
    decision = link(decision, alike)
    await store.save_offers(lease, decision, cursor=cursor)
    return decision


async def test_a_projection_begins_at_the_start_and_knows_its_sources(store: Store) -> None:
    await a_source(store)
    board = await a_board(store)
    stand = await store.projection(OFFER_KINDS)
    assert (stand.cursor, list(stand.source_ids), stand.orphaned) == (Cursor(), [board.id], False)
    assert list((await store.projection({"lever"})).source_ids) == []


async def test_the_cursor_moves_with_what_was_written(store: Store) -> None:
    board, lease = await a_board(store), await a_lease(store)
    await project(store, lease, [seen(board.id, 1, a_posting(1))], cursor=Cursor(3, 14))
    assert (await store.projection(OFFER_KINDS)).cursor == Cursor(3, 14)
    await project(store, lease, [seen(board.id, 2, a_posting(2))])
    assert (await store.projection(OFFER_KINDS)).cursor == Cursor(3, 14), "left where it was"
    assert len(await store.offers_of(1)) == 2


async def test_who_lost_the_lease_writes_nothing(store: Store) -> None:
    board, lease = await a_board(store), await a_lease(store)
    await store.release_lease(lease)
    await a_lease(store)
    with pytest.raises(LeaseLost):
        await project(store, lease, [seen(board.id, 1, a_posting(1))], cursor=Cursor(3, 14))
    assert (await store.projection(OFFER_KINDS)).cursor == Cursor()
    assert await store.companies() == []


async def test_everything_about_an_offer_comes_back(store: Store) -> None:
    board, lease = await a_board(store), await a_lease(store)
    decision = await project(store, lease, [seen(board.id, 1, a_posting(1, company="7", website="acme.com"))])
    known = await store.known_offers(
        places={board.id: ["1"]}, offers=[("p", "1")], company_keys=["domain:acme.com", "name:other"]
    )
    assert known.offers == decision.offers
    assert known.sightings == decision.sightings
    assert known.companies == decision.companies
    assert (known.last_offer_id, known.last_company_id) == (1, 1)
    assert known.companies[0].keys == {"id:p:7", "domain:acme.com", "name:acme"}


async def test_writing_the_same_again_changes_nothing(store: Store) -> None:
    board, lease = await a_board(store), await a_lease(store)
    news = [seen(board.id, number, a_posting(number, text="same")) for number in (1, 2)]
    await project(store, lease, news)
    before = await store.companies(), await store.offers_of(1)
    again = await project(store, lease, news)
    assert not (again.offers or again.sightings or again.companies or again.merged or again.reposts)
    assert (await store.companies(), await store.offers_of(1)) == before


async def test_an_offer_is_closed_when_the_last_source_does_not_show_it(store: Store) -> None:
    one, two, lease = await a_board(store), await a_board(store, "other"), await a_lease(store)
    news = [seen(board.id, 1, a_posting(1)) for board in (one, two)]
    await project(store, lease, news)
    (offer,) = await store.offers_of(1)
    assert offer.sources == ("jobs", "other")
    await project(store, lease, [seen(one.id, 1, None, days(1))])
    (offer,) = await store.offers_of(1)
    assert (offer.is_open, offer.sources) == (True, ("other",))
    await project(store, lease, [seen(two.id, 1, None, days(2))])
    (offer,) = await store.offers_of(1)
    assert (offer.closed_at, offer.sources) == (days(2), ("jobs", "other"))
    await project(store, lease, [seen(two.id, 1, a_posting(1), days(3))])
    (offer,) = await store.offers_of(1)
    assert (offer.is_open, offer.first_seen_at, offer.last_seen_at) == (True, DAY, days(3))


async def test_open_offers_come_first_then_the_newest(store: Store) -> None:
    board, lease = await a_board(store), await a_lease(store)
    for number in (1, 2, 3):
        await project(store, lease, [seen(board.id, number, a_posting(number), days(number))])
    await project(store, lease, [seen(board.id, 3, None, days(4))])
    assert [offer.external_id for offer in await store.offers_of(1)] == ["2", "1", "3"]
    assert await store.offers_of(99) == []


async def test_companies_are_listed_by_what_is_asked_for(store: Store) -> None:
    one, two, lease = await a_board(store), await a_board(store, "other"), await a_lease(store)
    await project(
        store,
        lease,
        [
            seen(one.id, 1, a_posting(1, "Ácme S.L.", website="rocket.example")),
            seen(one.id, 2, a_posting(2, "Ácme S.L.")),
            seen(two.id, 3, a_posting(3, "Bolt")),
            seen(two.id, 4, a_posting(4, "Acme Two", company="9")),
            seen(two.id, 5, a_posting(5, None)),
        ],
    )
    await project(store, lease, [seen(two.id, 3, None, days(1))])

    async def names(**asked: object) -> list[str]:
        return [company.name for company in await store.companies(**asked)]  # type: ignore[arg-type]

    assert await names() == ["Ácme S.L.", "Bolt", "Acme Two"]
    assert await names(query="acme") == ["Ácme S.L.", "Acme Two"]
    assert await names(query="ACMÉ, sl") == ["Ácme S.L.", "Acme Two"]
    assert await names(query="rocket.ex") == ["Ácme S.L."]
    assert await names(query="name") == []
    assert await names(query="%") == []
    assert await names(min_open=1) == ["Ácme S.L.", "Acme Two"]
    assert await names(min_open=2) == ["Ácme S.L."]
    assert await names(source_ids=[two.id]) == ["Bolt", "Acme Two"]
    assert await names(source_ids=[]) == []
    assert await names(ids=[3, 1]) == ["Ácme S.L.", "Acme Two"]
    assert await names(ids=[]) == []
    assert await names(limit=1, after=1) == ["Bolt"]


async def test_merged_companies_keep_their_offers_and_what_people_said(store: Store) -> None:
    board, lease = await a_board(store), await a_lease(store)
    await project(store, lease, [seen(board.id, 1, a_posting(1, "Acme", company="7"))])
    await project(store, lease, [seen(board.id, 2, a_posting(2, "Rocket", website="acme.com"))])
    await project(store, lease, [seen(board.id, 3, a_posting(3, "Third", company="8"))])
    await store.set_resolution(1, " called ", DAY)
    await store.set_resolution(2, "not now", days(1))
    await project(store, lease, [seen(board.id, 4, a_posting(4, "Acme", company="7", website="acme.com"))])
    (company, third) = await store.companies()
    assert (company.id, company.offers, company.resolution) == (1, 3, "called | not now")
    assert await store.company(2) == company
    assert await store.companies(ids=[2]) == [company]
    assert len(await store.offers_of(2)) == 3
    await store.set_resolution(2, "hired", days(2))
    await project(store, lease, [seen(board.id, 5, a_posting(5, "Third", company="8", website="acme.com"))])
    (company,) = await store.companies()
    assert (company.id, company.resolution) == (1, "hired")
    assert await store.company(2) == await store.company(third.id) == company


async def test_reposts_are_found_again_when_companies_are_merged(store: Store) -> None:
    board, lease = await a_board(store), await a_lease(store)
    await project(store, lease, [seen(board.id, 1, a_posting(1, "Acme", text="same"))])
    await project(
        store, lease, [seen(board.id, 2, a_posting(2, "Rocket", company="7", text="same"), days(1))]
    )
    assert [company.reposts for company in await store.companies()] == [0, 0]
    await project(store, lease, [seen(board.id, 3, a_posting(3, "Acme", company="7"), days(2))])
    (company,) = await store.companies()
    assert (company.offers, company.reposts) == (3, 1)
    first = {offer.external_id: offer.repost_of for offer in await store.offers_of(company.id)}
    assert first == {"1": None, "2": 1, "3": None}


async def test_a_removed_source_leaves_orphans(store: Store) -> None:
    one, two, lease = await a_board(store), await a_board(store, "other"), await a_lease(store)
    await project(store, lease, [seen(one.id, 1, a_posting(1)), seen(two.id, 1, a_posting(1))])
    await project(
        store, lease, [seen(two.id, 2, a_posting(2, text="same")), seen(two.id, 3, a_posting(3, "Bolt"))]
    )
    await project(store, lease, [seen(one.id, 4, a_posting(4, text="same"), days(1))])
    await store.set_resolution(2, "called", DAY)
    await store.remove_source(two.id, now=DAY)
    assert (await store.projection(OFFER_KINDS)).orphaned
    while (known := await store.orphaned_offers(limit=2)).orphans:
        decision = decide(known, [])
        alike = await store.offers_alike(fingerprints=decision.alike, company_ids=())
        await store.save_offers(lease, link(decision, alike), cursor=None)
    assert not (await store.projection(OFFER_KINDS)).orphaned
    acme, bolt = await store.companies()
    assert (acme.offers, acme.open_offers, acme.reposts) == (2, 2, 0), "the first of the chain went"
    assert (bolt.offers, bolt.resolution) == (0, "called"), "kept for what people say"
    assert bolt.first_seen_at is None
    assert (await store.orphaned_offers(limit=2)).last_offer_id == 4, "ids are not given twice"


async def test_a_source_may_be_removed_while_its_offers_are_on_the_way(store: Store) -> None:
    board, lease = await a_board(store), await a_lease(store)
    await store.remove_source(board.id, now=DAY)
    await project(store, lease, [seen(board.id, 1, a_posting(1))])
    assert (await store.projection(OFFER_KINDS)).orphaned


async def test_a_company_that_lost_its_last_offer_is_forgotten(store: Store) -> None:
    board, lease = await a_board(store), await a_lease(store)
    await project(store, lease, [seen(board.id, 1, a_posting(1, "Acme"))])
    await project(store, lease, [seen(board.id, 1, a_posting(1, "Rocket"), days(1))])
    assert [(company.id, company.name) for company in await store.companies()] == [(2, "Rocket")]
    assert await store.company(1) is None


async def test_a_resolution_is_kept_until_people_take_it_back(store: Store) -> None:
    board, lease = await a_board(store), await a_lease(store)
    await project(store, lease, [seen(board.id, 1, a_posting(1))])
    await store.set_resolution(1, "called", DAY)
    rows = store.rows_written()
    await store.set_resolution(1, "called ", days(1))
    assert store.rows_written() == rows, "nothing new costs no write"
    await project(store, lease, [seen(board.id, 1, a_posting(1, "Acme Iberia", company="7"), days(1))])
    assert [company.resolution for company in await store.companies(query="acme")] == ["called", ""]
    await store.set_resolution(1, "", days(2))
    assert [company.resolution for company in await store.companies(ids=[1])] == [""]
    with pytest.raises(NotFound, match="company 99"):
        await store.set_resolution(99, "who?", DAY)


async def test_the_rate_is_that_of_the_last_good_look_at_a_board(store: Store) -> None:
    board, lease = await a_board(store), await a_lease(store)
    await project(store, lease, [seen(board.id, number, a_posting(number)) for number in range(1, 4)])
    assert [company.posting_rate for company in await store.companies()] == [1.0]
    await show(store, board, [a_document(1)], at=days(100))
    assert [company.posting_rate for company in await store.companies()] == [0.0]
