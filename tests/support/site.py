"""A real website for tests: a server in a background thread, pages in a dictionary.

    with Site({"/": html("Home", "Hello", links=["/a.html"])}) as site:
        site.set("/a.html", html("A", "First"))
        ...
        assert site.requests[-1].status == 304

Pages may be changed from any thread while it runs. robots.txt and sitemap.xml are pages like any other.
"""

from __future__ import annotations

import asyncio
import hashlib
import socket
import ssl
import struct
import threading
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from functools import cached_property
from html import escape
from typing import Any, Self

from aiohttp import web

DEADLINE_S = 120.0
"""No test waits longer than this for the server to start, to stop, or for a page's `delay`."""


@dataclass(frozen=True)
class Page:
    body: str | bytes = ""
    content_type: str = "text/html; charset=utf-8"
    etag: bool | str = True
    """True: a strong one from the content's hash; "weak": the same, weak; any other text: as it is."""
    last_modified: str | None = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    fail_times: int = 0
    """Answer 500 this many times first."""
    reset: bool = False
    """Cut the connection instead of answering."""
    delay: threading.Event | None = None
    """Answer when this is set."""
    gzip: bool = False
    redirect: str | None = None

    @cached_property
    def raw(self) -> bytes:
        return self.body.encode() if isinstance(self.body, str) else self.body

    @cached_property
    def packed(self) -> bytes:
        packer = zlib.compressobj(wbits=31)
        return packer.compress(self.raw) + packer.flush()

    @cached_property
    def etag_header(self) -> str | None:
        if isinstance(self.etag, str) and self.etag != "weak":
            return self.etag
        tag = f'"{hashlib.sha256(self.raw).hexdigest()[:24]}"'
        return f"W/{tag}" if self.etag == "weak" else tag if self.etag else None

    def is_current(self, asked: Mapping[str, str]) -> bool:
        """Does the client hold this version already? (RFC 9110, 13.1)"""
        tags = asked.get("If-None-Match")
        if tags is not None:
            held = {tag.strip().removeprefix("W/") for tag in tags.split(",")}
            return self.etag_header is not None and bool({"*", self.etag_header.removeprefix("W/")} & held)
        since = asked.get("If-Modified-Since")
        if since is None or self.last_modified is None:
            return False
        try:
            return parsedate_to_datetime(since) >= parsedate_to_datetime(self.last_modified)
        except ValueError:
            return False


