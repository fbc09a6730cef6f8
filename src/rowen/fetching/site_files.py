"""What a site says about itself: robots.txt of each of its hosts, its sitemaps, and the names it documents.

All are asked for conditionally and remembered. A file that cannot be had now counts as it was last time; a
sitemap that cannot be had also makes the run's list of pages incomplete. A file that is not there is asked
for again after a day, or by a full sync.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from rowen.core.document import NO_VALIDATORS, Validators
from rowen.core.rules.clocks import is_ahead
from rowen.core.rules.left_out import SITEMAP_TOO_LONG, SITEMAP_UNREAD
from rowen.core.web import urls
from rowen.engine.intake import Intake
from rowen.errors import PermanentError, RateLimited, ServerFailed, TransientError, Unfetchable, Unparseable
from rowen.fetching import inventory, sitemap
from rowen.fetching import robots as robots_rules
from rowen.fetching.client import Client
from rowen.fetching.redirects import follow
from rowen.fetching.robots import Robots
from rowen.ports.clock import Clock
from rowen.ports.fetcher import Request, Response
from rowen.ports.store.documents import Documents, Listing

MAX_SITEMAPS = 200
"""So many files are read for a source, and no further one once there are as many addresses as count."""
ABSENT = frozenset({404, 410})
ABSENT_SINCE = "absent_since"
"""In place of a file's content in its listing: when it was missed; None if it was there before."""
LASTMODS = "lastmods"
"""In the listing of a sitemap: one for each address, or none at all. Earlier versions remembered none."""
LOOK_AGAIN = timedelta(days=1)
"""As long as RFC 9309 allows a robots.txt to be remembered."""
_LIKE_A_SITEMAP = re.compile(rb"<(?:\w+:)?(?:urlset|sitemapindex)\b")


