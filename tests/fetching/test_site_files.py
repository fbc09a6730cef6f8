"""robots.txt and sitemaps as servers really send them: failing, endless, missing, or asking for too much."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from rowen.core.run import RunStatus, StopReason
from rowen.managing import sources
from tests.kinds.web.test_validators import Renamed
from tests.support.fakes import A_DAY_S
from tests.support.site import Page, Site, html
from tests.support.world import a_page, a_world

pytestmark = pytest.mark.anyio

CLOSED = "User-agent: *\nDisallow: /closed\n"


def a_site(robots: str | bytes = "", **options: object) -> Site:
    pages: dict[str, str | bytes | Page] = {
        "/": html("Home", "root", links=["/a", "/closed"]),
        "/a": a_page("/a", "a"),
        "/closed": a_page("/closed", "c"),
    }
    site = Site(pages)
    site.set("/robots.txt", robots, content_type="text/plain", **options)
    return site


@pytest.mark.parametrize("status", [500, 501, 507, 530])
async def test_any_server_error_for_robots_txt_means_not_now(tmp_path: Path, status: int) -> None:
    with a_site("oops", status=status) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            first = await world.sync()
            assert (first.status, first.stop_reason) == (RunStatus.FAILED, StopReason.HOST_UNAVAILABLE)
            assert first.hint is not None
            assert "a site whose robots.txt fails is not asked" in first.hint
            assert {asked.path for asked in site.requests} == {"/robots.txt"}
            site.set("/robots.txt", CLOSED, content_type="text/plain")
            await world.sync()
            site.set("/robots.txt", "oops", status=status)
            later = await world.sync()
            assert later.status is RunStatus.COMPLETED
            assert later.hint == "robots.txt of `127.0.0.1` could not be read: its rules count as they were"
            assert not site.asked_for("/closed"), "it counts as it was"


@pytest.mark.parametrize("packed", [False, True])
async def test_of_an_endless_robots_txt_the_first_part_counts(tmp_path: Path, packed: bool) -> None:
    body = CLOSED + "# filler\n" * 1_300_000 + "Disallow: /a\n"
    with a_site(body, gzip=packed) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            receipt = await world.sync()
            assert (receipt.status, await world.pages()) == (RunStatus.COMPLETED, {"/", "/a"})
            assert not site.asked_for("/closed")


async def test_a_crawl_delay_of_years_gets_the_longest_that_the_setting_allows(tmp_path: Path) -> None:
    with a_site("User-agent: *\nCrawl-delay: 1000000000\n") as site:
        async with a_world(tmp_path, site) as world:
            added = await sources.add(
                world.ports, site.url, name="docs", settings={"max_crawl_delay_s": "7"}, kind="web"
            )
            said = "robots.txt of `127.0.0.1` asks for 1,000,000,000 s between requests; Rowen waits 7 s"
            assert any(said in finding for finding in added.findings)
            receipt = await world.sync()
            assert receipt.status is RunStatus.COMPLETED
            assert set(world.clock.waits) == {7.0}
            assert receipt.hint is not None
            assert said in receipt.hint
            assert "max_crawl_delay_s" in receipt.hint


async def test_a_304_for_robots_txt_with_another_etag_is_remembered(tmp_path: Path) -> None:
    with a_site(CLOSED) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            site.pages["/robots.txt"] = Renamed(CLOSED, "text/plain", etag='"renamed"')
            await world.sync()
            await world.sync()
            assert site.asked_for("/robots.txt")[0].headers["If-None-Match"] == '"renamed"'


FILES = ["/robots.txt", "/sitemap.xml"]


def without_files() -> Site:
    return Site({"/": html("Home", "root", links=["/a"]), "/a": a_page("/a", "a")})


async def test_a_refresh_does_not_ask_for_a_robots_txt_and_a_sitemap_that_are_known_to_be_missing(
    tmp_path: Path,
) -> None:
    with without_files() as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            assert [asked.path for asked in site.requests][:2] == FILES
            for _ in range(2):
                written = world.store.rows_written()
                receipt = await world.sync()
                assert [asked.path for asked in site.requests] == ["/", "/a"]
                assert receipt.counters.requests == 2
                written = world.store.rows_written() - written
            await world.sync(full=True)
            assert [asked.path for asked in site.requests][:2] == FILES, "a full sync asks again"
            world.clock.advance(A_DAY_S)
            before = world.store.rows_written()
            await world.sync()
            assert [asked.path for asked in site.requests] == [*FILES, "/", "/a"]
            assert world.store.rows_written() - before == written + 2


async def test_a_robots_txt_that_appears_is_obeyed_within_a_day(tmp_path: Path) -> None:
    with without_files() as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            site.set("/robots.txt", "User-agent: *\nDisallow: /a\n", content_type="text/plain")
            world.clock.advance(A_DAY_S)
            await world.sync()
            assert (site.asked_for("/a"), await world.pages()) == ([], {"/"})


async def test_a_file_that_was_missing_at_a_time_in_the_future_is_asked_for(tmp_path: Path) -> None:
    with without_files() as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            now = world.clock.now()
            world.clock.jump(now + timedelta(hours=1))
            await world.sync()
            world.clock.jump(now)
            await world.sync()
            assert [asked.path for asked in site.requests][:2] == FILES


async def test_a_file_that_vanishes_is_asked_for_once_more_before_its_absence_is_believed(
    tmp_path: Path,
) -> None:
    with a_site(CLOSED) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            there = site.pages.pop("/robots.txt")
            await world.sync()
            site.pages["/robots.txt"] = there
            await world.sync()
            assert await world.pages() == {"/", "/a"}
            del site.pages["/robots.txt"]
            await world.sync()
            assert await world.pages() == {"/", "/a", "/closed"}
            await world.sync()
            assert len(site.asked_for("/robots.txt")) == 1
            await world.sync()
            assert not site.asked_for("/robots.txt")
