"""Offers and companies follow what readers see: in step, once, and whatever happens in between."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from rowen.core.document import Draft
from rowen.core.source import Source
from rowen.engine.ports import Ports
from rowen.errors import NotFound
from rowen.managing import find as finding
from rowen.managing import sources
from rowen.offers import companies
from rowen.offers.companies import LEASE, project
from rowen.ports.store.store import Store
from rowen.reading.history import rollback
from tests.contract.helpers import a_generation, a_source
from tests.support.job_board import DAY, a_board, an_offer, days, show
from tests.support.site import Site, html
from tests.support.world import World, a_world

pytestmark = pytest.mark.anyio


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    with Site({"/": html("Home", "barley")}) as site:
        async with a_world(tmp_path, site) as made:
            yield made


async def told(store: Store) -> list[tuple[str, list[str]]]:
    """Everything about companies and offers but the numbers they were given."""
    found = []
    for company in await store.companies():
        offers = await store.offers_of(company.id)
        keys = {offer.id: offer.key for offer in offers}
        lines = [
            f"{replace(offer, id=0, company_id=0, repost_of=None)} repost of {keys.get(offer.repost_of or 0)}"
            for offer in offers
        ]
        found.append((str(replace(company, id=0)), sorted(lines)))
    return sorted(found)


async def only(store: Store) -> tuple[int, int, int]:
    """Open offers, offers ever and reposts of the one company there is."""
    (company,) = await store.companies()
    return company.open_offers, company.offers, company.reposts


async def test_offers_become_companies(world: World) -> None:
    board = await a_board(world.store)
    drafts = [
        an_offer(1, "Acme S.L.", company_id="7", posted_at=days(-40)),
        an_offer(2, "ACME", website="https://www.acme.com", place="Sevilla", posted_at=days(-100)),
        an_offer(3, "Bolt", place="Sevilla"),
        an_offer(4, None),
    ]
    await show(world.store, board, drafts)
    assert await project(world.ports) == 4
    acme, bolt = await world.store.companies()
    assert (acme.name, acme.website, acme.open_offers) == ("Acme S.L.", "https://www.acme.com/", 2)
    assert acme.posting_rate == 0.33, "one of them is older than 90 days"
    assert acme.places == ("Madrid", "Sevilla")
    assert (bolt.name, bolt.offers, bolt.first_seen_at, bolt.last_seen_at) == ("Bolt", 1, DAY, DAY)


async def test_documents_that_are_no_offers_are_passed_over(world: World) -> None:
    board, docs = await a_board(world.store, kind="rest"), await a_source(world.store)
    await a_generation(world.store, docs, {"https://docs.example/a": "text"})
    plain = replace(an_offer(1), metadata={"offer": "half price"})
    await show(world.store, board, [plain, an_offer(2)])
    assert await project(world.ports) == 2
    assert await only(world.store) == (1, 1, 0)
    await show(world.store, board, [replace(an_offer(2), metadata={})], at=days(1))
    await project(world.ports)
    assert await only(world.store) == (0, 1, 0), "an offer no more"


async def test_a_store_without_job_sources_costs_one_read(world: World) -> None:
    docs = await a_source(world.store)
    await a_generation(world.store, docs, {"https://docs.example/a": "text"})
    rows, store = world.store.rows_written(), Counting(world.store)
    assert await project(replace(world.ports, store=store)) == 0
    assert world.store.rows_written() == rows
    assert store.calls == ["projection"]


async def test_nothing_new_costs_no_write(world: World) -> None:
    board = await a_board(world.store)
    await show(world.store, board, [an_offer(1)])
    await project(world.ports)
    rows = world.store.rows_written()
    assert await project(world.ports) == 0
    assert world.store.rows_written() == rows


async def test_an_offer_that_vanished_is_closed_and_opens_again_when_it_is_back(world: World) -> None:
    board = await a_board(world.store)
    await show(world.store, board, [an_offer(1), an_offer(2)])
    await project(world.ports)
    await show(world.store, board, gone=[an_offer(1)], at=days(1))
    await project(world.ports)
    assert await only(world.store) == (1, 2, 0)
    assert {offer.closed_at for offer in await world.store.offers_of(1)} == {None, days(1)}
    await show(world.store, board, [an_offer(1)], at=days(2))
    await project(world.ports)
    assert await only(world.store) == (2, 2, 0)


async def test_a_rollback_closes_what_readers_do_not_see_any_more(world: World) -> None:
    board = await a_board(world.store)
    await show(world.store, board, [an_offer(1)])
    await show(world.store, board, [an_offer(2)], at=days(1))
    await project(world.ports)
    await rollback(world.ports, await finding.find(world.ports.store, "jobs"))
    await project(world.ports)
    assert await only(world.store) == (1, 2, 0)


async def test_an_offer_posted_again_is_a_repost_of_the_first(world: World) -> None:
    board, other = await a_board(world.store), await a_board(world.store, "other", "lever")
    await show(world.store, board, [an_offer(1, text="Ref 1: cook for us")])
    await show(world.store, board, [an_offer(2, text="Ref 22: Cook, for us")], at=days(1))
    await project(world.ports)
    assert await only(world.store) == (2, 2, 1)
    await show(world.store, board, gone=[an_offer(1), an_offer(2)], at=days(2))
    await show(world.store, other, [an_offer(3, text="Ref: cook for us", provider="lever")], at=days(3))
    await show(world.store, board, [an_offer(4, text="Ref: cook for us", place="Sevilla")], at=days(4))
    await project(world.ports)
    assert await only(world.store) == (2, 4, 2)
    offers = {offer.external_id: offer for offer in await world.store.offers_of(1)}
    assert [offers[number].repost_of for number in "1234"] == [None, offers["1"].id, offers["1"].id, None]
    (company,) = await world.store.companies()
    assert company.posting_rate == 0.67, "reposts are not new"


async def test_an_offer_in_two_sources_is_one_offer(world: World) -> None:
    one, two = await a_board(world.store), await a_board(world.store, "other")
    for board in (one, two):
        await show(world.store, board, [an_offer(1)])
    await project(world.ports)
    assert await only(world.store) == (1, 1, 0)
    (offer,) = await world.store.offers_of(1)
    assert offer.sources == ("jobs", "other")
    await show(world.store, one, gone=[an_offer(1)], at=days(1))
    await project(world.ports)
    assert await only(world.store) == (1, 1, 0)


async def test_the_board_is_not_the_website_of_its_companies(world: World) -> None:
    board = await a_board(world.store)
    at_the_board = [
        an_offer(1, "Acme", website="https://www.jobs.example/acme"),
        an_offer(2, "Bolt", website="https://jobs.example/bolt"),
        an_offer(3, "Cog", website="https://infojobs.example/cog"),
        an_offer(4, "Dynamo", website="https://infojobs.example/dynamo"),
    ]
    await show(world.store, board, at_the_board)
    await project(world.ports)
    assert [company.website for company in await world.store.companies()] == [None] * 4


async def test_a_removed_source_takes_its_offers_with_it(world: World) -> None:
    one, two = await a_board(world.store), await a_board(world.store, "other")
    await show(world.store, one, [an_offer(1), an_offer(2, "Bolt")])
    await show(world.store, two, [an_offer(1), an_offer(3, "Cog"), an_offer(4, "Dynamo")])
    await project(world.ports)
    await world.store.set_resolution(4, "called", DAY)
    await sources.remove(world.ports, two)
    # The number of a removed source is given to the next one.
    again = await a_board(world.store, "again")
    await show(world.store, again, [an_offer(5, "Bolt")], at=days(1))
    await project(world.ports, limit=1)
    found = [(company.name, company.offers, company.resolution) for company in await world.store.companies()]
    assert found == [("Acme S.L.", 1, ""), ("Bolt", 2, ""), ("Dynamo", 0, "called")]
    await sources.remove(world.ports, one)
    await sources.remove(world.ports, again)
    await project(world.ports)
    assert [company.name for company in await world.store.companies()] == ["Dynamo"]
    new = await a_board(world.store, "new")
    await show(world.store, new, [an_offer(9, "dynamo")], at=days(2))
    await project(world.ports)
    (company,) = await world.store.companies()
    assert (company.id, company.offers, company.resolution) == (4, 1, "called")


async def test_two_at_once_do_the_work_once(world: World) -> None:
    board = await a_board(world.store)
    await show(world.store, board, [an_offer(number) for number in range(20)])
    done = await asyncio.gather(*(project(world.ports, limit=3) for _ in range(4)))
    assert sum(done) == 20
    assert await only(world.store) == (20, 20, 0)


async def test_whoever_is_slower_than_its_lease_leaves_it_to_the_other(world: World) -> None:
    board = await a_board(world.store)
    await show(world.store, board, [an_offer(1), an_offer(2)])
    store = Interfering(world.store, world.clock.now())
    assert await project(replace(world.ports, store=store)) == 0
    assert await world.store.companies() == []
    world.clock.advance(100)
    assert await project(world.ports) == 2


@pytest.mark.parametrize("seed", range(4))
async def test_following_along_and_reading_once_tell_the_same(tmp_path: Path, seed: int) -> None:
    followed = await a_history(tmp_path / "followed", seed, follow=True)
    at_once = await a_history(tmp_path / "at_once", seed, follow=False)
    assert followed == at_once
    assert len(followed) == 5


@pytest.mark.parametrize("limit", [pytest.param(2, marks=pytest.mark.torture), 500])
@pytest.mark.torture
async def test_being_killed_anywhere_loses_and_doubles_nothing(tmp_path: Path, limit: int) -> None:
    whole = await a_history(tmp_path / "whole", 1, follow=False)
    for call in range(0, 40, 3):
        assert (
            await a_history(tmp_path / f"killed{call}", 1, follow=False, dies_at=call, limit=limit) == whole
        )


async def test_a_company_is_found_by_id_name_or_a_part_of_it(world: World) -> None:
    board = await a_board(world.store)
    offers = [
        an_offer(1, "Acme S.L.", company_id="7", website="acme.com"),
        an_offer(2, "Acme", company_id="8", website="acme.es"),
        an_offer(3, "Rocket Ibérica"),
        an_offer(4, "24"),
    ]
    await show(world.store, board, offers)
    await project(world.ports)
    for asked, number in (("2", 2), ("rocket iberica, SL", 3), ("iberica", 3), ("24", 4), ("acme.es", 2)):
        assert (await companies.find(world.ports.store, asked)).id == number
    with pytest.raises(NotFound, match="fits 2 companies"):
        await companies.find(world.ports.store, "ACME")
    with pytest.raises(NotFound, match="no such company"):
        await companies.find(world.ports.store, "99")


async def test_companies_with_the_most_open_offers_are_listed_first(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(companies, "PAGE", 2)
    board = await a_board(world.store)
    names = ["Acme", "Bolt", "Cog", "Cog", "Bolt", "Cog", "Dynamo"]
    await show(world.store, board, [an_offer(number, name) for number, name in enumerate(names)])
    await project(world.ports)
    found = await companies.listed(world.ports.store, limit=3)
    assert [(company.name, company.open_offers) for company in found] == [
        ("Cog", 3),
        ("Bolt", 2),
        ("Acme", 1),
    ]
    assert len(await companies.listed(world.ports.store, min_open=2, limit=3)) == 2


class Counting:
    """A store that says what it was asked."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        self.calls.append(name)
        return getattr(self._store, name)


