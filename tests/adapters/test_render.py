"""Pages in a real Chromium that reaches nothing but what it is given."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest

from rowen.adapters.render import browser, find_browser, open_renderer
from rowen.adapters.render.chromium import ChromiumRenderer
from rowen.errors import BodyTooLarge, ConfigError, FetchTimeout, Unparseable
from rowen.ports.renderer import Load, Loaded, RendererOptions
from tests.support.browsers import in_a_browser, there_is_one
from tests.support.site import Site

pytestmark = pytest.mark.anyio

URL = "http://docs.example/guide"
SHELL = '<html><body><div id="root"></div><script src="/app.js"></script></body></html>'
APP = """
fetch('/data.json').then(answer => answer.json()).then(data => {
  document.getElementById('root').innerHTML = '<main><h1>' + data.title + '</h1></main>';
});
"""


class Server:
    """Answers what a page asks for, and writes it down."""

    def __init__(self, answers: Mapping[str, tuple[str, str]]) -> None:
        self.answers = answers
        self.asked: list[str] = []

    async def __call__(self, url: str, headers: Mapping[str, str]) -> Loaded | None:
        self.asked.append(url)
        if url not in self.answers:
            return None
        content_type, body = self.answers[url]
        return Loaded(200, {"content-type": content_type}, body.encode())


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """One event loop for all tests here, so that one browser can serve them."""
    return "asyncio"


@pytest.fixture(scope="module")
async def shared(anyio_backend: str) -> AsyncIterator[ChromiumRenderer | None]:
    """A browser for tests that leave it as it was: starting one takes a second. None where there is none."""
    if not there_is_one():
        yield None
        return
    async with open_renderer(RendererOptions(timeout_s=120.0)) as renderer:
        yield renderer


async def rendered(renderer: ChromiumRenderer, *bodies: str, load: Load | None = None) -> list[str]:
    return [
        (await renderer.render(URL, body.encode(), "text/html", load or Server({}))).decode()
        for body in bodies
    ]


@in_a_browser
async def test_scripts_run_with_what_load_gives_them(shared: ChromiumRenderer) -> None:
    server = Server(
        {
            "http://docs.example/app.js": ("text/javascript", APP),
            "http://docs.example/data.json": ("application/json", '{"title": "Barley"}'),
        }
    )
    [html] = await rendered(shared, SHELL, load=server)
    assert "<h1>Barley</h1>" in html
    assert server.asked == ["http://docs.example/app.js", "http://docs.example/data.json"]


@in_a_browser
async def test_only_scripts_and_data_are_asked_for_and_only_by_get(shared: ChromiumRenderer) -> None:
    server = Server({})
    await rendered(
        shared,
        '<link rel="stylesheet" href="/style.css"><img src="/a.png"><video src="/v.mp4"></video>'
        '<iframe src="/frame.html"></iframe><link rel="prefetch" href="/next.html">'
        '<link rel="icon" href="/i.ico">'
        "<style>@font-face{font-family:f;src:url(/f.woff2)} body{font-family:f}</style>text"
        "<script>fetch('/post', {method: 'POST', body: 'x'}).catch(() => {});"
        "navigator.sendBeacon('/beacon', 'x'); new EventSource('/events');"
        "window.open('/pop.html');</script>",
        '<a id="a" href="/file.zip" download></a><script>a.click()</script>',
        "<script>location.href = '/elsewhere'</script>",
        "<meta http-equiv='refresh' content='0;url=/elsewhere'>",
        "<script>new Worker('/worker.js').onerror = () => {}</script>",
        load=server,
    )
    assert set(server.asked) <= {"http://docs.example/worker.js"}


@in_a_browser
async def test_the_browser_itself_reaches_no_network(shared: ChromiumRenderer) -> None:
    with Site({"/x": "secret"}) as site:
        socket = site.url.replace("http", "ws")
        [html] = await rendered(
            shared,
            f"<script>new WebSocket('{socket}/x'); new Image().src = '{site.url}/x';"
            f"fetch('{site.url}/x').catch(() => document.body.append('refused'));"
            f"const pc = new RTCPeerConnection({{iceServers: [{{urls: 'stun:127.0.0.1:{site.port}'}}]}});"
            "pc.createDataChannel('x'); pc.createOffer().then(offer => pc.setLocalDescription(offer));"
            "navigator.serviceWorker && navigator.serviceWorker.register('/sw.js').catch(() => {});</script>",
        )
        assert "refused" in html
        assert site.requests == []


@in_a_browser
async def test_a_page_in_an_endless_loop_costs_its_time_and_nothing_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with open_renderer(RendererOptions(timeout_s=3.0)) as renderer:
        with pytest.raises(FetchTimeout, match="not rendered within 3 s"):
            await renderer.render(URL, b"<script>while (true) {}</script>", "text/html", Server({}))
        # The next browser starts within its page's time, and a busy machine needs more of it.
        monkeypatch.setattr(renderer, "_options", RendererOptions(timeout_s=120.0))
        html = await renderer.render(URL, b"<p>still here</p>", "text/html", Server({}))
        assert b"still here" in html


@in_a_browser
async def test_a_browser_that_died_is_started_again() -> None:
    async with open_renderer(RendererOptions()) as renderer:
        await (await renderer.start()).close()
        assert b"back" in await renderer.render(URL, b"<p>back</p>", "text/html", Server({}))


@in_a_browser
async def test_pages_do_not_see_each_other(shared: ChromiumRenderer) -> None:
    first = "<script>localStorage.x = 'left behind'; document.cookie = 'x=left behind'</script>"
    second = "<script>document.write('[' + (localStorage.x || '') + document.cookie + ']')</script>"
    html = await rendered(shared, first, second)
    assert "[]" in html[1]


@in_a_browser
async def test_a_page_that_grows_without_end_is_refused() -> None:
    async with open_renderer(RendererOptions(max_body_bytes=10_000)) as renderer:
        body = b"<script>document.write('x'.repeat(20000))</script>"
        with pytest.raises(BodyTooLarge, match="rendered, it is larger"):
            await renderer.render(URL, body, "text/html", Server({}))


@in_a_browser
async def test_several_pages_are_rendered_at_a_time(shared: ChromiumRenderer) -> None:
    pages = [f"<script>document.write('page ' + {n})</script>".encode() for n in range(3)]
    found = await asyncio.gather(*(shared.render(URL, page, "text/html", Server({})) for page in pages))
    assert [f"page {n}".encode() in html for n, html in enumerate(found)] == [True, True, True]


def test_without_the_package_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match="package `playwright` is not installed") as caught:
        find_browser()
    assert "rowen[render]" in (caught.value.hint or "")


def test_without_a_browser_the_message_says_where_it_was_looked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(browser, "find_spec", lambda name: object())
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigError, match="no browser on the PATH") as caught:
        find_browser()
    assert "render.browser" in (caught.value.hint or "")
    with pytest.raises(ConfigError, match=r"setting `render\.browser`: `/no/such` is not a program"):
        find_browser("/no/such")


def test_the_setting_wins_over_the_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(browser, "find_spec", lambda name: object())
    mine = tmp_path / "mine"
    mine.write_text("#!/bin/sh\n")
    mine.chmod(0o755)
    assert find_browser(str(mine)) == str(mine)


@in_a_browser
async def test_a_browser_that_does_not_start_is_named(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    with pytest.raises(ConfigError, match=f"browser `{broken}`: does not start"):
        async with open_renderer(RendererOptions(), browser=str(broken)):
            pass


@in_a_browser
async def test_what_the_browser_does_not_show_is_unparseable(shared: ChromiumRenderer) -> None:
    with pytest.raises(Unparseable, match="the browser gave up on it"):
        await shared.render(URL, b"PK", "application/zip", Server({}))
