"""Asking a server what is there before a source is written down."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rowen.core import robots, urls
from rowen.errors import AddressRefused, BadLocation, HostUnknown, PermanentError, TransientError
from rowen.flows.harvest import Prepared
from rowen.flows.tools import Tools
from rowen.ports.fetcher import Fetcher, FetcherOptions, Request, Response

MAX_REDIRECTS = 5


async def prepare(tools: Tools, location: str, *, settings: Mapping[str, Any], check: bool) -> Prepared:
    """A web site, by the address of its root."""
    address = _address(location)
    if not check:
        return Prepared(kind="web", location=address)
    final, findings = await _probe(tools, address)
    return Prepared(kind="web", location=final, findings=tuple(findings))


def _address(location: str) -> str:
    shown = urls.without_credentials(location)
    if shown != location:
        raise BadLocation(
            f"location `{shown}`: holds a user name or password, which would be stored in clear",
            hint="leave it out of the address",
        )
    normal = urls.normalise(location.strip())
    if normal is not None and urls.host_of(normal):
        return normal
    guess = urls.normalise(f"https://{location.strip()}") if "://" not in location else None
    hint = f"did you mean `{guess}`?" if guess and "." in urls.host_of(guess) else None
    raise BadLocation(f"location `{shown}`: not an http or https address", hint=hint, location=shown)


async def _probe(tools: Tools, location: str) -> tuple[str, list[str]]:
    """Ask the server what is there; answers the address that answered, and what was found."""
    options = FetcherOptions(
        typed_location=location,
        allow_private=tools.fetch.allow_private,
        user_agent=tools.fetch.user_agent,
        timeout_s=tools.fetch.timeout_s,
        max_body_bytes=tools.fetch.max_body_bytes,
    )
    findings: list[str] = []
    async with tools.open_fetcher(options) as fetcher:
        final, response = await _arrive(fetcher, location)
        if final != location:
            findings.append(f"`{location}` redirects to `{final}`, which is the source's address now")
        content_type = response.headers.get("content-type", "")
        if not tools.converter.handles(content_type, final):
            raise BadLocation(
                f"location `{final}`: answers with `{content_type or 'no type'}`, which cannot be indexed",
                location=final,
            )
        findings.append(f"a web page ({content_type.split(';')[0] or 'no type given'}): kind `web`")
        validators = response.validators
        if validators:
            names = " and ".join(
                n for n, v in (("ETag", validators.etag), ("Last-Modified", validators.last_modified)) if v
            )
            findings.append(f"{names}: an unchanged page will cost one small request")
        else:
            findings.append("no ETag or Last-Modified: pages are downloaded each time and compared")
        findings += await _about_the_site(fetcher, final, tools.fetch.user_agent)
    return final, findings


async def _arrive(fetcher: Fetcher, location: str) -> tuple[str, Response]:
    at = location
    for _ in range(MAX_REDIRECTS + 1):
        response = await _ask(fetcher, at)
        if response.status == 200:
            return at, response
        target = urls.normalise(response.headers.get("location", ""), at)
        if response.status not in (301, 302, 303, 307, 308) or target is None:
            raise BadLocation(
                f"location `{at}`: {response.status} from the server",
                hint="check the address in a browser, or use `--no-check` to add it all the same",
                status=response.status,
            )
        at = target
    raise BadLocation(f"location `{location}`: more than {MAX_REDIRECTS} redirects")


async def _ask(fetcher: Fetcher, url: str) -> Response:
    try:
        return await fetcher.fetch(Request(url))
    except HostUnknown as exc:
        raise BadLocation(f"location `{url}`: no such host", hint="check the spelling", location=url) from exc
    except AddressRefused as exc:
        raise BadLocation(exc.message, hint=exc.hint, location=url) from exc
    except (TransientError, PermanentError) as exc:
        raise BadLocation(
            f"location `{url}`: the server does not answer: {exc.message}",
            hint="try again later, or use `--no-check` to add it all the same",
            location=url,
        ) from exc


async def _about_the_site(fetcher: Fetcher, location: str, agent: str) -> list[str]:
    """robots.txt and sitemap, as far as they can be had; a source can be added without them."""
    findings: list[str] = []
    origin = urls.origin_of(location)
    try:
        response = await fetcher.fetch(Request(origin + "/robots.txt"))
        rules = robots.from_answer(response.status, response.body)
        if rules and response.status == 200:
            if not rules.allows(location, agent):
                findings.append(
                    "robots.txt forbids this address: nothing is indexed unless `robots=false` is set"
                )
            delay_s = rules.crawl_delay_s(agent)
            findings.append("robots.txt" + (f": {delay_s:g} s between requests" if delay_s else ""))
        sitemap = next(iter(rules.sitemaps), None) if rules else None
        response = await fetcher.fetch(
            Request(sitemap or origin + "/sitemap.xml", wanted=lambda status, headers: False)
        )
        if response.status == 200 and "html" not in response.headers.get("content-type", ""):
            findings.append("a sitemap: its pages are found even where nothing links to them")
    except (TransientError, PermanentError):
        pass
    return findings
