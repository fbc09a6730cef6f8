"""Asking a server what is there before a source is written down, for the kinds that crawl."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from rowen.core.web import urls
from rowen.engine.ports import Ports
from rowen.errors import (
    AddressRefused,
    BadLocation,
    CertificateRefused,
    HostUnknown,
    PermanentError,
    TransientError,
    Unfetchable,
)
from rowen.fetching import credentials, robots
from rowen.fetching.client import open_fetcher
from rowen.fetching.redirects import follow
from rowen.ports.fetcher import Fetcher, Request, Response

MISTYPED = frozenset(("htp", "htps", "htpp", "htpps", "httpp", "httpps", "httsp", "ttp", "ttps", "hhttps"))


class Probe:
    def __init__(self, ports: Ports, fetcher: Fetcher, settings: Mapping[str, Any]) -> None:
        self.ports = ports
        self.fetcher = fetcher
        self.settings = settings

    @classmethod
    @asynccontextmanager
    async def open(cls, ports: Ports, location: str, settings: Mapping[str, Any]) -> AsyncIterator[Probe]:
        async with open_fetcher(ports, location, settings) as fetcher:
            yield cls(ports, fetcher, settings)

    async def follow(self, request: Request) -> tuple[str, Response]:
        """The last address of a chain of redirects, and what it answered."""
        try:
            return await follow(self._ask, request, may_follow=self._may_follow)
        except Unfetchable as exc:
            raise BadLocation(f"location {exc.message}", location=request.url) from exc

    def _may_follow(self, at: str, target: str) -> bool:
        given = any(self.settings.get(spec.name) for spec in credentials.PARAMS)
        if given and urls.origin_of(at) != urls.origin_of(target):
            raise BadLocation(
                f"location `{at}`: redirects to `{target}`, another host, which does not get the credentials",
                hint=f"if they are meant for it, add `{target}`",
                location=at,
            )
        return True

    async def _ask(self, request: Request) -> Response:
        url = request.url
        try:
            return await self.fetcher.fetch(request)
        except HostUnknown as exc:
            raise BadLocation(
                f"location `{url}`: no such host", hint="check the spelling", location=url
            ) from exc
        except AddressRefused as exc:
            raise BadLocation(exc.message, hint=exc.hint, location=url) from exc
        except CertificateRefused as exc:
            raise BadLocation(f"location {exc.message}", hint=exc.hint, location=url) from exc
        except (TransientError, PermanentError) as exc:
            raise BadLocation(
                f"location `{url}`: the server does not answer: {exc.message}",
                hint="try again later, or use `--no-check` to add it all the same",
                location=url,
            ) from exc

    async def about_the_site(self, location: str, *, sitemap: bool) -> list[str]:
        """robots.txt and sitemap, as far as they can be had; a source can be added without them."""
        findings: list[str] = []
        origin, agent = urls.origin_of(location), self.ports.fetch.user_agent
        try:
            response = await self.fetcher.fetch(
                Request(origin + "/robots.txt", first_bytes=robots.MAX_BYTES + 1)
            )
            rules = robots.from_answer(response.status, response.body)
            if rules is None and self.settings.get("robots", True):
                findings.append(
                    f"robots.txt answers {response.status}: nothing is indexed until it can be read, unless"
                    " `robots=false` is set"
                )
            elif rules and response.status == 200:
                if not rules.allows(location, agent):
                    findings.append(
                        "robots.txt forbids this address: nothing is indexed unless `robots=false` is set"
                    )
                delay_s, longest_s = rules.crawl_delay_s(agent), self.settings["max_crawl_delay_s"]
                if delay_s and delay_s > longest_s:
                    findings.append(robots.capped(urls.host_of(origin), delay_s, longest_s))
                else:
                    findings.append("robots.txt" + (f": {delay_s:g} s between requests" if delay_s else ""))
            if sitemap:
                named = next(iter(rules.sitemaps), None) if rules else None
                response = await self.fetcher.fetch(
                    Request(named or origin + "/sitemap.xml", wanted=lambda status, headers: False)
                )
                if response.status == 200 and "html" not in response.headers.get("content-type", ""):
                    findings.append("a sitemap: its pages are found even where nothing links to them")
        except (TransientError, PermanentError):
            pass
        return findings


def address_of(location: str) -> str:
    credentials.refuse_in_address(location)
    normal = urls.normalise(location.strip())
    if normal is not None and urls.host_of(normal):
        return normal
    guess = urls.normalise(f"https://{location.strip()}") if "://" not in location else None
    hint = f"did you mean `{guess}`?" if guess and "." in urls.host_of(guess) else None
    scheme, mark, rest = location.strip().partition("://")
    if mark and rest and scheme.lower() in MISTYPED:
        hint = f"did you mean `https://{rest}`?"
    if not mark and " " in location.strip():
        # Nobody types an address with a space: it is a path, and one that does not exist.
        said = "no such file or folder, and not an http or https address"
        raise BadLocation(f"location `{location}`: {said}", location=location)
    raise BadLocation(f"location `{location}`: not an http or https address", hint=hint, location=location)


def folder_of(address: str) -> str:
    page = address.partition("?")[0]
    head, _, name = page.rpartition("/")
    return f"{head}/" if "." in name or not name else f"{page}/"


def about_validators(response: Response) -> str:
    validators = response.validators
    if not validators:
        return "this page has no ETag or Last-Modified: pages without are downloaded each time and compared"
    given = (("ETag", validators.etag), ("Last-Modified", validators.last_modified))
    names = " and ".join(name for name, value in given if value)
    return f"{names}: an unchanged page will cost one small request"