class Interfering(Counting):
    """Another process takes the lease over just before something is written."""

    def __init__(self, store: Store, now: datetime) -> None:
        super().__init__(store)
        self._now = now

    async def save_offers(self, *arguments: Any, **options: Any) -> None:
        held = await self._store.lease(LEASE)
        assert held is not None
        await self._store.release_lease(held)
        assert await self._store.acquire_lease(LEASE, "another", now=self._now, ttl_s=60)
        await self._store.save_offers(*arguments, **options)


class Killed(BaseException):
    pass


class Dying(Counting):
    """A process that ends at some call to the store, and does nothing after that."""

    def __init__(self, store: Store, at: int) -> None:
        super().__init__(store)
        self._at = at

    def __getattr__(self, name: str) -> Any:
        method = super().__getattr__(name)

        async def call(*arguments: Any, **options: Any) -> Any:
            if len(self.calls) > self._at:
                raise Killed
            return await method(*arguments, **options)

        return call


async def a_history(
    folder: Path, seed: int, *, follow: bool, dies_at: int | None = None, limit: int = 500
) -> list[tuple[str, list[str]]]:
    """Offers of five companies come, change, go and come back on two boards; then what is told of them."""
    folder.mkdir()
    chance = random.Random(seed)
    with Site({}) as site:
        async with a_world(folder, site) as world:
            boards = [await a_board(world.store, name) for name in ("one", "two")]
            for step in range(6):
                for board in boards:
                    await a_step(world.store, board, chance, step, last=step == 5)
                    if follow:
                        await project(world.ports, limit=3)
            if dies_at is not None:
                ports = replace(world.ports, store=Dying(world.store, dies_at), owner="dying")
                await dies(ports, limit)
                world.clock.advance(100)
            await project(world.ports, limit=limit)
            return await told(world.store)


async def dies(ports: Ports, limit: int) -> None:
    try:
        await project(ports, limit=limit)
    except Killed:
        return


async def a_step(store: Store, board: Source, chance: random.Random, step: int, *, last: bool) -> None:
    every = {number: some_offer(number, chance) for number in range(15)}
    visible = {draft.reference for draft in every.values()} & set(await store.known(board.id))
    shown = [draft for draft in every.values() if last or chance.random() < 0.4]
    gone = [
        draft
        for draft in every.values()
        if draft.reference in visible and draft not in shown and chance.random() < 0.2
    ]
    await show(store, board, shown, gone=[] if last else gone, at=days(step * 20))


def some_offer(number: int, chance: random.Random) -> Draft:
    """Who offers it stays the same; the rest changes."""
    company = number % 5
    return an_offer(
        number,
        f"Company {'abcde'[company]}",
        company_id=str(company) if number % 3 == 0 else None,
        website=f"www.company-{company}.example" if number % 2 else None,
        title=chance.choice(["Cook", "Waiter"]),
        text=chance.choice(["at night", "by day"]),
    )
