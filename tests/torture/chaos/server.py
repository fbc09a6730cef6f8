"""A website that can do everything a website should not do.

It is a `Site` with faults put over some of its addresses, or over all of them (`weather`). What it did is
written down: `struck` has the addresses that were asked and answered with a fault.
"""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from tests.support.site import Page, Site, cut_connection, html

BOMB_BYTES = 20_000_000
"""What a bomb unpacks to: more than the tests let a body have."""
DRIP_S = 0.05


class Chaos(Site):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.faults: dict[str, str] = {}
        """The fault at an address."""
        self.weather: str | None = None
        self.struck: set[str] = set()

    def calm_down(self) -> None:
        self.faults.clear()
        self.weather = None

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        path = request.raw_path.partition("?")[0]
        if self.weather is not None and path not in ("/robots.txt", "/sitemap.xml"):
            self.struck.add(path)
            self._log(request, 200)
            return await WEATHER[self.weather](request)
        fault = self.faults.get(path)
        page = self.pages.get(path)
        if fault is None or page is None:
            return await super()._answer(request)
        self.struck.add(path)
        self._log(request, 0)
        return await FAULTS[fault](request, page)


Fault = Callable[[web.BaseRequest, Page], Awaitable[web.StreamResponse]]


async def _raw(request: web.BaseRequest, sent: bytes, *, drip: bool = False) -> web.StreamResponse:
    """These bytes and no others, then the end of the connection."""
    transport = request.transport
    if transport is not None:
        if drip:
            for byte in sent:
                if transport.is_closing():
                    break
                transport.write(bytes([byte]))
                await asyncio.sleep(DRIP_S)
        else:
            transport.write(sent)
            await asyncio.sleep(0)
        transport.close()
    return web.Response()


def _head(*lines: str) -> bytes:
    fixed = ("HTTP/1.1 200 OK", "Content-Type: text/html; charset=utf-8")
    return "\r\n".join((*fixed, *lines, "", "")).encode()


async def reset(request: web.BaseRequest, page: Page) -> web.StreamResponse:
    return cut_connection(request)


async def closed_at_once(request: web.BaseRequest, page: Page) -> web.StreamResponse:
    return await _raw(request, b"")


async def cut_short(request: web.BaseRequest, page: Page) -> web.StreamResponse:
    """The connection ends in the middle of the body."""
    return await _raw(request, _head(f"Content-Length: {len(page.raw)}") + page.raw[: len(page.raw) // 2])


async def cut_chunk(request: web.BaseRequest, page: Page) -> web.StreamResponse:
    half = page.raw[: len(page.raw) // 2]
    return await _raw(request, _head("Transfer-Encoding: chunked") + b"%x\r\n%s\r\n" % (len(half), half))


async def slow_drip(request: web.BaseRequest, page: Page) -> web.StreamResponse:
    return await _raw(request, _head(f"Content-Length: {len(page.raw)}") + page.raw, drip=True)


async def truncated_gzip(request: web.BaseRequest, page: Page) -> web.StreamResponse:
    packed = page.packed[: len(page.packed) // 2]
    return web.Response(body=packed, headers={"Content-Encoding": "gzip", "Content-Type": page.content_type})


async def bad_gzip(request: web.BaseRequest, page: Page) -> web.StreamResponse:
    packed = b"\x1f\x8b\x08" + b"no gzip at all" * 20
    return web.Response(body=packed, headers={"Content-Encoding": "gzip", "Content-Type": page.content_type})


async def gzip_bomb(request: web.BaseRequest, page: Page) -> web.StreamResponse:
    return web.Response(body=_BOMB, headers={"Content-Encoding": "gzip", "Content-Type": page.content_type})


_BOMB = gzip.compress(b"<p>" + b"x" * BOMB_BYTES, 9)


async def header_flood(request: web.BaseRequest, page: Page) -> web.StreamResponse:
    flood = (f"X-Flood-{number}: {'x' * 90}" for number in range(2_000))
    return await _raw(request, _head(*flood, f"Content-Length: {len(page.raw)}") + page.raw)


async def huge_header(request: web.BaseRequest, page: Page) -> web.StreamResponse:
    return await _raw(
        request, _head(f"X-Huge: {'x' * 300_000}", f"Content-Length: {len(page.raw)}") + page.raw
    )


async def not_http(request: web.BaseRequest, page: Page) -> web.StreamResponse:
    return await _raw(request, b"SSH-2.0-OpenSSH_9.2\r\n")


async def two_lengths(request: web.BaseRequest, page: Page) -> web.StreamResponse:
    return await _raw(request, _head("Content-Length: 5", f"Content-Length: {len(page.raw)}") + page.raw)


async def server_error(request: web.BaseRequest, page: Page) -> web.StreamResponse:
    return web.Response(status=500, text="failed on purpose")


async def unavailable(request: web.BaseRequest, page: Page) -> web.StreamResponse:
    return web.Response(status=503, text="not now")


async def strange_status(request: web.BaseRequest, page: Page) -> web.StreamResponse:
    return web.Response(status=530, text="no such status")


async def forbidden(request: web.BaseRequest, page: Page) -> web.StreamResponse:
    return web.Response(status=403, text="not for you")


async def circle(request: web.BaseRequest, page: Page) -> web.StreamResponse:
    return web.Response(status=302, headers={"Location": request.raw_path})


FAULTS: dict[str, Fault] = {
    "reset": reset,
    "closed at once": closed_at_once,
    "cut short": cut_short,
    "a chunk cut short": cut_chunk,
    "slow drip": slow_drip,
    "truncated gzip": truncated_gzip,
    "bad gzip": bad_gzip,
    "gzip bomb": gzip_bomb,
    "header flood": header_flood,
    "huge header": huge_header,
    "not HTTP": not_http,
    "two lengths": two_lengths,
    "500": server_error,
    "503": unavailable,
    "530": strange_status,
    "403": forbidden,
    "redirect in a circle": circle,
}
"""Faults of one address, after each of which a client has no page and knows it."""


async def maintenance(request: web.BaseRequest) -> web.StreamResponse:
    return web.Response(text=html("Back soon", "We are working on our site."), content_type="text/html")


async def login_wall(request: web.BaseRequest) -> web.StreamResponse:
    if request.raw_path == "/login":
        return web.Response(text=html("Log in", "Your name and password, please."), content_type="text/html")
    return web.Response(status=302, headers={"Location": "/login"})


async def nothing_found(request: web.BaseRequest) -> web.StreamResponse:
    return web.Response(status=404, text="not found")


async def soft_404(request: web.BaseRequest) -> web.StreamResponse:
    text = html("Not found", f"There is no page {request.raw_path} here.")
    return web.Response(text=text, content_type="text/html")


async def outage(request: web.BaseRequest) -> web.StreamResponse:
    return web.Response(status=502, text="bad gateway")


async def all_reset(request: web.BaseRequest) -> web.StreamResponse:
    return cut_connection(request)


async def empty(request: web.BaseRequest) -> web.StreamResponse:
    return web.Response(text="", content_type="text/html")


async def garbage(request: web.BaseRequest) -> web.StreamResponse:
    return web.Response(body=zlib.compress(request.raw_path.encode() * 99), content_type="text/html")


WEATHER: dict[str, Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]] = {
    "a maintenance page with 200": maintenance,
    "a login wall": login_wall,
    "404 everywhere": nothing_found,
    "soft 404 everywhere": soft_404,
    "502 everywhere": outage,
    "resets everywhere": all_reset,
    "empty pages": empty,
}
"""Faults of a whole site: whatever comes, readers must lose nothing by it."""
