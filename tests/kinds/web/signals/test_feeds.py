"""A feed in place of a sitemap: its dates are claims like `lastmod`, and what leaves it stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowen.core.freshness.claims import Signal, Standing
from tests.support.site import Site
from tests.support.world import World, a_page, a_world

pytestmark = pytest.mark.anyio

OLD, DAY_S = "2023-03-02T10:00:00Z", 86_400.0
PAGES = [f"/p{number}" for number in range(40)]


def a_feed(site: Site, paths: list[str], dates: dict[str, str]) -> None:
    entries = "".join(
        f'<entry><link href="{site.url}{path}"/><updated>{dates.get(path, OLD)}</updated></entry>'
        for path in paths
    )
    site.set("/feed", f"<feed>{entries}</feed>", content_type="application/atom+xml")


async def a_run(world: World) -> int:
    """A day later; how many pages were asked for."""
    world.clock.advance(DAY_S)
    assert (await world.sync()).good
    return len([one for one in world.site.requests if one.path in PAGES])


async def test_the_dates_of_a_feed_save_requests_once_proven_and_lose_that_by_a_lie(tmp_path: Path) -> None:
    with Site({"/": a_page("/", "home", links=PAGES)}) as site:
        site.set(
            "/robots.txt", f"User-agent: *\nAllow: /\nSitemap: {site.url}/feed\n", content_type="text/plain"
        )
        for path in PAGES:
            site.set(path, a_page(path, "barley"))
        a_feed(site, PAGES, {})
        async with a_world(tmp_path, site) as world:
            await world.add()
            asked = [await a_run(world) for _ in range(6)]
            assert asked[0] == len(PAGES)
            assert asked[-1] < len(PAGES), "dates that hold save the request"
            source = await world.source()
            assert (await world.store.claims(source.id))[Signal.LASTMOD].standing is Standing.TRUSTED
            site.set("/p3", a_page("/p3", "spelt"))
            a_feed(site, PAGES, {"/p3": "2024-01-05T00:00:00Z"})
            await a_run(world)
            assert await world.found("spelt") == ["/p3"], "a new date is asked for"
            for path in PAGES:
                site.set(path, a_page(path, "silent"))
            await a_run(world)
            assert (await world.store.claims(source.id))[Signal.LASTMOD].standing is Standing.DISTRUSTED
            assert len(await world.found("silent")) == len(PAGES), (
                "the run that met the lie asked for everything"
            )


async def test_a_page_that_leaves_the_feed_and_has_no_link_stays_until_it_is_gone(tmp_path: Path) -> None:
    with Site({"/": a_page("/", "home", links=[])}) as site:
        site.set(
            "/robots.txt", f"User-agent: *\nAllow: /\nSitemap: {site.url}/feed\n", content_type="text/plain"
        )
        for path in PAGES[:3]:
            site.set(path, a_page(path, "barley"))
        a_feed(site, PAGES[:2], {})
        async with a_world(tmp_path, site) as world:
            await world.add()
            await a_run(world)
            a_feed(site, PAGES[1:3], {})
            await a_run(world)
            assert await world.pages() == {"/", *PAGES[:3]}
            site.remove("/p0")
            await a_run(world)
            assert await world.pages() == {"/", *PAGES[1:3]}