@dataclass(frozen=True, slots=True)
class Asked:
    """One request, as it was answered."""

    method: str
    path: str
    """With its query, as it came over the wire."""
    conditional: bool
    status: int
    """0 when the connection was cut."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


class Site:
    def __init__(
        self,
        pages: Mapping[str, str | bytes | Page] | None = None,
        *,
        port: int = 0,
        host: str = "127.0.0.1",
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._tls = tls
        self.pages: dict[str, Page] = {}
        self.requests: list[Asked] = []
        self.unknown: Callable[[str], str | Page] | None = None
        """What it answers where there is no page; None for a 404."""
        self._failures: dict[str, int] = {}
        self._outage: int | None = None
        self._host, self._port = host, port
        self._started = threading.Event()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._fault: BaseException | None = None
        self._fill(pages or {})

    # What tests do with it

    @property
    def url(self) -> str:
        """Without a trailing slash: `site.url + "/a.html"`."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http{'s' if self._tls else ''}://{host}:{self._port}"

    @property
    def port(self) -> int:
        return self._port

    def set(self, path: str, body: str | bytes = "", **options: Any) -> None:
        """Put a page there, or another in its place."""
        self._put(path, Page(body, **options))

    def remove(self, path: str) -> None:
        del self.pages[path]

    def holds_only(self, pages: Mapping[str, str | bytes | Page]) -> None:
        """These pages and nothing of before: as if it had just been started."""
        self.everything_answers(None)
        self.pages.clear()
        self._failures.clear()
        self._fill(pages)
        self.clear_log()

    def everything_answers(self, status: int | None) -> None:
        """An outage: every request gets this status, whatever it asks for. None ends it."""
        self._outage = status

    def clear_log(self) -> None:
        self.requests.clear()

    def asked_for(self, path: str) -> list[Asked]:
        return [asked for asked in list(self.requests) if asked.path == path]

    def start(self) -> Self:
        self._thread = threading.Thread(target=self._run, name="site", daemon=True)
        self._thread.start()
        if not self._started.wait(DEADLINE_S):
            raise RuntimeError("the test site did not start")
        if self._fault is not None:
            raise self._fault
        return self

    def stop(self) -> None:
        if self._thread is not None and self._thread.is_alive():
            assert self._loop is not None
            assert self._stop is not None
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(DEADLINE_S)
        self._thread = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    # The server

    def _fill(self, pages: Mapping[str, str | bytes | Page]) -> None:
        for path, page in pages.items():
            self._put(path, page if isinstance(page, Page) else Page(page))

    def _put(self, path: str, page: Page) -> None:
        if not path.startswith("/"):
            raise ValueError(f"a path starts with a slash, not `{path}`")
        self._failures[path] = page.fail_times
        self.pages[path] = page

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as exc:
            self._fault = exc
        finally:
            self._started.set()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        runner = web.ServerRunner(web.Server(self._answer, access_log=None), shutdown_timeout=0.5)
        await runner.setup()
        listener = web.TCPSite(runner, self._host, self._port, backlog=512, ssl_context=self._tls)
        try:
            await listener.start()
            self._port = runner.addresses[0][1]
            self._started.set()
            await self._stop.wait()
        finally:
            await runner.cleanup()

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        path = request.raw_path
        page = self.pages.get(path) or self.pages.get(path.partition("?")[0])
        if page is None and self.unknown is not None:
            said = self.unknown(path)
            page = said if isinstance(said, Page) else Page(said)
        if page is not None and page.delay is not None:
            await self._wait_for(page.delay)
        if page is not None and page.reset and self._outage is None:
            self._log(request, 0)
            return cut_connection(request)
        response = self._response(request, page)
        self._log(request, response.status)
        return response

    def _response(self, request: web.BaseRequest, page: Page | None) -> web.Response:
        if self._outage is not None:
            return web.Response(status=self._outage, text="outage")
        if page is None:
            return web.Response(status=404, text="not found")
        path = request.raw_path if request.raw_path in self.pages else request.raw_path.partition("?")[0]
        # Only the server's thread counts down; `set` starts the count afresh.
        if self._failures.get(path, 0) > 0:
            self._failures[path] -= 1
            return web.Response(status=500, text="failed on purpose")
        headers = dict(page.headers)
        if page.redirect is not None:
            headers["Location"] = page.redirect
            return web.Response(status=302 if page.status == 200 else page.status, headers=headers)
        if page.etag_header is not None and page.status == 200:
            headers["ETag"] = page.etag_header
        if page.last_modified is not None:
            headers["Last-Modified"] = page.last_modified
        if page.status == 200 and page.is_current(request.headers):
            return web.Response(status=304, headers=headers)
        headers["Content-Type"] = page.content_type
        if page.gzip and "gzip" in request.headers.get("Accept-Encoding", ""):
            headers["Content-Encoding"] = "gzip"
            return web.Response(status=page.status, headers=headers, body=page.packed)
        return web.Response(status=page.status, headers=headers, body=page.raw)

    def _log(self, request: web.BaseRequest, status: int) -> None:
        headers = request.headers
        conditional = "If-None-Match" in headers or "If-Modified-Since" in headers
        self.requests.append(Asked(request.method, request.raw_path, conditional, status, dict(headers)))

    async def _wait_for(self, event: threading.Event) -> None:
        assert self._stop is not None
        async with asyncio.timeout(DEADLINE_S):
            # Another thread's event cannot be awaited, and one thread for each waiting request could run out.
            while not event.is_set() and not self._stop.is_set():  # noqa: ASYNC110
                await asyncio.sleep(0.002)


def html(
    title: str, *paragraphs: str, links: Iterable[str | tuple[str, str]] = (), footer: str = "Made for a test"
) -> str:
    """A small page as documentation sites make them: navigation, main content, footer.

    Paragraphs are text; one that starts with `<` is taken as HTML.
    """
    named = [(link, link) if isinstance(link, str) else link for link in links]
    items = "".join(f'<li><a href="{escape(href)}">{escape(text)}</a></li>' for href, text in named)
    content = "\n".join(p if p.startswith("<") else f"<p>{escape(p)}</p>" for p in paragraphs)
    return f"""<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>{escape(title)}</title></head>
<body>
<nav><ul>{items}</ul></nav>
<main>
<h1>{escape(title)}</h1>
{content}
</main>
<footer><p>{escape(footer)}</p></footer>
</body>
</html>
"""


def cut_connection(request: web.BaseRequest) -> web.Response:
    transport = request.transport
    if transport is not None:
        # No lingering: the other side sees a reset, not an orderly end.
        transport.get_extra_info("socket").setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
        )
        transport.abort()
    return web.Response()
