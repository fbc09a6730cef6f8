"""What Rowen would make of one address, with nothing stored."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rowen.errors import AddressRefused
from rowen.managing.inspect import inspect
from tests.support.site import Page, Site, html
from tests.support.world import World, a_world

pytestmark = pytest.mark.anyio

GUIDE = """<html><head><title>Guide</title></head><body>
<nav><a href="/">Start of everything</a></nav>
<main><h1>Guide</h1><p>How to sow oats.</p><h2 id="when">When</h2><p>In <b>spring</b>.</p>
<a href="/docs/next">next</a> <a href="/secret/x">secret</a> <a href="https://other.example/">other</a>
<a href="/docs/logo.png">logo</a></main>
<footer>Copyright somebody</footer></body></html>"""


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    pages = {
        "/docs/guide": GUIDE,
        "/robots.txt": Page(body="User-agent: *\nDisallow: /docs/secret\n", content_type="text/plain"),
        "/docs/secret": html("Secret", "nothing to see"),
        "/docs/moved": Page(body="", status=301, headers={"Location": "/docs/guide"}),
    }
    with Site(pages) as site:
        async with a_world(tmp_path, site) as made:
            yield made


async def test_a_page_is_shown_with_all_that_would_become_of_it(world: World) -> None:
    rows = world.store.rows_written()
    found = await inspect(world.ports, world.site.url + "/docs/guide", typed=True)
    assert (found.status, found.title, found.robots.allowed) == (200, "Guide", True)
    assert [section.heading for section in found.sections] == ["Guide", "When"]
    assert found.verdict.startswith("would be indexed: 2 sections, 2 passages, ")
    assert found.validators.etag is not None
    assert found.cut == ("Start of everything", "Copyright somebody")
    assert (found.cut_words, "spring" in found.markdown) == (5, True)
    links = {link.url.removeprefix(world.site.url): link.why_not for link in found.links}
    assert links["https://other.example/"] == links["/secret/x"] == "out_of_scope"
    assert world.store.rows_written() == rows
    assert await world.store.sources() == []


async def test_a_source_decides_which_links_are_its_own(world: World) -> None:
    source = await world.add("docs", "/docs/guide", scope="host", exclude="/docs/next")
    found = await inspect(world.ports, world.site.url + "/docs/guide", source=source, typed=True)
    links = {link.url.removeprefix(world.site.url): link.why_not for link in found.links}
    assert (links["/"], links["/docs/next"], links["/docs/logo.png"]) == (None, "excluded", "asset")
    world.site.set("/robots.txt", "User-agent: *\nDisallow: /secret/\n")
    found = await inspect(world.ports, world.site.url + "/docs/guide", source=source, typed=True)
    assert next(link.why_not for link in found.links if "/secret/" in link.url) == "robots"


async def test_what_is_forbidden_or_missing_says_why(world: World) -> None:
    secret = await inspect(world.ports, world.site.url + "/docs/secret", typed=True)
    assert secret.verdict == "would not be indexed: robots.txt forbids this address"
    missing = await inspect(world.ports, world.site.url + "/docs/none", typed=True)
    assert (missing.status, missing.why_not) == (404, "404 from the server")


async def test_redirects_are_followed_and_named(world: World) -> None:
    found = await inspect(world.ports, world.site.url + "/docs/moved", typed=True)
    assert found.final_url == world.site.url + "/docs/guide"
    assert (found.redirects, found.title) == ((), "Guide")


async def test_a_private_address_is_refused_unless_the_operator_typed_it(world: World) -> None:
    with pytest.raises(AddressRefused):
        await inspect(world.ports, world.site.url + "/docs/guide")


async def test_a_page_that_looks_empty_without_scripts_is_said_to_be_indexed_as_a_run_does(
    world: World,
) -> None:
    page = '<title>Shell</title><div id="root"><p>Loading</p></div><script>1</script>'
    world.site.set("/docs/shell", f"<html><body>{page}</body></html>")
    found = await inspect(world.ports, world.site.url + "/docs/shell", typed=True)
    assert found.why_not is None
    assert found.verdict == (
        "would be indexed: 1 section, 1 passage, 0 of 0 links would be followed;"
        " it looks empty until its scripts have run: try `render=true`"
    )
    world.site.set("/docs/shell", "<html><body><div id=root></div><script>1</script></body></html>")
    found = await inspect(world.ports, world.site.url + "/docs/shell", typed=True)
    assert found.why_not == "it looks empty until its scripts have run: try `render=true`"
