"""What the hosts of a crawl allow: robots.txt of each, heard when the first page of it comes up."""

from __future__ import annotations

import asyncio

from rowen.core.source import Source
from rowen.core.web import urls
from rowen.engine.ports import Ports
from rowen.errors import TransientError
from rowen.fetching.client import Client
from rowen.fetching.robots import Robots
from rowen.fetching.site_files import Listings
from rowen.kinds.crawl.named import robots_at_hand


class Permission:
    def __init__(
        self,
        ports: Ports,
        source: Source,
        client: Client,
        listings: Listings,
        *,
        minded: bool,
        at_hand: bool,
    ) -> None:
        """Without `minded` everything is allowed; with `at_hand` what was heard in earlier runs will do."""
        self._ports = ports
        self._source = source
        self._client = client
        self._listings = listings
        self._minded = minded
        self._at_hand = at_hand
        self._heard: dict[str, Robots] = {}
        self._silent: dict[str, TransientError] = {}
        """Hosts that did not say what they allow."""
        self._gate = asyncio.Lock()

    async def hear(self, url: str) -> Robots | None:
        """Raises `TransientError` when its host has never said what is allowed: then it is not asked."""
        host = _host(url)
        if not self._minded or host in self._heard:
            return self._heard.get(host)
        async with self._gate:
            if host in self._silent:
                raise self._silent[host]
            if host not in self._heard:
                try:
                    self._heard[host] = await self._ask(url)
                except TransientError as exc:
                    self._silent[host] = exc
                    raise
        return self._heard[host]

    def heard(self, url: str) -> Robots | None:
        """What its host said, if it was heard."""
        return self._heard.get(_host(url))

    def closes(self, url: str) -> bool:
        """Is it forbidden, as far as its host was heard?"""
        robots = self.heard(url)
        return robots is not None and not robots.allows(url, self._ports.fetch.user_agent)

    async def _ask(self, url: str) -> Robots:
        at_hand = await robots_at_hand(self._ports.store, self._source, url) if self._at_hand else None
        robots = at_hand or await self._listings.robots(url)
        delay_s = robots.crawl_delay_s(self._ports.fetch.user_agent)
        if delay_s:
            self._client.slow_down(urls.host_of(url), delay_s)
        return robots


def _host(url: str) -> str:
    """With its port; http and https are one here, as they are in a scope."""
    return urls.origin_of(url).partition("://")[2]
