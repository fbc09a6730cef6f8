"""JavaScript pages: rendered on request, hinted at otherwise."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from rowen.core.run import RunStatus
from rowen.errors import ConfigError, FetchTimeout, TransientError
from rowen.kinds.web import render
from rowen.kinds.web.pages import needs_scripts
from rowen.kinds.web.render import MAX_LOADS
from rowen.managing import sources
from rowen.ports.renderer import Load, RendererOptions
from tests.support.browsers import in_a_browser
from tests.support.site import Page, Site, html
from tests.support.world import World, a_world

pytestmark = pytest.mark.anyio

SHELL = """<!DOCTYPE html><html><head><title>App</title></head>
<body><noscript>You need to enable JavaScript to run this app.</noscript>
<div id="root"></div><script src="/app.js"></script></body></html>"""
APP = """
const name = location.pathname === '/' ? 'home' : location.pathname.slice(1);
fetch('/api/' + name + '.json').then(answer => answer.json()).then(page => {
  const links = page.links.map(link => `<a href="${link}">${link}</a>`).join(' ');
  const text = `<h1>${page.title}</h1><p>${page.text}</p>`;
  document.getElementById('root').innerHTML = `<nav>${links}</nav><main>${text}</main>`;
});
"""


def pages() -> dict[str, str | bytes | Page]:
    def data(text: str) -> Page:
        return Page(text, content_type="application/json")

    return {
        "/": Page(SHELL),
        "/oats": Page(SHELL.replace("App", "App of oats")),
        "/app.js": Page(APP, content_type="text/javascript"),
        "/api/home.json": data('{"title": "Home", "text": "Welcome to barley.", "links": ["/oats"]}'),
        "/api/oats.json": data('{"title": "Oats", "text": "Oats like rain.", "links": ["/"]}'),
    }


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    with Site(pages()) as site:
        async with a_world(tmp_path, site) as made:
            yield made


async def unchecked(world: World, **settings: str) -> None:
    """Added without asking: starting a browser takes its time."""
    given = {"render": "true", **settings}
    await sources.add(world.ports, world.site.url, name="docs", settings=given, check=False)


@in_a_browser
async def test_rendered_pages_are_found_by_what_their_scripts_wrote(world: World) -> None:
    added = await sources.add(world.ports, world.site.url, name="docs", settings={"render": "true"})
    assert any("rendered by a browser: 5 words" in finding for finding in added.findings), added.findings
    receipt = await world.sync()
    assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, 2)
    assert await world.found("rain") == ["/oats"], "linked only by a script, written only by a script"
    assert len(world.site.asked_for("/app.js")) == 1, "once for all pages"
    assert len(world.site.asked_for("/")) == 1, "the browser gets what was fetched"


@in_a_browser
async def test_an_unchanged_page_opens_no_browser_and_a_changed_one_is_rendered_again(world: World) -> None:
    await unchecked(world)
    await world.sync()
    opened = 0
    real = world.ports.open_renderer

    def counting(options: RendererOptions) -> object:
        nonlocal opened
        opened += 1
        return real(options)

    world.ports = replace(world.ports, open_renderer=counting)  # type: ignore[arg-type]
    receipt = await world.sync()
    assert (opened, receipt.counters.not_modified, receipt.counters.parses) == (0, 2, 0)
    assert not world.site.asked_for("/app.js")

    world.site.set("/oats", SHELL.replace("App", "App, rebuilt"))
    receipt = await world.sync()
    assert (opened, receipt.counters.same_content, receipt.counters.updated) == (1, 1, 0), "the same text"

    world.site.set("/oats", SHELL.replace("App", "App, rebuilt again"))
    new = '{"title": "Oats", "text": "Oats like fog.", "links": ["/"]}'
    world.site.set("/api/oats.json", new, content_type="application/json")
    receipt = await world.sync()
    assert (opened, receipt.counters.updated) == (2, 1)
    assert await world.found("fog") == ["/oats"]


@in_a_browser
async def test_pages_reach_no_private_address_but_the_source_and_robots_txt_holds(world: World) -> None:
    with Site({"/inside.json": Page('{"text": "secret"}', content_type="application/json")}) as inside:
        script = f"""
        for (const url of ['{inside.url}/inside.json', '/forbidden/x.json'])
          fetch(url).then(a => a.text()).catch(() => 'refused').then(text => main.append(text + ' '));
        """
        world.site.set("/", f"<main id='main'><h1>Home</h1></main><script>{script}</script>")
        world.site.set("/forbidden/x.json", "secret", content_type="application/json")
        world.site.set("/robots.txt", "User-agent: *\nDisallow: /forbidden/\n", content_type="text/plain")
        await unchecked(world)
        await world.sync()
        assert inside.requests == []
        assert not world.site.asked_for("/forbidden/x.json")
        assert await world.found("refused") == ["/"]


@in_a_browser
async def test_credentials_reach_the_scripts_of_the_source_and_nobody_else(world: World) -> None:
    world.secrets["DOCS_KEY"] = "kuckuck-4711"
    world.site.set("/", SHELL + "<script>document.body.append(document.cookie)</script>")
    await unchecked(world, cookie="s=${DOCS_KEY}")
    await world.sync()
    assert world.site.asked_for("/api/home.json")[0].headers["Cookie"] == "s=kuckuck-4711"
    assert await world.found("kuckuck") == [], "the browser itself never has them"


async def test_a_missing_browser_fails_the_run_with_a_clear_message(world: World) -> None:
    def missing(options: RendererOptions) -> object:
        raise ConfigError("pages cannot be rendered: no browser", hint="install Chromium")

    world.ports = replace(world.ports, open_renderer=missing)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="no browser"):
        await sources.add(world.ports, world.site.url, name="docs", settings={"render": "true"})
    await unchecked(world)
    receipt = await world.sync()
    assert receipt.status is RunStatus.FAILED
    assert "no browser" in (receipt.error or "")
    assert receipt.hint == "install Chromium"


async def test_a_page_that_is_empty_without_scripts_gets_a_hint_when_added_and_when_synced(
    world: World,
) -> None:
    added = await sources.add(world.ports, world.site.url, name="docs")
    assert any("--set render=true" in finding for finding in added.findings)
    receipt = await world.sync()
    assert receipt.counters.ignored["looks_empty_without_javascript"] == 1
    assert "`rowen edit docs --set render=true`" in (receipt.hint or "")
    assert (receipt.counters.why_ignored, receipt.counters.kept) == (
        "",
        "1 that looks empty without JavaScript",
    )
    assert receipt.status is RunStatus.COMPLETED


async def test_one_empty_page_among_many_is_said_and_no_reason_to_advise_a_browser(world: World) -> None:
    paths = [f"/p{number}" for number in range(30)]
    for path in paths:
        world.site.set(path, html(path, f"{path} has words of its own"))
    world.site.set("/", html("Home", "All about grain.", links=[*paths, "/search"]))
    world.site.set("/search", SHELL)
    await world.add()
    receipt = await world.sync()
    assert receipt.counters.kept == "1 that looks empty without JavaScript"
    assert receipt.hint is None


async def test_a_page_with_text_gets_no_hint(world: World) -> None:
    world.site.set("/", SHELL.replace('<div id="root">', f'<div id="root"><main>{"word " * 60}</main>'))
    added = await sources.add(world.ports, world.site.url, name="docs")
    receipt = await world.sync()
    assert receipt.hint is None
    assert not any("render" in finding for finding in added.findings)
    assert "looks_empty_without_javascript" not in receipt.counters.ignored


@pytest.mark.parametrize(
    ("body", "empty"),
    [
        (SHELL, True),
        ('<div id="__next"></div><script>1</script>', True),
        ("<div id=app></div><script src=x></script>", True),
        ("<noscript><p>Please enable JavaScript</p></noscript><script>1</script>", True),
        ("<!-- Generated by javadoc --><noscript>JavaScript is disabled</noscript><script>1</script>", False),
        ('<div id="root"></div>', False),
        (html("A short page", "with a few words"), False),
    ],
)
def test_a_place_for_scripts_to_fill_is_recognised(body: str, empty: bool) -> None:
    assert needs_scripts(body.encode(), "few words") is empty


class StandIn:
    """No browser: asks for these addresses as a page would, and answers with what it got."""

    def __init__(self, *addresses: str, error: TransientError | None = None) -> None:
        self.addresses = addresses
        self.error = error

    @asynccontextmanager
    async def __call__(self, options: RendererOptions) -> AsyncIterator[StandIn]:
        yield self

    async def render(self, url: str, body: bytes, content_type: str, load: Load) -> bytes:
        if self.error is not None:
            raise self.error
        got = [await load(address, {"accept": "*/*"}) for address in self.addresses]
        words = " ".join(loaded.body.decode() if loaded else "nothing" for loaded in got)
        return f"<main><h1>Page</h1><p>{words}</p></main>".encode()


async def test_scripts_are_fetched_through_redirects_and_a_page_goes_without_what_fails(world: World) -> None:
    with Site({"/x.js": "inside"}) as inside:
        world.site.set("/moved.js", redirect="/new.js", status=302)
        world.site.set("/new.js", "arrived", content_type="text/javascript")
        world.site.set("/loop.js", redirect="/loop.js", status=302)
        world.site.set("/trap.js", redirect=inside.url + "/x.js", status=302)
        world.site.set("/broken.js", "oops", status=404)
        addresses = [world.site.url + path for path in ("/moved.js", "/loop.js", "/trap.js", "/broken.js")]
        world.ports = replace(world.ports, open_renderer=StandIn(*addresses, *addresses))
        await unchecked(world)
        await world.sync()
        assert await world.found("arrived nothing nothing oops") == ["/"]
        assert len(world.site.asked_for("/moved.js")) == 1, "what was had once is shared"
        assert inside.requests == []


async def test_a_page_asks_for_a_bounded_number_of_things(world: World) -> None:
    addresses = [f"{world.site.url}/part{n}.js" for n in range(MAX_LOADS + 50)]
    world.ports = replace(world.ports, open_renderer=StandIn(*addresses))
    await unchecked(world)
    await world.sync()
    assert sum("part" in one.path for one in world.site.requests) == MAX_LOADS


async def test_what_is_too_much_to_share_is_fetched_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(render, "SHARED_BYTES", 10)
    world.ports = replace(world.ports, open_renderer=StandIn(*[world.site.url + "/app.js"] * 2))
    await unchecked(world)
    await world.sync()
    assert len(world.site.asked_for("/app.js")) == 2


async def test_a_page_the_browser_cannot_finish_stays_as_it_was(world: World) -> None:
    world.ports = replace(world.ports, open_renderer=StandIn(world.site.url + "/app.js"))
    await unchecked(world)
    await world.sync()
    world.site.set("/", SHELL + "<!-- changed -->")
    world.ports = replace(world.ports, open_renderer=StandIn(error=FetchTimeout("`x`: not rendered")))
    receipt = await world.sync()
    assert (receipt.counters.failed, receipt.counters.deleted, receipt.generation) == (1, 0, 1)
    added = await sources.add(world.ports, world.site.url, name="two", settings={"render": "true"})
    assert any("could not be tried: `x`: not rendered" in finding for finding in added.findings)