class SiteFiles:
    def __init__(
        self,
        store: Documents,
        client: Client,
        intake: Intake,
        remembered: Mapping[str, Listing],
        clock: Clock,
        *,
        agent: str,
        obeys: bool = True,
        from_memory: bool = False,
        max_delay_s: float = math.inf,
    ) -> None:
        """`remembered` are the source's stored listings.

        Without `obeys` everything is allowed, and no robots.txt is asked for. With `from_memory` a robots.txt
        of an earlier run will do: for a run that asks for a few pages. The delay that a robots.txt asks for
        is kept up to `max_delay_s`.
        """
        self._store = store
        self._client = client
        self._intake = intake
        self.remembered = remembered
        self._clock = clock
        self._agent = agent
        self._obeys = obeys
        self._from_memory = from_memory
        self._max_delay_s = max_delay_s
        self.hint: str | None = None
        """What a person should know of these files after the run."""
        self._heard: dict[str, Robots] = {}
        self._unheard: dict[str, TransientError] = {}
        """Hosts whose robots.txt could not be had."""
        self._gate = asyncio.Lock()
        self._some_forbid = False
        self.complete = True
        """Every sitemap that exists was read; without that, no page is an orphan."""
        self.listed: frozenset[str] = frozenset()
        """The addresses that sitemaps name."""
        self.lastmods: dict[str, str] = {}
        """When pages were last modified, as sitemaps write it; empty where two of them differ."""
        self.lastmods_before: dict[str, str] = {}
        """The same as it was remembered from the run before."""

    # robots.txt

    async def hear(self, url: str) -> Robots | None:
        """The robots.txt of an address's host, asked for once a run; None where none is obeyed.

        Raises `TransientError` when it cannot be had now and never was: then the host is not asked at all.
        """
        if not self._obeys:
            return None
        origin = urls.origin_of(url)
        host = _host(origin)
        if host in self._heard:
            return self._heard[host]
        async with self._gate:
            if host in self._unheard:
                raise self._unheard[host]
            if host not in self._heard:
                try:
                    robots = await self._robots(origin + "/robots.txt")
                except TransientError as exc:
                    self._unheard[host] = exc
                    raise
                self._heard[host] = robots
                self._some_forbid = self._some_forbid or robots.binds
                self._slow_down(urls.host_of(url), robots.crawl_delay_s(self._agent) or 0.0)
        return self._heard[host]

    def _slow_down(self, host: str, delay_s: float) -> None:
        if delay_s > self._max_delay_s:
            self.hint = robots_rules.capped(host, delay_s, self._max_delay_s)
            delay_s = self._max_delay_s
        self._client.slow_down(host, delay_s)

    def heard(self, url: str) -> Robots | None:
        """The robots.txt of an address's host, if it was asked for in this run."""
        return self._heard.get(_host(urls.origin_of(url)))

    def forbid(self, url: str) -> bool:
        """Does robots.txt forbid an address, as far as its host's file was asked for?"""
        if not self._some_forbid:
            return False
        robots = self.heard(url)
        return robots is not None and not robots.allows(url, self._agent)

    async def _robots(self, url: str) -> Robots:
        remembered = self._file(url)
        if self._from_memory and remembered is not None:
            return Robots.parse(remembered.payload)
        if self._is_absent(url):
            return robots_rules.ALLOW_ALL
        try:
            # One byte more than is read, to tell a file that goes on from one that ends there.
            response = await self._ask(url, first_bytes=robots_rules.MAX_BYTES + 1)
        except TransientError as exc:
            if remembered is None:
                # Where no answer comes at all, no setting about robots.txt helps.
                answered = isinstance(exc, ServerFailed | RateLimited)
                exc.hint = exc.hint or (robots_rules.NOT_NOW if answered else robots_rules.NO_ANSWER)
                raise
            return self._as_before(remembered)
        except PermanentError:
            return robots_rules.ALLOW_ALL
        if response.status == 304 and remembered is not None:
            await self._still_stands(remembered, response)
            return Robots.parse(remembered.payload)
        robots = robots_rules.from_answer(response.status, response.body)
        if robots is None and remembered is not None:
            return self._as_before(remembered)
        if robots is None:
            raise ServerFailed(
                f"`{url}`: {response.status} from the server",
                hint=robots_rules.NOT_NOW,
                url=url,
                status=response.status,
            )
        if response.status == 200:
            await self._remember(url, response.validators, robots.text)
        elif response.status in ABSENT:
            await self._remember_absent(url)
        return robots

    def _as_before(self, remembered: Listing) -> Robots:
        self.hint = robots_rules.as_before(urls.host_of(remembered.url))
        return Robots.parse(remembered.payload)

    # sitemaps

    async def sitemaps(self, location: str, robots: Robots | None, *, max_urls: int = 0) -> list[str]:
        """The addresses that the sitemaps of the location's host name, in their order.

        At most `sitemap.MAX_URLS`, or `max_urls` if that is more; what is left out is counted.
        """
        host, ignored = urls.host_of(location), self._intake.counters.ignored
        limit = max(max_urls, sitemap.MAX_URLS)
        given = [urls.normalise(url, location) for url in (robots.sitemaps if robots else ())]
        guess = urls.origin_of(location) + "/sitemap.xml"
        waiting = deque([url for url in given if url] or [guess])
        met = set(waiting)
        read = 0
        found: dict[str, None] = {}
        while waiting and read < MAX_SITEMAPS and len(found) < limit:
            url = waiting.popleft()
            if urls.host_of(url) != host:
                ignored["sitemap_of_another_host"] += 1
                continue
            read += 1
            payload = await self._sitemap(url, limit, named=bool(given) or url != guess)
            found.update(dict.fromkeys(payload["urls"]))
            _note(self.lastmods, payload)
            if (remembered := self._file(url)) is not None:
                _note(self.lastmods_before, remembered.payload)
            ignored[SITEMAP_TOO_LONG] += payload.get("left_out", 0)
            children = [child for child in dict.fromkeys(payload["children"]) if child not in met]
            met.update(children)
            waiting += children
        listed = list(found)
        self.listed = frozenset(found)
        ignored[SITEMAP_TOO_LONG] += len(listed[limit:])
        ignored[SITEMAP_UNREAD] += len(waiting)
        return listed[:limit]

    async def _sitemap(self, url: str, max_urls: int, *, named: bool) -> dict[str, Any]:
        """`named` says that robots.txt or another sitemap names it: it is not a guess."""
        nothing: dict[str, Any] = {"urls": [], "children": []}
        remembered = self._file(url)
        as_before = dict(remembered.payload) if remembered else nothing
        if self._is_absent(url):
            return nothing
        try:
            response = await self._ask(url, first_bytes=sitemap.MAX_BYTES)
            if response.status == 304 and remembered is not None:
                await self._still_stands(remembered, response)
                return as_before
            if response.status in ABSENT:
                await self._remember_absent(url)
                return nothing
            if response.status != 200:
                raise Unfetchable(f"sitemap `{url}`: {response.status} from the server", url=url)
            parsed = await asyncio.to_thread(sitemap.parse, response.body, base=url, max_urls=max_urls)
        except Unparseable as exc:
            if remembered is not None:
                self._incomplete(url, exc)
            elif named or _LIKE_A_SITEMAP.search(response.body[:1_000]):
                self._intake.counters.ignored[SITEMAP_UNREAD] += 1
                self.hint = "; ".join(filter(None, (self.hint, exc.message)))
            # Many sites answer any address with a page; that is no sitemap, and no reason to stop.
            return as_before
        except (TransientError, PermanentError) as exc:
            self._incomplete(url, exc)
            return as_before
        listed = dict(zip(parsed.urls, parsed.lastmods, strict=True))
        if parsed.newest_only:
            # What a feed does not name any more is listed without a date, and goes when it does not answer.
            for page in as_before["urls"][: max(0, max_urls - len(listed))]:
                listed.setdefault(page, "")
        payload = {
            "urls": list(listed),
            LASTMODS: list(listed.values()) if any(listed.values()) else [],
            "children": list(parsed.children),
            "left_out": parsed.left_out,
        }
        await self._remember(url, response.validators, payload)
        return payload

    def _incomplete(self, url: str, exc: TransientError | PermanentError) -> None:
        self.complete = False
        self._intake.failed(url, exc)

    # the inventory of names

    @property
    def known_inventory(self) -> str | None:
        """The address of the inventory, if one was asked for before."""
        return next((url for url in self.remembered if url.endswith(f"/{inventory.FILE}")), None)

    async def inventory(self, url: str) -> None:
        """Ask for the names that a site documents; what cannot be had or read leaves them as they were."""
        if self._is_absent(url) or self.forbid(url):
            return
        remembered = self._file(url)
        try:
            response = await self._ask(url, first_bytes=inventory.MAX_BYTES)
            if response.status == 304 and remembered is not None:
                await self._still_stands(remembered, response)
                return
            is_one = response.status == 200 and response.body.startswith(inventory.HEAD)
            if not is_one and response.status not in {200, *ABSENT}:
                raise Unfetchable(f"inventory `{url}`: {response.status} from the server", url=url)
            names = await asyncio.to_thread(inventory.parse, response.body, base=url) if is_one else []
        except (TransientError, PermanentError) as exc:
            self._intake.counters.ignored["inventory_unread"] += 1
            self.hint = "; ".join(filter(None, (self.hint, exc.message)))
            return
        if is_one:
            listing = Listing(url=url, validators=response.validators, payload={"names": len(names)})
        else:
            # Sites that answer any address with a page have none either.
            listing = self._absence(url)
        if is_one or remembered is None:
            await self._store.save_inventory(self._intake.lease, self._intake.run.source_id, listing, names)
        else:
            await self._remember(url, listing.validators, listing.payload)

    # all of them

    async def _ask(self, url: str, *, first_bytes: int | None = None) -> Response:
        """Ask for a file where it stands, or where it redirects to on the same host."""
        remembered = self._file(url)
        request = Request(url, first_bytes=first_bytes)
        if remembered is not None and not self._intake.unconditional and not _lacks_lastmods(remembered):
            request = replace(request, validators=remembered.validators)
        return (await follow(self._client.ask, request, may_follow=_on_one_host))[1]

    def _file(self, url: str) -> Listing | None:
        """What is remembered of a file that was there when it was last asked for."""
        remembered = self.remembered.get(url)
        return None if remembered is None or _says_absent(remembered) else remembered

    def _is_absent(self, url: str) -> bool:
        """Was it missing less than a day ago?"""
        remembered = self.remembered.get(url)
        if remembered is None or not _says_absent(remembered) or self._intake.unconditional:
            return False
        since, now = remembered.payload[ABSENT_SINCE], self._clock.now()
        if since is None or is_ahead(at := datetime.fromisoformat(since), now):
            return False
        return now - at < LOOK_AGAIN

    async def _remember_absent(self, url: str) -> None:
        """A file that was there may be missing for a moment only: the next run asks once more."""
        absence = self._absence(url)
        await self._remember(url, absence.validators, absence.payload)

    def _absence(self, url: str) -> Listing:
        since = None if self._file(url) else self._clock.now().isoformat()
        return Listing(url=url, validators=NO_VALIDATORS, payload={ABSENT_SINCE: since})

    async def _still_stands(self, remembered: Listing, response: Response) -> None:
        """A 304 may bring other validators than those it was asked with."""
        validators = remembered.validators.updated_by(response.validators)
        await self._remember(remembered.url, validators, remembered.payload)

    async def _remember(self, url: str, validators: Validators, payload: Any) -> None:
        listing = Listing(url=url, validators=validators, payload=payload)
        if self.remembered.get(url) != listing:
            await self._store.save_listing(self._intake.lease, self._intake.run.source_id, listing)


def _says_absent(listing: Listing) -> bool:
    # The payload of a robots.txt is its text.
    return isinstance(listing.payload, dict) and ABSENT_SINCE in listing.payload


def _lacks_lastmods(listing: Listing) -> bool:
    """Is it a sitemap that was read by a version that read no dates?"""
    payload = listing.payload
    return isinstance(payload, dict) and "urls" in payload and LASTMODS not in payload


def _note(lastmods: dict[str, str], payload: Mapping[str, Any]) -> None:
    for url, lastmod in zip(payload["urls"], payload.get(LASTMODS, ()), strict=False):
        lastmods[url] = lastmod if lastmods.get(url, lastmod) == lastmod else ""


def _host(origin: str) -> str:
    """With its port; http and https are one here, as they are in a scope."""
    return origin.partition("://")[2]


def _on_one_host(at: str, target: str) -> bool:
    return urls.host_of(at) == urls.host_of(target)
