"""Sites that behave badly for a while: what must not be lost, and what must come back."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowen.core.document import Outcome
from rowen.core.run import RunStatus
from tests.kinds.crawl.test_crawl_rules import Pages, a_sitemap, linked, with_canonical
from tests.support.fakes import A_DAY_S
from tests.support.site import Page, Site, html
from tests.support.world import a_page, a_world

pytestmark = pytest.mark.anyio

MANY = [f"/{n}" for n in range(30)]


def a_star(names: list[str]) -> Pages:
    return linked({"/": names, **{name: [] for name in names}})


async def test_a_canonical_link_that_redirects_back_loses_nothing(tmp_path: Path) -> None:
    pages: Pages = {"/": a_page("/", "root", links=["/a", "/b"])}
    for name in ("/a", "/b"):
        pages[name] = with_canonical(a_page(name, "text"), f"{name}.html")
        pages[f"{name}.html"] = Page(redirect=name, status=301)
    with Site(pages) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            for _ in range(3):
                receipt = await world.sync()
                assert await world.pages() == {"/", "/a", "/b"}
                assert receipt.counters.deleted == 0


async def test_a_canonical_link_to_nothing_is_not_believed(tmp_path: Path) -> None:
    pages: Pages = {"/": a_page("/", "root", links=["/a"])}
    pages["/a"] = with_canonical(a_page("/a", "text"), "/a/")
    with Site(pages) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            for _ in range(2):
                await world.sync()
                assert await world.pages() == {"/", "/a"}


async def test_two_pages_that_name_each_other_canonical_do_not_wait_for_ever(tmp_path: Path) -> None:
    pages: Pages = {
        "/": a_page("/", "root", links=["/a", "/a/"]),
        "/a": with_canonical(a_page("/a", "one"), "/a/"),
        "/a/": with_canonical(a_page("/a/", "two"), "/a"),
    }
    with Site(pages) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            assert {"/a", "/a/"} & await world.pages()


async def test_another_name_is_forgotten_when_the_site_changes_its_mind(tmp_path: Path) -> None:
    pages: Pages = {"/": a_page("/", "root", links=["/a.html"])}
    pages["/a.html"] = with_canonical(a_page("/a", "text"), "/a")
    pages["/a"] = with_canonical(a_page("/a", "text"), "/a")
    with Site(pages) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            assert await world.pages() == {"/", "/a"}
            site.set("/a.html", a_page("/a", "text"))
            site.set("/a", redirect="/a.html", status=301)
            for _ in range(2):
                await world.sync()
                assert await world.pages() == {"/", "/a.html"}


async def test_a_canonical_link_on_the_root_changes_nothing(tmp_path: Path) -> None:
    root = with_canonical(a_page("/", "root", links=["/a", "/index.html"]), "/index.html")
    pages: Pages = {"/": root, "/index.html": root, "/a": a_page("/a", "a")}
    with Site(pages) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            for _ in range(3):
                receipt = await world.sync()
                assert receipt.status is RunStatus.COMPLETED
                assert await world.pages() == {"/", "/a"}
                assert len(site.asked_for("/")) == 1


async def test_a_site_that_sends_everybody_to_its_own_login_page_is_held(tmp_path: Path) -> None:
    with Site(a_star(MANY)) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            good = dict(site.pages)
            site.set("/login", html("Log in", "Who are you?"))
            for path in ("/", *MANY):
                site.set(path, redirect="/login", status=302)
            receipt = await world.sync()
            assert receipt.status is RunStatus.HELD
            assert len(await world.pages()) == 31
            site.pages.update(good)
            assert (await world.sync()).status is RunStatus.COMPLETED


async def test_pages_that_redirect_to_one_that_fails_are_kept(tmp_path: Path) -> None:
    with Site(a_star(MANY)) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            site.set("/maintenance", "soon", status=503)
            for path in MANY:
                site.set(path, redirect="/maintenance", status=302)
            receipt = await world.sync()
            assert receipt.counters.deleted == 0
            assert len(await world.pages()) == 31


async def test_redirects_in_a_circle_are_failures(tmp_path: Path) -> None:
    with Site(a_star(MANY)) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            for one, other in zip(MANY[::2], MANY[1::2], strict=True):
                site.set(one, redirect=other, status=302)
                site.set(other, redirect=one, status=302)
            receipt = await world.sync()
            assert (receipt.counters.deleted, receipt.counters.failed) == (0, 30)
            assert len(await world.pages()) == 31


async def test_a_redirect_to_a_page_that_is_gone_is_gone(tmp_path: Path) -> None:
    with Site(a_star(["/a", "/b", "/c"])) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            site.set("/a", redirect="/nowhere", status=302)
            await world.sync()
            assert await world.pages() == {"/", "/b", "/c"}


@pytest.mark.parametrize("status", [401, 403, 429, 500])
async def test_a_sitemap_that_is_refused_orphans_nothing_and_says_so(tmp_path: Path, status: int) -> None:
    with Site(linked({"/": [], "/island": []})) as site:
        site.pages["/sitemap.xml"] = a_sitemap(f"{site.url}/island")
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            site.set("/sitemap.xml", "no", status=status)
            receipt = await world.sync()
            assert await world.pages() == {"/", "/island"}
            assert receipt.status is RunStatus.PARTIAL
            items = await world.store.run_items(receipt.run_id)
            assert [item.reference for item in items] == [f"{site.url}/sitemap.xml"]


async def test_listings_that_redirect_are_followed(tmp_path: Path) -> None:
    with Site(linked({"/": ["/closed"], "/closed": [], "/island": []})) as site:
        site.set("/robots.txt", redirect="/r/robots.txt", status=301)
        site.set("/r/robots.txt", "User-agent: *\nDisallow: /closed\n", content_type="text/plain")
        site.set("/sitemap.xml", redirect="/maps/all.xml", status=301)
        site.pages["/maps/all.xml"] = a_sitemap(f"{site.url}/island")
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            assert await world.pages() == {"/", "/island"}


async def test_a_page_that_changed_and_lost_its_last_link_in_one_release_is_gone_at_once(
    tmp_path: Path,
) -> None:
    with Site(a_star(["/a", "/b", "/c"])) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            site.set("/a", a_page("/a", "changed"))
            site.set("/", a_page("/", "root", links=["/b", "/c"]))
            receipt = await world.sync()
            assert await world.pages() == {"/", "/b", "/c"}
            assert await world.found("changed") == []
            counters = receipt.counters
            assert (counters.updated, counters.deleted, counters.unchanged) == (1, 1, 2)
            source = await world.source()
            active = next(g for g in await world.store.generations(source.id) if g.active)
            assert active.documents == 3


async def test_an_orphan_is_counted_once(tmp_path: Path) -> None:
    with Site(a_star(["/a", "/b"])) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            site.set("/", a_page("/", "root", links=["/b"]))
            counters = (await world.sync()).counters
            assert (counters.updated, counters.unchanged, counters.deleted) == (1, 1, 1)


async def test_pages_that_robots_txt_closes_are_not_asked_for_any_more_and_go(tmp_path: Path) -> None:
    with Site(a_star(["/a", "/b", "/c", "/d"])) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            site.set("/robots.txt", "User-agent: *\nDisallow: /a\n", content_type="text/plain")
            world.clock.advance(A_DAY_S)
            receipt = await world.sync()
            assert not site.asked_for("/a")
            assert await world.pages() == {"/", "/b", "/c", "/d"}
            items = await world.store.run_items(receipt.run_id)
            assert ("robots", Outcome.DELETED) in [(item.reason, item.outcome) for item in items]


async def test_an_empty_answer_does_not_replace_a_page(tmp_path: Path) -> None:
    with Site(a_star(["/a", "/b"])) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            site.set("/a", "")
            receipt = await world.sync()
            assert (receipt.counters.failed, receipt.counters.updated) == (1, 0)
            assert await world.pages() == {"/", "/a", "/b"}


async def test_a_full_sync_measures_depths_anew(tmp_path: Path) -> None:
    pages: dict[str, list[str]] = {"/": ["/a", "/b"], "/a": ["/c"], "/b": [], "/c": ["/b"]}
    with Site(linked(pages)) as site:
        async with a_world(tmp_path, site) as world:
            await world.add(max_depth=2)
            await world.sync()
            site.set("/", a_page("/", "root", links=["/a"]))
            await world.sync()
            assert "/b" in await world.pages(), "a known page keeps its stored depth"
            await world.sync(full=True)
            assert await world.pages() == {"/", "/a", "/c"}


async def test_dead_links_are_counted(tmp_path: Path) -> None:
    with Site(linked({"/": ["/dead", "/a"], "/a": []})) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            assert (await world.sync()).counters.ignored["not_found"] == 1
