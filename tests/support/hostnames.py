"""Names of hosts that lead to the sites of a test, in the place of a name server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from rowen.adapters.http import open_fetcher
from rowen.ports.fetcher import Fetcher, FetcherOptions, Request, Response
from tests.support.site import Site


def to(hosts: Mapping[str, Site]) -> Any:
    """Names that lead to the sites of a test."""

    @asynccontextmanager
    async def opened(options: FetcherOptions) -> AsyncIterator[Fetcher]:
        async with open_fetcher(replace(options, allow_private=True)) as fetcher:

            class Led:
                async def fetch(self, request: Request) -> Response:
                    host, _, path = request.url.removeprefix("http://").partition("/")
                    there = replace(request, url=f"{hosts[host].url}/{path}")
                    return replace(await fetcher.fetch(there), url=request.url)

            yield Led()

    return opened
