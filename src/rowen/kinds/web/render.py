"""Rendering the pages of one run: one browser, opened for the first page that needs it.

The browser asks here for everything its pages want, and gets it through the run's own client: the same
address policy, credentials, pace and counters. Pages share their scripts, which are fetched once a run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack

from rowen.core.web import urls
from rowen.engine.ports import Ports
from rowen.errors import PermanentError, TransientError
from rowen.fetching.redirects import follow
from rowen.fetching.robots import Robots
from rowen.ports.fetcher import Request, Response
from rowen.ports.renderer import Loaded, Renderer, RendererOptions

MAX_LOADS = 200
"""What one page may ask for."""
SHARED_BYTES = 50_000_000
"""How much of it is kept for the run's other pages."""
_PASSED_ON = ("accept", "origin")
_NOT_PASSED_BACK = frozenset(("content-encoding", "content-length", "transfer-encoding", "set-cookie"))


class Rendering:
    def __init__(
        self,
        ports: Ports,
        location: str,
        ask: Callable[[Request], Awaitable[Response]],
        robots: Callable[[str], Robots | None] = lambda url: None,
    ) -> None:
        """`robots` has the robots.txt of an address's host; loads from the source's own host obey it."""
        self._ports = ports
        self._robots = robots
        self._origin = urls.origin_of(location)
        self._ask = ask
        self._stack = AsyncExitStack()
        self._opening = asyncio.Lock()
        self._renderer: Renderer | None = None
        self._shared: dict[str, asyncio.Future[Loaded | None]] = {}
        self._shared_bytes = 0

    async def aclose(self) -> None:
        await self._stack.aclose()

    async def page(self, url: str, response: Response) -> bytes:
        """The HTML of an answered page after its scripts have run."""
        renderer = await self._open()
        left = MAX_LOADS

        async def load(address: str, headers: Mapping[str, str]) -> Loaded | None:
            nonlocal left
            left -= 1
            return await self._load(address, headers) if left >= 0 else None

        content_type = response.headers.get("content-type", "")
        return await renderer.render(url, response.body, content_type, load)

    async def _open(self) -> Renderer:
        async with self._opening:
            if self._renderer is None:
                settings = self._ports.fetch
                options = RendererOptions(
                    user_agent=settings.user_agent,
                    timeout_s=settings.timeout_s,
                    max_body_bytes=settings.max_body_bytes,
                )
                opened = self._ports.open_renderer(options)
                self._renderer = await self._stack.enter_async_context(opened)
            return self._renderer

    async def _load(self, address: str, headers: Mapping[str, str]) -> Loaded | None:
        shared = self._shared.get(address)
        if shared is not None:
            return await asyncio.shield(shared)
        place: asyncio.Future[Loaded | None] = asyncio.get_running_loop().create_future()
        self._shared[address] = place
        loaded, keep = None, False
        try:
            loaded = await self._fetch(address, headers)
            self._shared_bytes += len(loaded.body) if loaded else 0
            keep = self._shared_bytes <= SHARED_BYTES
        finally:
            # Also when this page's time is over: pages that wait for it go without, the next page asks again.
            place.set_result(loaded)
            if not keep:
                del self._shared[address]
        return loaded

    async def _fetch(self, address: str, headers: Mapping[str, str]) -> Loaded | None:
        passed = {name: headers[name] for name in _PASSED_ON if name in headers}
        if not self._allowed(address):
            return None
        try:
            _, response = await follow(
                self._ask,
                Request(address, headers=passed),
                may_follow=lambda at, target: self._allowed(target),
            )
        except (TransientError, PermanentError):
            # The page is rendered without it, as in any browser.
            return None
        if 300 <= response.status < 400:
            return None
        kept = {n: v for n, v in response.headers.items() if n not in _NOT_PASSED_BACK}
        return Loaded(response.status, kept, response.body)

    def _allowed(self, address: str) -> bool:
        # Which hosts may be reached at all is checked when the socket is opened.
        robots = self._robots(address) if urls.origin_of(address) == self._origin else None
        return robots is None or robots.allows(address, self._ports.fetch.user_agent)
