"""Sites that refuse as a whole: they moved, robots.txt closes them, or they ask for a login."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rowen.core.run import RunStatus
from rowen.doors.shapes import runs as shapes
from rowen.errors import BadLocation
from rowen.managing import sources
from tests.support.fakes import A_DAY_S
from tests.support.site import Page, Site, html
from tests.support.world import World, a_page, a_world

pytestmark = pytest.mark.anyio

NAMES = [f"/p{number}" for number in range(12)]
LOGIN = """<!DOCTYPE html><html><head><title>Sign in</title></head><body><main><h1>Sign in</h1>
<form method=post><input name=user><input name=secret type='password'><button>Go</button></form></main>
</body></html>"""


def pages() -> dict[str, str | bytes | Page]:
    return {
        "/": html("Home", "root", links=[*NAMES, "/login"]),
        "/login": LOGIN,
        **{name: a_page(name, "oats") for name in NAMES},
    }


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    with Site(pages()) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            yield world


async def nothing_is_lost(world: World) -> None:
    assert await world.pages() == {"/", *NAMES}
    assert len(await world.found("oats")) == len(NAMES)
    source = await world.source()
    assert source.held_generation is None


async def test_a_site_that_moved_to_another_origin_says_where_and_is_asked_little(world: World) -> None:
    with Site(pages()) as new:
        for path in ("/", *NAMES):
            world.site.set(path, redirect=new.url + path, status=301)
        receipt = await world.sync()
        assert receipt.status is RunStatus.FAILED
        assert receipt.error == f"`{world.site.url}/`: the site has moved, its pages redirect to `{new.url}`"
        assert f"`rowen add {new.url}/ --name NAME`" in (receipt.hint or "")
        assert "`rowen remove docs`" in (receipt.hint or "")
        assert len(world.site.requests) < 8
        assert new.requests == []
        await nothing_is_lost(world)
        assert (await world.source()).last_error == receipt.error
        assert shapes.Receipt.show(receipt)["hint"] == receipt.hint


async def test_a_root_that_moved_alone_does_not_stop_the_other_pages(world: World) -> None:
    with Site(pages()) as new:
        world.site.set("/", redirect=new.url + "/", status=301)
        world.site.set("/p1", a_page("/p1", "rye"))
        receipt = await world.sync()
        assert (receipt.status, receipt.counters.updated) == (RunStatus.PARTIAL, 1)
        assert f"rowen add {new.url}/ --name NAME" in (receipt.hint or "")
        assert await world.found("rye") == ["/p1"]


async def test_a_site_that_robots_txt_closes_says_so_and_keeps_what_readers_see(world: World) -> None:
    world.site.set("/robots.txt", "User-agent: *\nDisallow: /\n", content_type="text/plain")
    world.clock.advance(A_DAY_S)
    receipt = await world.sync()
    assert receipt.status is RunStatus.FAILED
    assert receipt.error == f"robots.txt forbids `{world.site.url}/` and all that is known below it"
    assert "--set robots=false" in (receipt.hint or "")
    assert {asked.path for asked in world.site.requests} <= {"/robots.txt", "/sitemap.xml"}
    await nothing_is_lost(world)


async def test_pages_that_turn_into_a_login_page_keep_their_text(world: World) -> None:
    world.site.set("/p0", LOGIN)
    world.site.set("/p1", redirect="/login?next=/p1", status=302)
    world.site.set("/p2", redirect="https://sso.example.org/start?to=docs", status=302)
    receipt = await world.sync()
    assert (receipt.status, receipt.counters.failed, receipt.counters.deleted) == (RunStatus.PARTIAL, 3, 0)
    items = {
        item.reference.removeprefix(world.site.url): item
        for item in await world.store.run_items(receipt.run_id)
    }
    assert (items["/p0"].reason, items["/p2"].reason) == ("login_page", "login_page")
    assert "is a login page now" in (items["/p0"].detail or "")
    assert "redirects to the login page `https://sso.example.org/start`" in (items["/p2"].detail or "")
    assert "`bearer`" in (receipt.hint or "")
    await nothing_is_lost(world)


@pytest.mark.parametrize("answer", [Page(LOGIN), Page(redirect="https://login.example.org/", status=302)])
async def test_a_root_that_turns_into_a_login_page_stops_the_run(world: World, answer: Page) -> None:
    world.site.pages["/"] = answer
    receipt = await world.sync()
    assert receipt.status is RunStatus.FAILED
    assert "login page" in (receipt.error or "")
    assert "`bearer`" in (receipt.hint or "")
    assert not world.site.asked_for("/p3")
    await nothing_is_lost(world)


async def test_a_login_page_that_a_site_links_to_is_no_document_and_no_failure(world: World) -> None:
    receipt = await world.sync()
    assert (receipt.status, receipt.counters.ignored["login_page"]) == (RunStatus.COMPLETED, 1)
    assert "/login" not in await world.pages()


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/app", "redirects to the login page"),
        ("/wall", "is a login page"),
        ("/members", "401"),
        ("/no", "403"),
    ],
)
async def test_a_login_page_is_recognised_when_a_source_is_added(world: World, path: str, said: str) -> None:
    world.site.set("/app", redirect="/accounts/login/?next=/app", status=302)
    world.site.set("/accounts/login/", LOGIN)
    world.site.set("/wall", LOGIN)
    world.site.set("/members", "who?", status=401)
    world.site.set("/no", "no", status=403)
    with pytest.raises(BadLocation, match=said) as refused:
        await sources.add(world.ports, world.site.url + path, name="other")
    assert "`bearer`" in (refused.value.hint or "")


async def test_a_page_about_logging_in_can_be_a_source(world: World) -> None:
    words = "How to log in with a token and what the server answers. " * 20
    world.site.set("/auth", redirect="/docs/login", status=301)
    world.site.set("/docs/login", html("Logging in", words, "<input type=password>"))
    added = await sources.add(world.ports, world.site.url + "/auth", name="other")
    assert added.source.location.endswith("/docs/login")


async def test_a_server_that_is_not_there_is_no_matter_of_robots_txt(world: World) -> None:
    with Site() as gone:
        address = gone.url
    await sources.add(world.ports, address, name="gone", check=False)
    receipt = await world.sync("gone")
    assert receipt.status is RunStatus.FAILED and "connection refused" in (receipt.error or "")
    assert (receipt.hint or "").startswith("the server does not answer")
