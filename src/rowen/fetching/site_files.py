"""robots.txt and sitemaps: what a site says about itself, asked conditionally and remembered.

A listing that cannot be had now counts as it was last time, and the run knows that its picture is incomplete.
"""

from __future__ import annotations

from typing import Any

from rowen.core.document import Validators
from rowen.core.web import urls
from rowen.engine.intake import Intake
from rowen.errors import PermanentError, TransientError, Unfetchable, Unparseable
from rowen.fetching import robots as rules_of
from rowen.fetching import sitemap
from rowen.fetching.client import Client
from rowen.ports.fetcher import Request, Response
from rowen.ports.store.documents import Listing
from rowen.ports.store.store import Store

MAX_SITEMAPS = 200
MAX_REDIRECTS = 5
REDIRECTS = frozenset({301, 302, 303, 307, 308})
ABSENT = frozenset({404, 410})


class Listings:
    def __init__(self, store: Store, client: Client, intake: Intake) -> None:
        self._store = store
        self._client = client
        self._intake = intake
        self._remembered: dict[str, Listing] = {}
        self.complete = True
        """Every listing that exists was read; without that, nothing is an orphan."""

    async def load(self) -> None:
        self._remembered = await self._store.listings(self._intake.run.source_id)

    async def robots(self, location: str) -> rules_of.Robots:
        """Raises `TransientError` when nobody ever said what is allowed: then nothing is asked at all."""
        url = urls.origin_of(location) + "/robots.txt"
        remembered = self._remembered.get(url)
        try:
            response = await self._ask(url)
        except TransientError:
            if remembered is None:
                raise
            return rules_of.Robots.parse(remembered.payload)
        except PermanentError:
            return rules_of.ALLOW_ALL
        if response.status == 304 and remembered is not None:
            return rules_of.Robots.parse(remembered.payload)
        rules = rules_of.from_answer(response.status, response.body) or rules_of.ALLOW_ALL
        if response.status == 200:
            await self._remember(url, response.validators, rules.text)
        return rules

    async def sitemaps(self, location: str, rules: rules_of.Robots | None) -> list[str]:
        """Every address the site's sitemaps name."""
        host = urls.host_of(location)
        named = [urls.normalise(url, location) for url in (rules.sitemaps if rules else ())]
        waiting = [url for url in named if url] or [urls.origin_of(location) + "/sitemap.xml"]
        seen: set[str] = set()
        found: dict[str, None] = {}
        while waiting and len(seen) < MAX_SITEMAPS:
            url = waiting.pop(0)
            if url in seen or urls.host_of(url) != host:
                continue
            seen.add(url)
            payload = await self._sitemap(url)
            found.update(dict.fromkeys(payload["urls"]))
            waiting += payload["children"]
        # What we did not get to may name anything.
        self.complete = self.complete and not waiting
        return list(found)

    async def _sitemap(self, url: str) -> dict[str, Any]:
        nothing: dict[str, Any] = {"urls": [], "children": []}
        remembered = self._remembered.get(url)
        as_before = dict(remembered.payload) if remembered else nothing
        try:
            response = await self._ask(url)
            if response.status == 304 and remembered is not None:
                return as_before
            if response.status in ABSENT:
                return nothing
            if response.status != 200:
                raise Unfetchable(f"sitemap `{url}`: {response.status} from the server", url=url)
            parsed = sitemap.parse(response.body, base=url)
        except Unparseable as exc:
            # Many sites answer any address with a page; that is no sitemap, and no reason to stop.
            if remembered is not None:
                self._incomplete(url, exc)
            return as_before
        except (TransientError, PermanentError) as exc:
            self._incomplete(url, exc)
            return as_before
        payload = {"urls": [entry.url for entry in parsed.urls], "children": list(parsed.children)}
        await self._remember(url, response.validators, payload)
        return payload

    async def _ask(self, url: str) -> Response:
        """Ask for a listing where it stands or where it redirects to on the same host."""
        at = url
        for _ in range(MAX_REDIRECTS):
            response = await self._client.ask(Request(at, self._validators(url)))
            if response.status not in REDIRECTS:
                return response
            target = urls.normalise(response.headers.get("location", ""), at)
            if target is None or urls.host_of(target) != urls.host_of(url):
                return response
            at = target
        raise Unfetchable(f"`{url}`: more than {MAX_REDIRECTS} redirects", url=url)

    def _incomplete(self, url: str, exc: TransientError | PermanentError) -> None:
        self.complete = False
        self._intake.failed(url, exc)

    def _validators(self, url: str) -> Validators:
        remembered = self._remembered.get(url)
        return remembered.validators if remembered and not self._intake.unconditional else Validators()

    async def _remember(self, url: str, validators: Validators, payload: Any) -> None:
        listing = Listing(url=url, validators=validators, payload=payload)
        if self._remembered.get(url) != listing:
            await self._store.save_listing(self._intake.lease, self._intake.run.source_id, listing)
