"""A site with a budget: runs ask for some pages, and say nothing of the others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from rowen.core.rules.duration import text_of
from rowen.core.search.hit import SearchMode
from rowen.core.search.shown import EVERY_SEARCHES
from rowen.core.source import AUTO, SWEEP
from rowen.doors import asking
from rowen.doors.cli import receipt as cli
from rowen.doors.cli import run_line
from rowen.doors.states import statuses
from rowen.doors.web import told
from rowen.engine.learning.turns import turn_of
from tests.support.site import Site, html
from tests.support.world import World, a_page, a_world

pytestmark = pytest.mark.anyio

DAY_S = 86_400
PAGES = 40


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    pages = {f"/p{number}.html": a_page(f"/p{number}.html", "rye") for number in range(PAGES - 1)}
    pages["/"] = html("Home", "Welcome.", links=list(pages))
    with Site(pages) as site:
        async with a_world(tmp_path, site) as made:
            yield made


def asked(world: World) -> list[str]:
    """The pages: not robots.txt and sitemaps, nor the address that no site has."""
    others = ("/robots.txt", "/sitemap.xml")
    paths = [one.path for one in world.site.requests]
    return [path for path in paths if path not in others and "is-no-page" not in path]


async def verified(world: World) -> dict[str, datetime]:
    found = await world.store.documents((await world.source()).id)
    return {one.reference.removeprefix(world.site.url): one.verified_at for one in found if one.verified_at}


async def days(world: World, number: int, *, change: str = "") -> None:
    for day in range(number):
        world.clock.advance(DAY_S)
        if change:
            world.site.set(change, a_page(change, f"rye of day {world.clock.now().date()} {day}"))
        await world.sync()


async def test_a_run_asks_for_as_many_pages_as_its_budget_has_and_says_so(world: World) -> None:
    await world.add(budget="10/day")
    await world.sync()
    world.clock.advance(DAY_S)
    receipt = await world.sync()
    pages = asked(world)
    assert 10 <= len(pages) <= 11, "ten, and the root"
    assert "/" in pages
    words = f"asked {len(pages)} of 40 pages"
    assert receipt.result.words == words
    assert (receipt.status, receipt.counters.not_due) == ("completed", 40 - len(pages))
    assert any(words in said for _, said in cli.tiers(receipt.counters))
    assert words in cli.headline(receipt).plain
    assert not run_line.has_news(receipt)
    assert words in run_line.line(receipt, world.clock.now()).plain
    run = await world.store.run(receipt.run_id)
    assert run is not None
    assert words.capitalize() in told.outcome(run, await world.source())
    (status,) = await statuses(world.ports)
    assert status.standing.says.startswith(words)


async def test_nothing_is_declared_fresh_that_was_not_asked_for(world: World) -> None:
    await world.add(budget="10/day")
    await world.sync()
    first = world.clock.now()
    world.clock.advance(DAY_S)
    began = world.clock.now()
    await world.sync()
    pages, found = set(asked(world)), await verified(world)
    assert {name for name, at in found.items() if at >= began} == pages
    assert all(found[name] <= first for name in found.keys() - pages)


async def test_nothing_goes_that_was_not_asked_for(world: World) -> None:
    await world.add(budget="4/day")
    await world.sync()
    world.site.set("/", html("Home", "Welcome.", links=["/p1.html"]))
    world.clock.advance(DAY_S)
    receipt = await world.sync()
    assert receipt.counters.deleted == 0, "what no page links to any more was not asked for"
    assert len(await world.pages()) == PAGES
    gone = next(path for path in sorted(await world.pages()) if path not in asked(world))
    world.site.remove(gone)
    while gone in await world.pages():
        world.clock.advance(DAY_S)
        await world.sync()
        assert (gone in asked(world)) == (gone not in await world.pages())


async def test_two_sweeps_ask_for_every_page_in_turn(world: World) -> None:
    await world.add(budget="10/day")
    await world.sync()
    seen: list[set[str]] = []
    for _ in range(9):
        world.clock.advance(DAY_S)
        await world.sync()
        seen.append(set(asked(world)) - {"/"})
    assert len(set().union(*seen[:4])) >= PAGES - 1 - 2, "in four days all of them, but for rounding"
    assert len(set().union(*seen[:5])) == PAGES - 1
    assert (await world.source()).metadata[SWEEP]["done"] >= 1


async def test_later_a_page_that_changes_is_asked_for_more_often_than_the_others(world: World) -> None:
    await world.add(budget="10/day")
    await world.sync()
    await days(world, 14, change="/p7.html")
    counts = dict.fromkeys(sorted(await world.pages()), 0)
    for _ in range(12):
        world.clock.advance(DAY_S)
        world.site.set("/p7.html", a_page("/p7.html", f"rye at {world.clock.now().isoformat()}"))
        await world.sync()
        for path in asked(world):
            counts[path] += 1
    others = [number for path, number in counts.items() if path not in ("/", "/p7.html")]
    assert counts["/p7.html"] > 2 * sum(others) / len(others)
    assert min(others) >= 1, "every page within three uniform intervals"


async def test_new_pages_are_found_by_their_links_however_far(world: World) -> None:
    await world.add(budget="4/day")
    await world.sync()
    world.site.set("/", html("Home", "Welcome back.", links=["/p1.html", "/new.html"]))
    world.site.set("/new.html", a_page("/new.html", "rye", links=["/newer.html"]))
    world.site.set("/newer.html", a_page("/newer.html", "rye"))
    world.clock.advance(DAY_S)
    receipt = await world.sync()
    assert receipt.counters.created == 2
    assert {"/new.html", "/newer.html"} <= await world.pages()


async def test_an_unchanged_run_with_a_budget_writes_a_constant_number_of_rows(world: World) -> None:
    await world.add(budget="10/day")
    await world.sync()
    written = []
    for _ in range(6):
        world.clock.advance(DAY_S)
        before = world.store.rows_written()
        await world.sync()
        written.append(world.store.rows_written() - before)
    assert max(written) <= 12
    assert max(written[1:]) - min(written[1:]) <= 2


async def test_a_full_sync_and_a_budget_for_everything_ask_for_everything(world: World) -> None:
    await world.add(budget="10/day")
    await world.sync()
    world.clock.advance(DAY_S)
    receipt = await world.sync(full=True)
    assert len(asked(world)) == PAGES
    assert receipt.result.words is None
    await world.add("large", budget="1000/day")
    await world.sync("large")
    world.clock.advance(DAY_S)
    receipt = await world.sync("large")
    assert (receipt.counters.not_due, receipt.counters.unchanged) == (0, PAGES)


async def test_a_wanted_freshness_leaves_quiet_pages_for_later(world: World) -> None:
    await world.add(freshness="90%")
    await world.sync()
    await days(world, 10, change="/p7.html")
    world.clock.advance(3600)
    receipt = await world.sync()
    assert receipt.counters.not_due > 0
    assert receipt.result.asked_some


async def test_a_plan_of_a_source_with_a_budget_asks_for_the_same_pages(world: World) -> None:
    await world.add(budget="10/day")
    await world.sync()
    world.clock.advance(DAY_S)
    source = await world.source()
    first = await turn_of(world.store, source, source.params, now=world.clock.now())
    again = await turn_of(world.store, source, source.params, now=world.clock.now())
    assert first is not None
    assert first == again
    assert (len(first.asked), first.of) == (10, PAGES)


async def test_after_an_edit_or_a_rollback_everything_is_asked_for(world: World) -> None:
    await world.add(budget="10/day")
    await world.sync()
    world.clock.advance(DAY_S)
    world.site.set("/", html("Home", "Welcome back.", links=[f"/p{n}.html" for n in range(PAGES - 1)]))
    await world.sync()
    world.clock.advance(3600)
    source, now = await world.source(), world.clock.now()
    assert source.active_generation == 2
    assert await turn_of(world.store, source, source.params, now=now) is not None
    edited = replace(source, metadata={"edited": "read"})
    assert await turn_of(world.store, edited, source.params, now=now) is None
    await world.store.activate(source.id, 1, now=now)
    assert await turn_of(world.store, await world.source(), source.params, now=now) is None


async def test_the_interval_of_a_source_is_chosen_by_how_fast_it_changes(world: World) -> None:
    source = await world.add()
    await world.store.set_schedule(source.id, AUTO)
    await world.sync()
    assert (await world.source()).own_every_s is None, "nothing was learnt yet"
    await days(world, 5)
    quiet = (await world.source()).own_every_s
    assert quiet is not None
    assert 900 <= quiet <= 30 * DAY_S
    (status,) = await statuses(world.ports)
    assert status.next_run is not None
    assert status.next_run.why == f"every {text_of(quiet)}, chosen by how fast it changes"
    for word in ("barley", "spelt"):
        for number in range(0, PAGES - 1, 2):
            world.site.set(f"/p{number}.html", a_page(f"/p{number}.html", word))
        await days(world, 2)
    busy = (await world.source()).own_every_s
    assert busy is not None
    assert busy < quiet


async def test_a_page_that_readers_see_often_is_asked_for_more_often(world: World) -> None:
    await world.add(budget="6/day")
    await world.sync()
    await days(world, 16)
    source = await world.source()
    ids = {
        one.reference.removeprefix(world.site.url): one.id for one in await world.store.documents(source.id)
    }
    await world.store.add_shown({ids["/p5.html"]: 3000, ids["/p6.html"]: 1}, now=world.clock.now())
    counts = dict.fromkeys(ids, 0)
    for _ in range(10):
        world.clock.advance(DAY_S)
        await world.sync()
        for path in asked(world):
            counts[path] += 1
    assert counts["/p5.html"] > counts["/p6.html"]
    assert counts["/p5.html"] >= 5


async def test_searches_are_counted_in_batches(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    written, add_shown = asyncio.Event(), world.store.add_shown

    async def add_and_tell(counts: Mapping[int, int], *, now: datetime) -> None:
        await add_shown(counts, now=now)
        written.set()

    monkeypatch.setattr(world.store, "add_shown", add_and_tell)
    source = await world.add()
    await world.sync()
    before = world.store.rows_written()
    for _ in range(EVERY_SEARCHES - 1):
        await asking.search(world.ports, "rye", mode=SearchMode.KEYWORD, limit=2)
    assert world.store.rows_written() == before
    assert await world.store.shown(source.id) == {}
    await asking.search(world.ports, "rye", mode=SearchMode.KEYWORD, limit=2)
    async with asyncio.timeout(120):
        await written.wait()
    shown = await world.store.shown(source.id)
    assert sum(shown.values()) == 2 * EVERY_SEARCHES
