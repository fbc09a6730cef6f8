"""Asking an API politely: redirects followed, short rate limits waited out, a few requests at a time.

What a page is and how the next one is found is not known here.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

from rowen.core.document import Validators
from rowen.core.run import Counters
from rowen.core.web import urls
from rowen.engine.ports import Ports
from rowen.errors import (
    BadLocation,
    BodyTooLarge,
    ConnectionFailed,
    FetchTimeout,
    RateLimited,
    RowenError,
    ServerFailed,
    Unparseable,
)
from rowen.fetching import credentials
from rowen.fetching.client import Client, open_client
from rowen.fetching.redirects import follow
from rowen.ports.converter import Converter
from rowen.ports.fetcher import Request, Response

MAX_PAGE_BYTES = 64_000_000
"""Of one page of a list; when there is more, a smaller page is asked for."""
RATE_LIMIT_RETRIES = 3
TOO_MUCH = (FetchTimeout, ServerFailed, ConnectionFailed, BodyTooLarge, Unparseable)
"""Errors that a smaller page may avoid."""
MIN_PAGE = 10
_GROW_AFTER = 3

_T = TypeVar("_T")


def address(location: str) -> str:
    """The address of an API as it is stored. Raises `BadLocation`."""
    credentials.refuse_in_address(location)
    text = location.strip()
    normal = urls.normalise(text if "://" in text else f"https://{text}")
    if normal is None or not urls.host_of(normal):
        raise BadLocation(f"location `{location}`: not an http or https address", location=location)
    return normal


def bad_location(home: str, exc: RowenError, hint: str | None = None) -> BadLocation:
    """The error for an API that did not answer as it should when its source was added."""
    hint = hint or exc.hint or "check the address, or use `--no-check` to add it all the same"
    return BadLocation(f"location `{home}`: {exc.message}", hint=hint, location=home)


class PageSize:
    """How many items to ask for: half as many after an error, twice as many after three pages without."""

    def __init__(self, largest: int, *, smallest: int = MIN_PAGE) -> None:
        self._smallest = min(smallest, largest)
        self._largest = largest
        self._quiet = 0
        self.current = largest

    def settle(self) -> None:
        """It stays as it is: pages that are numbered must all be of one size."""
        self._largest = self._smallest = self.current

    def went_well(self) -> None:
        self._quiet += 1
        if self._quiet >= _GROW_AFTER and self.current < self._largest:
            self._quiet = 0
            self.current = min(self.current * 2, self._largest)

    def shrink(self, received: int | None = None) -> bool:
        """False when it cannot be smaller. `received` is how many came last: the API gives no more."""
        self._quiet = 0
        if self.current <= self._smallest:
            return False
        self.current = max(min(self.current, received or self.current) // 2, self._smallest)
        return True


class ApiClient:
    def __init__(self, ports: Ports, client: Client, counters: Counters) -> None:
        self._ports = ports
        self._client = client
        self._counters = counters

    async def ask(
        self, url: str, *, accept: str = "application/json", validators: Validators | None = None
    ) -> Response:
        request = Request(url, validators or Validators(), {"Accept": accept})
        return (await follow(self._patiently, request, may_follow=self._count))[1]

    @property
    def converter(self) -> Converter:
        return self._ports.converter

    @property
    def server_time(self) -> datetime | None:
        """What the server's clock said with its first answer."""
        return self._client.server_time

    def _count(self, at: str, target: str) -> bool:
        self._counters.redirects += 1
        return True

    async def _patiently(self, request: Request) -> Response:
        for _ in range(RATE_LIMIT_RETRIES):
            try:
                return await self._client.ask(request)
            except RateLimited as exc:
                wait = exc.retry_after_s
                if wait is None or wait > self._ports.fetch.retry.max_wait_s:
                    raise
                await self._ports.clock.sleep(wait)
        return await self._client.ask(request)


@asynccontextmanager
async def open_api(
    ports: Ports,
    location: str,
    params: Mapping[str, Any],
    counters: Counters,
    *,
    max_body_bytes: int = MAX_PAGE_BYTES,
) -> AsyncIterator[ApiClient]:
    # A page that was too much for the API is asked for again in smaller pieces, not as it was.
    retry = replace(ports.fetch.retry, retries=min(1, ports.fetch.retry.retries))
    opened = open_client(ports, location, params, counters, max_body_bytes=max_body_bytes, retry=retry)
    async with opened as client:
        yield ApiClient(ports, client, counters)


async def ahead(pages: AsyncGenerator[_T, None]) -> AsyncGenerator[_T, None]:
    """The same pages; the next is asked for while this one is being taken in."""
    waiting = asyncio.ensure_future(_next(pages))
    try:
        while (page := await waiting) is not None:
            waiting = asyncio.ensure_future(_next(pages))
            yield page
    finally:
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await pages.aclose()


async def _next(pages: AsyncGenerator[_T, None]) -> _T | None:
    return await anext(pages, None)
