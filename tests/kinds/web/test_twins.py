"""Several addresses of one page: one document, the others are names of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from rowen.core.run import RunStatus
from rowen.engine.run import sync
from rowen.kinds.crawl.judging.twins import order, plainer
from rowen.managing import find as finding
from rowen.managing import sources
from rowen.reading import read
from tests.support.hostnames import to
from tests.support.site import Page, Site, html
from tests.support.world import World, a_page, a_world

pytestmark = pytest.mark.anyio

HOME = "https://x.example"
GRAIN = a_page("/g", "barley and oats")
SPELLINGS = ["/g/", "/g/index.html", "/g?print=1", "/print/g", "/g?sid=8f3a", "/g"]


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    pages = dict.fromkeys(SPELLINGS, GRAIN)
    pages["/"] = html("Home", "Welcome", links=[*SPELLINGS, "/list?page=1", "/list?page=2"])
    pages["/list?page=1"] = a_page("/list1", "first of two")
    pages["/list?page=2"] = a_page("/list2", "second of two")
    with Site(pages) as site:
        async with a_world(tmp_path, site) as made:
            await made.add()
            yield made


async def test_spellings_of_a_page_are_one_document_in_every_run(world: World) -> None:
    receipt = await world.sync()
    documents = {"/", "/g", "/list?page=1", "/list?page=2"}
    assert (await world.pages(), receipt.counters.ignored["twin"]) == (documents, 5)
    for full in (False, True):
        again = await world.sync(full=full)
        assert (again.counters.changed, await world.pages()) == (0, documents)
    assert await world.found("barley") == ["/g"]


async def test_a_harvest_that_was_interrupted_finds_the_names_of_the_pages_it_had_stored(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Crash(BaseException):
        """Stands for the end of the process."""

    async def die(*given: object, **named: object) -> None:
        raise Crash

    names = [spelling for spelling in SPELLINGS if spelling != "/g"]
    for name in names:
        world.site.remove(name)
    with monkeypatch.context() as dying, pytest.raises(Crash):
        dying.setattr(type(world.store), "finish_run", die)
        await world.sync()
    for name in names:
        world.site.set(name, GRAIN)
    receipt = await world.sync()
    assert receipt.counters.not_modified, "what the first run stored is not downloaded again"
    assert await world.pages() == {"/", "/g", "/list?page=1", "/list?page=2"}
    assert receipt.counters.ignored["twin"] == len(names)


async def test_an_unchanged_refresh_asks_for_each_name_once_and_conditionally(world: World) -> None:
    await world.sync()
    rows = world.store.rows_written()
    receipt = await world.sync()
    asked = [one for one in world.site.requests if one.path not in ("/robots.txt", "/sitemap.xml")]
    assert len(asked) == len({one.path for one in asked}) == 4 + 5
    assert all(one.conditional and one.status == 304 for one in asked)
    assert receipt.counters.bytes_received == 0
    assert world.store.rows_written() - rows <= 9


async def test_a_twin_that_starts_to_differ_becomes_a_document(world: World) -> None:
    await world.sync()
    world.site.set("/g?print=1", a_page("/g", "another text for the printer"))
    receipt = await world.sync()
    assert receipt.counters.created == 1
    assert "/g?print=1" in await world.pages()
    world.site.set("/g?print=1", GRAIN)
    assert (await world.sync()).counters.deleted == 1
    assert "/g?print=1" not in await world.pages()


async def test_a_change_of_the_page_and_all_its_twins_is_one_update(world: World) -> None:
    await world.sync()
    for path in SPELLINGS:
        world.site.set(path, a_page("/g", "rye"))
    receipt = await world.sync()
    assert (receipt.counters.updated, receipt.counters.created, receipt.counters.deleted) == (1, 0, 0)
    assert await world.found("rye") == ["/g"]


async def test_the_names_of_a_document_are_listed(world: World) -> None:
    await world.sync()
    source = await finding.find(world.store, "docs")
    known = (await world.store.known(source.id))[f"{world.site.url}/g"]
    names = await world.store.aliases(known.document_id)
    assert names == sorted(world.site.url + path for path in SPELLINGS if path != "/g")
    document = await read.by_url(world.store, world.site.url + "/print/g")
    assert document.url == world.site.url + "/g", "links to other names lead to it"


def test_the_plainest_address_comes_first() -> None:
    found = list(plainer("https://x.example/g/index.html?print=1&sid=2", HOME))
    assert found[0] == "https://x.example/g"
    assert found.index("https://x.example/g/") < found.index("https://x.example/g/index.html")
    least = order("https://x.example/g/index.html?print=1&sid=2", HOME)
    assert all(order(one, HOME) < least for one in found)
    assert list(plainer("https://x.example/", HOME)) == []
    assert next(plainer("https://www.x.example/a", HOME)) == "https://x.example/a"


async def test_a_site_under_two_names_of_its_domain_is_one_in_every_run(tmp_path: Path) -> None:
    paths = [f"/p{number}.html" for number in range(6)]
    pages = {path: a_page(path, f"grain of {path}") for path in paths}
    everywhere = [f"http://www.farm.test{path}" for path in ("/", *paths[:3], "/other.html")]
    with (
        Site({"/": html("Farm", "Welcome", links=[*paths, *everywhere]), **pages}) as bare,
        Site({"/": html("Farm", "Welcome", links=[*paths, *everywhere]), **pages}) as www,
    ):
        www.set("/other.html", a_page("/other.html", "only there"))
        www.set("/p2.html", a_page("/p2.html", "another edition"))
        async with a_world(tmp_path, bare) as world:
            hosts = to({"farm.test": bare, "www.farm.test": www})
            world.ports = replace(world.ports, open_fetcher=hosts)
            added = await sources.add(
                world.ports, "http://farm.test/", name="farm", settings={"scope": "domain"}
            )
            expected = {f"http://farm.test{path}" for path in ("/", *paths)}
            expected |= {"http://www.farm.test/other.html", "http://www.farm.test/p2.html"}
            for full in (False, False, True):
                await sync(world.ports, added.source, full=full)
                assert set(await world.store.known(added.source.id)) == expected
            known = await world.store.known(added.source.id)
            names = await world.store.aliases(known["http://farm.test/p1.html"].document_id)
            assert names == ["http://www.farm.test/p1.html"]
            www.set("/p1.html", a_page("/p1.html", "a text of its own"))
            assert (await sync(world.ports, added.source)).counters.created == 1


async def test_a_session_parameter_is_learnt_and_not_asked_for_again(tmp_path: Path) -> None:
    paths = [f"/p{number}" for number in range(8)]
    sessions = iter(range(1000))

    def answer(path: str) -> str:
        session = next(sessions)
        links = [*paths, *(f"{one}?sid={session}" for one in paths)]
        if path == "/":
            return html("Home", "Welcome", links=links)
        return a_page(path.partition("?")[0], "oats", links=links)

    with Site() as site:
        site.unknown = lambda path: Page(answer(path)) if path[:2] in ("/", "/p") else Page(status=404)
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            documents = {"/", *paths}
            assert await world.pages() == documents
            assert len(site.requests) < 40, "each of nine pages links to eight new addresses"
            await world.sync()
            for _ in range(2):
                receipt = await world.sync()
                assert (await world.pages(), receipt.counters.changed) == (documents, 0)
                asked = [one.path for one in site.requests if "sid=" in one.path]
                assert len(asked) <= 3, "a few, to see that it still changes nothing"


async def test_a_maintenance_page_does_not_make_twins_of_pages_that_differed(tmp_path: Path) -> None:
    paths = [f"/p{number}{end}" for number in range(12) for end in ("", "/", "?print=1", "/index.html")]
    with Site({path: a_page(path, "oats", path.replace("/", "_")) for path in paths}) as site:
        site.set("/", html("Home", "Welcome", links=paths))
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            assert len(await world.pages()) == 49
            for path in site.pages:
                site.set(path, html("Sorry", "We will be back soon"))
            assert (await world.sync()).status is RunStatus.HELD
            assert len(await world.pages()) == 49


async def test_links_with_another_session_in_every_answer_give_the_same_documents_in_every_run(
    tmp_path: Path,
) -> None:
    sessions = iter(range(10_000))

    def answer(path: str) -> str:
        session, page = next(sessions), path.partition("?")[0]
        found = range(3) if page == "/" else [(2 * int(page[2:]) + n) % 12 for n in (1, 2)]
        return a_page(page, "oats", links=[f"/p{number}?sid={session}" for number in found])

    with Site() as site:
        site.unknown = lambda path: Page(answer(path)) if path[:2] in ("/", "/p") else Page(status=404)
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            documents = await world.pages()
            assert len(documents) == 13
            for _ in range(3):
                receipt = await world.sync()
                assert (receipt.counters.changed, await world.pages()) == (0, documents)
            assert len(site.requests) < 80, "requests do not grow from run to run"
