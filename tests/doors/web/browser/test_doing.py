"""What people do with the page, in a real browser."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, Route, expect

from rowen.core.safety.access import Scope
from tests.doors.web.browser.conftest import a_tab
from tests.doors.web.browser.scene import HOSTILE, PageClock, page
from tests.doors.web.conftest import Person, browsing
from tests.support.site import Site
from tests.support.world import a_world

pytestmark = pytest.mark.anyio

PATHS = [f"/docs/{number}.html" for number in range(24)]


@pytest.fixture
async def small(chromium: Browser, tmp_path: Path) -> AsyncIterator[Person]:
    """A store of its own, for a test that changes it: a site of 25 pages, added and not harvested."""
    pages = {path: page(f"Page {path[6:-5]}", f"<p>About barley, number {path}.</p>") for path in PATHS}
    pages["/docs/"] = page("Docs", "<p>All about grain.</p>", tuple(PATHS))
    fresh = tuple(f"/fresh/{number}.html" for number in range(9))
    pages |= {path: page(f"Page {path}", f"<p>About {path}.</p>") for path in fresh}
    pages["/fresh/"] = page("Fresh", "<p>Not known yet.</p>", fresh)
    pages["/bad/"] = page(HOSTILE.replace("<", "&lt;"), f"<p>{HOSTILE.replace('<', '&lt;')} weevil</p>")
    with Site(pages) as site:
        async with a_world(tmp_path, site, clock=PageClock()) as world:
            await world.add("docs", "/docs/")
            async with browsing(world, allow_private=True) as person:
                yield person


async def test_a_source_is_added_and_its_first_run_is_watched(chromium: Browser, small: Person) -> None:
    gate = threading.Event()
    small.world.site.set("/fresh/4.html", page("Slow", "<p>It takes its time.</p>"), delay=gate)
    async with a_tab(chromium, small) as tab:
        await tab.go("/add")
        await tab.page.get_by_label("Address").fill(f"{small.world.site.url}/fresh/")
        await tab.page.get_by_role("button", name="Look at it").click()
        await expect(tab.page.get_by_role("heading", name="What is there")).to_be_visible()
        await tab.page.get_by_label("Name").fill("second")
        await tab.page.get_by_role("button", name="Add and sync now").click()
        await expect(tab.page.locator("h1")).to_contain_text("Run")
        await expect(tab.page.locator("#live")).to_contain_text("Live")
        await expect(tab.page.locator("#badge")).to_contain_text("Running")
        gate.set()
        await expect(tab.page.locator("#badge")).to_contain_text("Completed")
        await expect(tab.page.locator("#sentence")).to_contain_text("10 new.")
        await expect(tab.page.locator("#bar")).to_contain_text("10 done")
        assert await tab.refused() == []


async def test_a_run_is_cancelled(chromium: Browser, small: Person) -> None:
    gate = threading.Event()
    small.world.site.set(PATHS[5], page("Slow", "<p>It takes its time.</p>"), delay=gate)
    try:
        async with a_tab(chromium, small) as tab:
            await tab.go("/sources/docs")
            await tab.page.get_by_role("button", name="Sync now").click()
            await expect(tab.page.locator("#badge")).to_contain_text("Running")
            await tab.page.get_by_role("button", name="Cancel").click()
            await expect(tab.page.locator("#badge")).to_contain_text("Cancelled")
            assert "Readers see what they saw before" in await tab.text("#sentence")
    finally:
        gate.set()


async def test_a_lost_stream_is_said_and_the_whole_state_comes_back_with_it(
    chromium: Browser, small: Person
) -> None:
    async with a_tab(chromium, small) as tab:
        await tab.page.route("**/events", lambda route: route.abort())
        await tab.go("/")
        await expect(tab.page.locator("#live")).to_contain_text("No news since")
        await small.world.sync("docs")
        await expect(tab.page.locator("#row-docs")).to_contain_text("Never run")
        await tab.page.unroute("**/events")
        await expect(tab.page.locator("#live")).to_contain_text("Live")
        await expect(tab.page.locator("#row-docs")).to_contain_text("Up to date")
        tab.errors.clear()  # the browser told of the requests that were cut


async def test_news_reach_the_list_without_a_reload(chromium: Browser, small: Person) -> None:
    async with a_tab(chromium, small) as tab:
        await tab.go("/")
        await expect(tab.page.locator("#live")).to_contain_text("Live")
        await small.world.sync("docs")
        await expect(tab.page.locator("#row-docs")).to_contain_text("Up to date")
        await expect(tab.page.locator("#row-docs")).to_contain_text("25")
        assert await tab.shifted() < 0.01


async def test_a_generation_is_rolled_back_and_forward_again(chromium: Browser, small: Person) -> None:
    await small.world.sync("docs")
    small.world.site.set(PATHS[3], page("Page 3", "<p>Other words.</p>"))
    await small.world.sync("docs")
    async with a_tab(chromium, small) as tab:
        await tab.go("/sources/docs")
        await tab.page.get_by_role("button", name="Roll back to 1").click()
        await expect(tab.page.locator(".said")).to_contain_text("Rolled back to 1")
        assert (await small.world.source("docs")).active_generation == 1
        await tab.page.get_by_role("button", name="Undo").click()
        await expect(tab.page.locator(".said")).to_contain_text("Went forward to 2")
        assert (await small.world.source("docs")).active_generation == 2


async def test_what_is_held_is_looked_at_and_approved(chromium: Browser, small: Person) -> None:
    await small.world.sync("docs")
    small.world.site.set("/docs/", page("Docs", "<p>All about grain.</p>", tuple(PATHS[:3])))
    await small.world.sync("docs")
    async with a_tab(chromium, small) as tab:
        await tab.go("/")
        await expect(tab.page.locator("#need")).to_contain_text("1")
        await expect(tab.page.get_by_role("link", name="See what would go")).to_be_visible()
        await tab.go("/sources/docs")
        await tab.page.get_by_role("button", name="Approve generation 2").click()
        await expect(tab.page.locator(".said")).to_contain_text("Generation 2 is visible")
        await expect(tab.page.locator("#need")).to_be_empty()


async def test_removal_needs_the_name(chromium: Browser, small: Person) -> None:
    async with a_tab(chromium, small) as tab:
        await tab.go("/sources/docs")
        await tab.page.get_by_text("Remove this source").click()
        button = tab.page.get_by_role("button", name="Remove docs")
        await expect(button).to_be_disabled()
        await tab.page.get_by_label("Type docs to confirm").fill("docs")
        await button.click()
        await expect(tab.page.locator(".said")).to_contain_text(
            "docs and everything stored of it was removed"
        )
        await expect(tab.page.get_by_role("heading", name="There are no sources yet")).to_be_visible()
        tab.errors.clear()  # the page that was left may have asked for the source once more


async def test_a_page_whose_words_are_script_is_only_words(chromium: Browser, small: Person) -> None:
    await small.world.add("bad", "/bad/")
    await small.world.sync("bad")
    async with a_tab(chromium, small) as tab:
        for address in ("/", "/search?q=weevil", "/documents/1", "/sources/bad", "/documents/1?raw=1"):
            await tab.go(address)
            assert tab.status == 200
            assert await tab.page.title() != "taken"
            assert await tab.page.locator("main script, main img").count() == 0
            assert await tab.refused() == []
        await tab.go("/documents/1")
        assert "<script>" in await tab.text("h1")


async def test_search_by_keyboard(chromium: Browser, small: Person) -> None:
    await small.world.sync("docs")
    async with a_tab(chromium, small) as tab:
        await tab.go("/")
        await tab.page.keyboard.press("/")
        await tab.page.keyboard.type("barley")
        await tab.page.keyboard.press("Enter")
        await expect(tab.page.locator("#hits .hit").first).to_be_visible()
        field = tab.page.locator("#q")
        await field.fill("barley number")
        await expect(tab.page).to_have_url(f"{small.url}/search?q=barley+number")
        await expect(tab.page.locator("#hits .hit").first).to_be_visible()
        await tab.page.keyboard.press("ArrowDown")
        await tab.page.keyboard.press("ArrowDown")
        second = tab.page.locator("#hits .hit").nth(1)
        await expect(second.locator("a.name")).to_be_focused()
        await expect(tab.page.locator("#read summary")).to_contain_text("Why it is number 2")
        await tab.page.keyboard.press("Enter")
        await expect(tab.page).to_have_url(re.compile("/documents/"))
        await expect(tab.page.locator("mark").first).to_be_visible()
        assert await tab.shifted() < 0.01


async def test_what_is_typed_before_the_script_has_arrived_is_searched(
    chromium: Browser, small: Person
) -> None:
    await small.world.sync("docs")
    async with a_tab(chromium, small) as tab:
        held: asyncio.Future[Route] = asyncio.get_running_loop().create_future()
        await tab.page.route(re.compile("/search[^/]*[.]js"), lambda route: held.set_result(route))
        await tab.page.goto(f"{small.url}/search?q=barley", wait_until="commit")
        await tab.page.locator("#q").fill("barley number")
        await (await held).continue_()
        await expect(tab.page).to_have_url(f"{small.url}/search?q=barley+number")


async def test_choosing_a_hit_does_not_forget_what_was_just_typed(chromium: Browser, small: Person) -> None:
    await small.world.sync("docs")
    async with a_tab(chromium, small) as tab:
        await tab.go("/search?q=barley")
        await tab.page.evaluate("""() => {
            const field = document.querySelector("#q");
            field.value = "barley number";
            field.dispatchEvent(new Event("input"));
            const row = document.querySelector("#hits [data-row]");
            document.dispatchEvent(new CustomEvent("rowen:chosen", { detail: row }));
        }""")
        await expect(tab.page).to_have_url(f"{small.url}/search?q=barley+number")


async def test_the_keys_are_told_and_letters_can_be_switched_off(chromium: Browser, small: Person) -> None:
    async with a_tab(chromium, small) as tab:
        await tab.go("/search")
        await tab.page.locator("body").press("Escape")
        await tab.page.keyboard.press("?")
        box = tab.page.get_by_role("dialog")
        await expect(box).to_contain_text("search, from anywhere")
        await box.get_by_role("checkbox").uncheck()
        await box.get_by_role("button", name="Close").click()
        await tab.page.keyboard.press("g")
        await tab.page.keyboard.press("h")
        assert tab.page.url.endswith("/search")
        await tab.page.keyboard.press("?")
        await tab.page.get_by_role("dialog").get_by_role("checkbox").check()
        await tab.page.get_by_role("dialog").get_by_role("button", name="Close").click()
        await tab.page.keyboard.press("g")
        await tab.page.keyboard.press("h")
        await expect(tab.page).to_have_url(f"{small.url}/handoffs")


async def test_a_person_signs_in_once_and_a_reader_has_no_buttons(chromium: Browser, small: Person) -> None:
    await small.world.sync("docs")
    secret = await small.token(Scope.READ, "guest")
    async with a_tab(chromium, small) as tab:
        await tab.go("/sources/docs")
        await tab.page.get_by_label("Token").fill(secret)
        await tab.page.get_by_role("button", name="Sign in").click()
        await expect(tab.page.locator("h1")).to_contain_text("docs")
        assert await tab.page.locator("main button").count() == 0
        await tab.go("/")
        assert await tab.page.locator("main button").count() == 0
        tab.errors.clear()  # the browser tells of the 401 that brought the form


async def test_without_scripts_everything_works_by_forms(chromium: Browser, small: Person) -> None:
    async with a_tab(chromium, small, java_script_enabled=False) as tab:
        await tab.go("/")
        await expect(tab.page.get_by_role("link", name="Refresh")).to_be_visible()
        await tab.page.get_by_role("button", name="Sync docs").click()
        await expect(tab.page.locator("h1")).to_contain_text("Run 1")
        await small.queue.sync(await small.world.source("docs"))
        await tab.go("/search?q=barley")
        await tab.page.locator("#hits a.name").first.click()
        assert "barley" in await tab.text()
        await tab.go("/sources/docs")
        await tab.page.get_by_role("button", name="Pause").click()
        await expect(tab.page.locator(".said")).to_contain_text("Paused")
