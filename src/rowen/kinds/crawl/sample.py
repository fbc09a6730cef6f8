"""A look at a site before its first harvest: how many pages it has, and what a dozen of them hold.

robots.txt is asked for and obeyed, then a few sitemaps, the root, and pages spread over what is known by
then. Nothing is stored.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from rowen.core.document import NO_VALIDATORS, Converted
from rowen.core.rules.words import count
from rowen.core.run import Counters
from rowen.core.source import Source
from rowen.core.web import urls
from rowen.core.web.scope import Scope
from rowen.engine.kind import Sample, SampledItem
from rowen.engine.ports import Ports
from rowen.errors import PermanentError, RateLimited, ServerFailed, TransientError, Unfetchable, Unparseable
from rowen.fetching import robots, sitemap
from rowen.fetching.client import Client, open_client
from rowen.fetching.redirects import follow
from rowen.kinds import sampling
from rowen.kinds.crawl.pages import DELIVERED, Pages
from rowen.kinds.crawl.refusals import closed
from rowen.ports.fetcher import Request

MAX_SITEMAPS = 4
"""So many files are read; what the others name is reckoned from them."""
PATIENCE_S = 30.0
"""A robots.txt that asks for a long time between requests gets fewer of them."""
MAX_FAILURES = 3
"""So many pages in a row that cannot be had end the sample."""


async def sample(ports: Ports, source: Source, settings: Mapping[str, Any], pages: Pages) -> Sample:
    """Raises what the first request for the site raises."""
    counters = Counters()
    async with open_client(ports, source.location, settings, counters) as client:
        look = _Look(ports, source, settings, pages, client)
        made = await look.run()
    return replace(made, requests=counters.requests)


class _Look:
    def __init__(
        self, ports: Ports, source: Source, settings: Mapping[str, Any], pages: Pages, client: Client
    ) -> None:
        self._ports = ports
        self._source = source
        self._settings = settings
        self._pages = pages
        self._client = client
        self._scope = Scope.from_settings(source.location, settings)
        self._rules = robots.ALLOW_ALL
        self._known: dict[str, None] = {}
        """Addresses of pages, as they were found."""
        self._beyond = 0
        """Pages that sitemaps which were not read may name."""
        self._sitemaps = [0, 0]
        """How many were read, how many there are."""
        self._read: list[SampledItem] = []
        self._tried = 0

    async def run(self) -> Sample:
        root = self._source.location
        if self._settings["robots"]:
            await self._hear_robots()
        self._know([root])
        if not self._known:
            raise closed(self._source)
        if self._settings.get("sitemap"):
            await self._read_sitemaps()
        listed = len(self._known) > 1
        most = self._most()
        # The root is asked for in any case: what it raises is what a harvest would say of this site.
        self._know((await self._page(root)).links)
        rest = [url for url in self._known if url != root]
        failures = 0
        for url in sampling.evenly(rest, most - 1):
            try:
                self._know((await self._page(url)).links)
                failures = 0
            except RateLimited:
                break
            except (TransientError, PermanentError):
                failures += 1
                if failures == MAX_FAILURES:
                    break
        return Sample(
            items=min(len(self._known) + self._beyond, self._settings["max_pages"]),
            exact=False,
            whence=self._whence(listed=listed),
            read=tuple(self._read),
            tried=self._tried,
        )

    def _whence(self, *, listed: bool) -> str:
        if not listed:
            return "the pages that were read link to them, and more may lie behind"
        read, there = self._sitemaps
        if read < there:
            return f"reckoned from {read} of {count(there, 'sitemap')}"
        return "its sitemap and the pages that were read name them"

    async def _hear_robots(self) -> None:
        url = urls.origin_of(self._source.location) + "/robots.txt"
        try:
            request = Request(url, first_bytes=robots.MAX_BYTES + 1)
            _, answer = await follow(self._client.ask, request)
        except PermanentError:
            return
        rules = robots.from_answer(answer.status, answer.body)
        if rules is None:
            raise ServerFailed(
                f"`{url}`: {answer.status} from the server",
                hint=robots.NOT_NOW,
                url=url,
                status=answer.status,
            )
        self._rules = rules
        delay_s = rules.crawl_delay_s(self._ports.fetch.user_agent) or 0.0
        self._client.slow_down(urls.host_of(url), min(delay_s, self._settings["max_crawl_delay_s"]))

    def _most(self) -> int:
        """How many pages are asked for."""
        delay_s = self._client.delay_s(urls.host_of(self._source.location))
        return sampling.ITEMS if not delay_s else max(1, min(sampling.ITEMS, int(PATIENCE_S / delay_s)))

    async def _read_sitemaps(self) -> None:
        location = self._source.location
        host = urls.host_of(location)
        named = [urls.normalise(url, location) for url in self._rules.sitemaps]
        waiting = deque(
            [url for url in named if url and urls.host_of(url) == host]
            or [urls.origin_of(location) + "/sitemap.xml"]
        )
        met = set(waiting)
        lists = 0
        before = len(self._known)
        while waiting and self._sitemaps[0] < MAX_SITEMAPS:
            found = await self._sitemap(waiting.popleft())
            if found is None:
                continue
            self._sitemaps[0] += 1
            self._know(found.urls)
            lists += bool(found.urls)
            children = [url for url in found.children if url not in met and urls.host_of(url) == host]
            met.update(children)
            # Those that will be read are spread over all of them.
            chosen = sampling.evenly(children, MAX_SITEMAPS - self._sitemaps[0])
            waiting.extend(dict.fromkeys((*chosen, *children)))
        self._sitemaps[1] = self._sitemaps[0] + len(waiting)
        if lists:
            self._beyond = round((len(self._known) - before) / lists * len(waiting))

    async def _sitemap(self, url: str) -> sitemap.Sitemap | None:
        try:
            _, answer = await follow(self._client.ask, Request(url, first_bytes=sitemap.MAX_BYTES))
            if answer.status != 200:
                return None
            return await asyncio.to_thread(sitemap.parse, answer.body, base=url)
        except (TransientError, PermanentError):
            return None

    def _know(self, found: Iterable[str]) -> None:
        agent = self._ports.fetch.user_agent
        own = urls.origin_of(self._source.location)
        for url in found:
            if url in self._known or self._scope.why_not(url) or self._pages.why_not(url):
                continue
            # Only the rules of the source's own host are known here.
            if urls.origin_of(url) != own or self._rules.allows(url, agent):
                self._known[url] = None

    async def _page(self, url: str) -> Converted:
        self._tried += 1

        def inside(at: str, target: str) -> bool:
            return self._scope.why_not(target) is None

        request = self._pages.request(url, NO_VALIDATORS)
        at, answer = await follow(self._client.ask, request, may_follow=inside, at_most=2)
        if answer.status not in DELIVERED or answer.refused:
            what = self._pages.refusal if answer.refused else f"{answer.status} from the server"
            raise Unfetchable(f"`{url}`: {what.replace('_', ' ')}", url=url)
        content_type = answer.headers.get("content-type", "")
        converted = await self._ports.converter.convert(answer.body, content_type=content_type, url=at)
        if not converted.text.strip() and not converted.links:
            raise Unparseable(f"`{url}`: no text in it", url=url)
        self._read.append(sampling.item(converted.text, body_bytes=answer.bytes_received))
        return converted
