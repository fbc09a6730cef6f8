"""robots.txt as servers really send it: failing, endless, or asking for more time than there is."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowen.core.run import RunStatus, StopReason
from rowen.managing import sources
from tests.kinds.web.test_validators import Renamed
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
            assert {asked.path for asked in site.requests} == {"/robots.txt"}
            site.set("/robots.txt", CLOSED, content_type="text/plain")
            await world.sync()
            site.set("/robots.txt", "oops", status=status)
            assert (await world.sync()).status is RunStatus.COMPLETED
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
