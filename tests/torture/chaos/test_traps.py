"""Sites that are built like traps: endless, lying, moved, or larger than any bound.

Every crawl ends, readers keep what the site really has, and two runs over the same site give the same pages.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from rowen.core.run import RunStatus
from rowen.engine.receipt import Receipt
from rowen.engine.run import sync
from rowen.managing import sources
from tests.support.hostnames import to
from tests.support.site import Page, Site, html
from tests.support.world import World, a_page, a_world
from tests.torture.tally import Tally

pytestmark = pytest.mark.anyio

HONEST = [f"/p{number}.html" for number in range(1, 24)]
MAX_PAGES = 40


class Endless(Site):
    """A site some of whose pages are made when they are asked for."""

    made: Callable[[str], Page | None]

    async def _answer(self, request):  # type: ignore[no-untyped-def]
        page = self.made(request.raw_path)
        if page is not None:
            self.pages[request.raw_path] = page
        return await super()._answer(request)


@asynccontextmanager
async def a_trap(
    folder: Path,
    made: Callable[[str], Page | None] = lambda path: None,
    *,
    entry: tuple[str, ...] = (),
    **settings: object,
) -> AsyncIterator[World]:
    """The honest pages, and beside them `entry`, where the trap begins."""
    pages = {path: a_page(path, "honest", *(f"{path} thing {n}" for n in range(5))) for path in HONEST}
    with Endless({"/": html("Home", "All begins here.", links=[*entry, *HONEST]), **pages}) as site:
        site.made = made
        async with a_world(folder, site) as world:
            await world.add(**settings)
            yield world


async def kept(world: World, tally: Tally, *, when: str) -> None:
    tally.keeps(["/", *HONEST], await world.pages(), when=when)
    tally.verify()


async def twice(world: World, tally: Tally, *, when: str) -> tuple[Receipt, Receipt]:
    """Two runs over the same site: the second one finds nothing to do."""
    tally.add("faults", when)
    first = await world.sync()
    pages = await world.pages()
    second = await world.sync()
    assert await world.pages() == pages
    assert (second.counters.created, second.counters.updated, second.counters.deleted) == (0, 0, 0)
    await kept(world, tally, when=when)
    return first, second


async def test_an_endless_calendar_ends_and_hides_no_page(tmp_path: Path, tally: Tally) -> None:
    def month(path: str) -> Page | None:
        if not path.startswith("/calendar?month="):
            return None
        number = int(path.rpartition("=")[2])
        return Page(
            html(f"Month {number}", f"Nothing in month {number}.", links=[f"/calendar?month={number + 1}"])
        )

    async with a_trap(tmp_path, month, entry=("/calendar?month=1",), max_pages=MAX_PAGES) as world:
        receipt, _ = await twice(world, tally, when="an endless calendar")
        assert receipt.counters.requests <= 2 * MAX_PAGES


async def test_sessions_in_addresses_end_and_hide_no_page(tmp_path: Path, tally: Tally) -> None:
    def session(path: str) -> Page | None:
        base, found, number = path.partition("?sid=")
        if not found or base not in HONEST:
            return None
        text = f"About {base.strip('/')}: honest."
        links = [f"{one}?sid={number}0" for one in HONEST[:3]]
        return Page(html(f"Page {base}", text, links=links))

    entry = tuple(f"{one}?sid={number}" for number, one in enumerate(HONEST))
    async with a_trap(tmp_path, session, entry=entry, max_pages=3 * len(HONEST)) as world:
        await twice(world, tally, when="session ids in addresses")


async def test_an_etag_that_lies_hides_an_edit_only_as_long_as_it_lies(tmp_path: Path, tally: Tally) -> None:
    async with a_trap(tmp_path) as world:
        world.site.set("/p1.html", a_page("/p1.html", "first"), etag='"lie"')
        assert (await world.sync()).good
        world.site.set("/p1.html", a_page("/p1.html", "second"), etag='"lie"')
        tally.add("faults", "an ETag that lies")
        assert (await world.sync()).status is RunStatus.COMPLETED
        await kept(world, tally, when="while an ETag lies")
        world.site.set("/p1.html", a_page("/p1.html", "second"))
        assert (await world.sync()).counters.updated == 1
        assert await world.found("second") == ["/p1.html"]


@pytest.mark.parametrize("body", ["<urlset><url><loc>", "", "\0\0\0", "<a>" * 100_000], ids=range(4))
async def test_a_broken_sitemap_takes_nothing_away(tmp_path: Path, tally: Tally, body: str) -> None:
    async with a_trap(tmp_path) as world:
        good = "".join(f"<url><loc>{world.site.url}{path}</loc></url>" for path in HONEST)
        world.site.set("/sitemap.xml", f"<urlset>{good}</urlset>", content_type="application/xml")
        assert (await world.sync()).good
        world.site.set("/", html("Home", "Nothing is linked any more."))
        world.site.set("/sitemap.xml", body, content_type="application/xml")
        tally.add("faults", "a broken sitemap")
        await world.sync()
        await kept(world, tally, when="after a broken sitemap")


@pytest.mark.parametrize("status", [500, 501, 503, 507, 530])
async def test_robots_txt_that_fails_means_not_now(tmp_path: Path, tally: Tally, status: int) -> None:
    async with a_trap(tmp_path) as world:
        assert (await world.sync()).good
        world.site.set("/robots.txt", "", status=status)
        tally.add("faults", "robots.txt that fails")
        # That there is no robots.txt is believed for a day.
        world.clock.advance(86_460)
        receipt = await world.sync()
        tally.honest(not receipt.good, when=f"{receipt.status} with robots.txt answering {status}")
        await kept(world, tally, when=f"after {status} for robots.txt")


@pytest.mark.parametrize(
    ("name", "body", "content_type"),
    [
        (
            "a wrong charset",
            "<h1>Caf\xe9</h1><p>cr\xe8me na\xefve</p>".encode("latin-1"),
            "text/html; charset=utf-8",
        ),
        (
            "NUL bytes",
            b"<h1>Caf\xc3\xa9\0</h1><p>cr\xc3\xa8me\0 na\xc3\xafve</p>",
            "text/html; charset=utf-8",
        ),
        (
            "an unknown charset",
            b"<h1>Caf\xc3\xa9</h1><p>cr\xc3\xa8me na\xc3\xafve</p>",
            "text/html; charset=klingon",
        ),
    ],
)
async def test_words_of_a_page_survive_wrong_bytes(
    tmp_path: Path, tally: Tally, name: str, body: bytes, content_type: str
) -> None:
    async with a_trap(tmp_path) as world:
        world.site.set("/p1.html", body, content_type=content_type)
        tally.add("faults", name)
        await world.sync()
        await kept(world, tally, when=f"with {name}")
        assert await world.found("crème") == ["/p1.html"]
        assert await world.found("naïve") == ["/p1.html"]


@pytest.mark.sliced
async def test_a_chain_of_redirects_without_end_is_given_up(tmp_path: Path, tally: Tally) -> None:
    def onward(path: str) -> Page | None:
        return Page(redirect=f"/z{int(path[2:]) + 1}") if path[:2] == "/z" else None

    async with a_trap(tmp_path, onward, entry=("/z0",), max_pages=MAX_PAGES) as world:
        tally.add("faults", "a chain of redirects without end")
        receipt = await world.sync()
        assert receipt.counters.requests <= 2 * MAX_PAGES
        tally.honest(receipt.status is RunStatus.PARTIAL, when=f"{receipt.status} after an endless chain")
        await kept(world, tally, when="beside an endless chain of redirects")


@pytest.mark.sliced
async def test_a_site_that_closes_or_moves_is_kept_and_said(tmp_path: Path, tally: Tally) -> None:
    async with a_trap(tmp_path) as world:
        assert (await world.sync()).good
        honest = dict(world.site.pages)
        world.site.set("/robots.txt", "User-agent: *\nDisallow: /\n", content_type="text/plain")
        tally.add("faults", "a site that closes itself by robots.txt")
        # That there is no robots.txt is believed for a day.
        world.clock.advance(86_460)
        receipt = await world.sync()
        tally.honest(not receipt.good, when=f"{receipt.status} for a closed site: {receipt.error}")
        assert "robots.txt" in str(receipt.error)
        await kept(world, tally, when="after robots.txt closed the site")
        world.site.holds_only(honest)
        for path in ("/", *HONEST):
            world.site.set(path, redirect=f"http://moved.example{path}", status=301)
        tally.add("faults", "a site that moved")
        receipt = await world.sync()
        tally.honest(not receipt.good, when=f"{receipt.status} for a site that moved: {receipt.error}")
        assert "moved.example" in f"{receipt.error} {receipt.hint}"
        await kept(world, tally, when="after the site moved")
        world.site.holds_only(honest)
        assert (await world.sync()).status is RunStatus.COMPLETED
        await kept(world, tally, when="back again")


@pytest.mark.sliced
async def test_a_sitemap_larger_than_the_bound_of_pages_gives_the_same_pages_each_time(
    tmp_path: Path, tally: Tally
) -> None:
    def listed(path: str) -> Page | None:
        return Page(html(path, f"Listed page {path}, {path} and {path}.")) if path.startswith("/s") else None

    async with a_trap(
        tmp_path, lambda path: listed(path) if path != "/sitemap.xml" else None, max_pages=MAX_PAGES
    ) as world:
        many = "".join(f"<url><loc>{world.site.url}/s{number}</loc></url>" for number in range(120))
        world.site.set("/sitemap.xml", f"<urlset>{many}</urlset>", content_type="application/xml")
        tally.add("faults", "a sitemap larger than the bound of pages")
        first = await world.sync()
        pages = await world.pages()
        assert len(pages) <= MAX_PAGES
        for _ in range(2):
            receipt = await world.sync()
            assert (receipt.counters.created, receipt.counters.deleted) == (0, 0)
            assert await world.pages() == pages
        tally.honest(first.stop_reason == "max_pages", when=f"{first.stop_reason} for a large sitemap")
        tally.verify()


async def test_a_page_with_three_hundred_thousand_links_is_a_page(tmp_path: Path, tally: Tally) -> None:
    async with a_trap(tmp_path, max_pages=MAX_PAGES) as world:
        links = "".join(f'<a href="/x{number}">x</a>' for number in range(300_000))
        world.site.set(
            "/p1.html", f"<html><body><main><h1>Many</h1><p>So many links.</p>{links}</main></body></html>"
        )
        tally.add("faults", "a page with 300,000 links")
        await world.sync()
        await kept(world, tally, when="with 300,000 links")
        assert "/p1.html" in await world.found("many")


async def test_a_sitemap_of_fifty_thousand_and_one_addresses_is_read_and_said(
    tmp_path: Path, tally: Tally
) -> None:
    async with a_trap(tmp_path, max_pages=MAX_PAGES) as world:
        many = "".join(f"<url><loc>{world.site.url}/{number}</loc></url>" for number in range(50_001))
        world.site.set("/sitemap.xml", f"<urlset>{many}</urlset>", content_type="application/xml")
        tally.add("faults", "a sitemap of 50,001 addresses")
        receipt = await world.sync()
        assert receipt.counters.ignored or receipt.hint, "what was left out is said"


async def test_spellings_of_one_page_are_one_hit_each_time(tmp_path: Path, tally: Tally) -> None:
    spellings = ("/g", "/g/", "/g/index.html", "/g?print=1", "/g?utm_source=mail")
    async with a_trap(tmp_path, entry=spellings) as world:
        for path in spellings:
            world.site.set(path, a_page("/g", "gooseberry and its twins"))
        await twice(world, tally, when="several spellings of one page")
        found = await world.found("gooseberry")
        assert len(found) == 1
        await world.sync(full=True)
        assert await world.found("gooseberry") == found


async def test_a_site_under_two_hosts_is_one_site_each_time(tmp_path: Path, tally: Tally) -> None:
    with Site({"/": html("Home", "All begins here.", links=[*HONEST, "http://www.farm.test/"])}) as site:
        for path in HONEST:
            links = [f"http://{host}{HONEST[0]}" for host in ("farm.test", "www.farm.test")]
            site.set(path, a_page(path, f"honest {path}", links=links))
        async with a_world(tmp_path, site) as world:
            hosts = {"farm.test": site, "www.farm.test": site}
            world.ports = replace(world.ports, open_fetcher=to(hosts))
            settings = {"scope": "domain", "max_pages": str(MAX_PAGES)}
            added = await sources.add(world.ports, "http://farm.test/", name="farm", settings=settings)
            tally.add("faults", "a site under two hosts")
            for full in (False, False, True):
                receipt = await sync(world.ports, added.source, full=full)
                known = {one.removeprefix("http://farm.test") for one in await world.store.known(1)}
                tally.keeps(["/", *HONEST], known, when="a site under two hosts")
                assert len(known) == len(HONEST) + 1
                tally.honest(receipt.stop_reason == "exhausted", when=f"{receipt.stop_reason}: two hosts")
    tally.verify()
