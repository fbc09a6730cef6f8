"""Sites that answer 200 with something else than the page: what readers saw stays until a person agrees."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rowen.core.document import Outcome
from rowen.core.rules.pattern import patterns_of
from rowen.core.run import RunStatus
from rowen.kinds.crawl.judging import missing
from rowen.reading import history
from tests.support.site import Page, Site, html
from tests.support.world import World, a_page, a_site_of, a_world

pytestmark = pytest.mark.anyio

SOON = html("Sorry", "We will be back soon")


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    with a_site_of(30) as site:
        site.set("/sitemap.xml", a_sitemap(site, list(site.pages)), content_type="application/xml")
        async with a_world(tmp_path, site) as made:
            await made.add()
            await made.sync()
            yield made


def a_sitemap(site: Site, paths: list[str]) -> str:
    return "<urlset>" + "".join(f"<url><loc>{site.url}{path}</loc></url>" for path in paths) + "</urlset>"


async def test_a_maintenance_page_at_every_address_is_held_and_can_be_approved(world: World) -> None:
    for path in list(world.site.pages)[:25]:
        world.site.set(path, SOON, etag=False)

    receipt = await world.sync()

    assert (receipt.status, receipt.generation) == (RunStatus.HELD, 1)
    held = (await world.source()).held_reason
    assert held == "25 of 30 documents would show the same text: `Sorry We will be back soon`"
    assert await world.found("soon") == []
    assert (await world.sync()).status is RunStatus.HELD, "and each time until it is over"
    await history.approve(world.ports, await world.source())
    assert len(await world.pages()) == 30
    assert await world.found("soon")
    after = await world.sync()
    assert (after.status, after.counters.updated) == (RunStatus.COMPLETED, 0), "approved once is approved"


async def test_a_maintenance_page_that_hides_all_links_is_held_even_on_a_small_site(tmp_path: Path) -> None:
    with a_site_of(8) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            for path in list(site.pages):
                site.set(path, SOON)
            assert (await world.sync()).status is RunStatus.HELD
            said = (await world.source()).held_reason
            assert said == (
                "it would remove 7 of 8 documents, and what is left says `Sorry We will be back soon`"
            )


async def test_a_redesign_that_changes_every_text_is_shown(world: World) -> None:
    for path in list(world.site.pages)[1:]:
        world.site.set(path, a_page(path, "harvest, told anew and in other words"))
    assert (await world.sync()).counters.updated == 29
    assert await world.found("anew")


async def test_the_guard_on_texts_can_be_switched_off(tmp_path: Path) -> None:
    with a_site_of(30) as site:
        async with a_world(tmp_path, site) as world:
            await world.add(max_deleted_share=1)
            await world.sync()
            for path in list(site.pages)[1:]:
                site.set(path, SOON)
            assert (await world.sync()).status is RunStatus.COMPLETED


async def test_pages_that_say_what_the_site_says_at_an_impossible_address_are_missing(world: World) -> None:
    for path in ("/p1.html", "/p2.html"):
        del world.site.pages[path]
    world.site.unknown = lambda path: html("Oh no", f"There is no {path} here at 12:0{len(path)}.")
    world.site.set("/p3.html", a_page("/p3.html", "rye", links=["/nowhere.html"]))

    receipt = await world.sync()

    assert (receipt.counters.deleted, receipt.counters.created, receipt.counters.updated) == (2, 0, 1)
    assert receipt.counters.ignored["soft_404"] == 1
    items = await world.store.run_items(receipt.run_id)
    assert {one.reason for one in items if one.outcome is Outcome.DELETED} == {"soft_404"}
    assert await world.found("there") == []
    assert len([one for one in world.site.requests if "is-no-page" in one.path]) == 1, "asked for once a run"
    unchanged = await world.sync()
    assert [one for one in world.site.requests if "is-no-page" in one.path] == []
    assert unchanged.counters.changed == 0


async def test_where_unknown_addresses_answer_404_no_page_is_searched_for_what_they_say(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched: list[str] = []

    def patterns(text: str, address: str) -> tuple[str, ...]:
        searched.append(address)
        return patterns_of(text, address)

    monkeypatch.setattr(missing, "patterns_of", patterns)
    for number in range(1, 6):
        world.site.set(f"/p{number}.html", a_page(f"/p{number}.html", f"rye {number}"))

    assert (await world.sync()).counters.updated == 5
    assert searched == []
    world.site.unknown = lambda path: html("Oh no", f"There is no {path} here")
    world.site.set("/p6.html", a_page("/p6.html", "oats"))
    await world.sync()
    assert len(searched) == 2, "the answer and the page, once each"


async def test_most_pages_becoming_soft_404s_is_held(world: World) -> None:
    for path in list(world.site.pages)[1:30]:
        del world.site.pages[path]
    world.site.unknown = lambda path: html("Oh no", "There is nothing here.")
    assert (await world.sync()).status is RunStatus.HELD
    assert (await world.source()).held_reason == "it would remove 29 of 30 documents, more than 30%"


@pytest.mark.parametrize("closed", [True, False], ids=["forbidden", "allowed"])
async def test_the_impossible_address_is_asked_for_only_where_robots_txt_allows_it(
    tmp_path: Path, closed: bool
) -> None:
    with Site({"/": html("Home", "Hello", links=["/a.html"]), "/a.html": a_page("/a.html", "oats")}) as site:
        if closed:
            site.set("/robots.txt", "User-agent: *\nDisallow: /rowen-\n", content_type="text/plain")
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            assert len([one for one in site.requests if "is-no-page" in one.path]) == (not closed)


async def test_a_site_with_one_text_for_every_address_has_one_document(tmp_path: Path) -> None:
    pages = {"/": html("App", "One moment", links=["/a", "/b", "/c"])}
    with Site(pages) as site:
        site.unknown = lambda path: pages["/"]
        async with a_world(tmp_path, site) as world:
            await world.add()
            receipt = await world.sync()
            assert await world.pages() == {"/"}
            assert receipt.counters.ignored["soft_404"] == 3


async def test_unknown_addresses_that_lead_home_make_no_documents(tmp_path: Path) -> None:
    pages = {"/": html("Home", "Hello", links=["/a.html", "/b.html"]), "/a.html": a_page("/a.html", "oats")}
    with Site(pages) as site:
        site.unknown = lambda path: Page(redirect="/")
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            assert await world.pages() == {"/", "/a.html"}


async def test_an_unknown_address_that_says_something_else_each_time_proves_nothing(tmp_path: Path) -> None:
    words = iter(["apple", "pear", "plum", "quince", "sloe", "medlar", "fig"])
    pages = {"/": html("Home", "Hello", links=["/a.html", "/b.html"]), "/a.html": a_page("/a.html", "oats")}
    with Site(pages) as site:
        site.unknown = lambda path: html("Nothing", f"Have some {next(words)} instead")
        async with a_world(tmp_path, site) as world:
            await world.add()
            assert (await world.sync()).status is RunStatus.COMPLETED
            assert await world.pages() == {"/", "/a.html", "/b.html"}


async def test_a_new_page_with_an_empty_body_is_no_document(tmp_path: Path) -> None:
    pages = {"/": html("Home", "Hello", links=["/a.html", "/b.html"]), "/a.html": "", "/b.html": "<p> </p>"}
    with Site(pages) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            receipt = await world.sync()
            assert (await world.pages(), receipt.counters.ignored["empty"]) == ({"/"}, 2)
            assert (receipt.status, receipt.counters.failed) == (RunStatus.COMPLETED, 0)


async def test_a_page_that_becomes_empty_counts_for_the_guard(world: World) -> None:
    for path in list(world.site.pages)[1:30]:
        world.site.set(path, "<html><body></body></html>")
    assert (await world.sync()).status is RunStatus.HELD
    for path in list(world.site.pages)[2:30]:
        world.site.set(path, a_page(path, "harvest"))
    receipt = await world.sync()
    assert (receipt.status, receipt.counters.deleted) == (RunStatus.COMPLETED, 1)
