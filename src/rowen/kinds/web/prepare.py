"""Adding a `web` source: what is at its address, and whether an llms.txt there serves better."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import Any

from rowen.core import params as parameters
from rowen.core.web import urls
from rowen.core.web.login import FEW_WORDS, is_login_address, is_login_page
from rowen.engine.kind import Prepared
from rowen.engine.ports import Ports
from rowen.errors import BadLocation, PermanentError, TransientError
from rowen.fetching import credentials
from rowen.kinds.crawl.probe import Probe, about_validators, address_of, folder_of
from rowen.kinds.crawl.refusals import FORBIDDEN
from rowen.kinds.llms.prepare import listed_markdown
from rowen.kinds.recognise.ask import portal_at
from rowen.kinds.web.pages import has_marks, needs_scripts
from rowen.kinds.web.render import Rendering
from rowen.ports.fetcher import Request, Response

NO_CHECK = "check the address in a browser, or use `--no-check` to add it all the same"


async def prepare(ports: Ports, location: str, *, settings: Mapping[str, Any], check: bool) -> Prepared:
    """A web site, by the address of its root."""
    address = address_of(location)
    if not check:
        return Prepared(kind="web", location=address)
    async with Probe.open(ports, address, settings) as probe:
        return await _site(probe, address)


async def guess(ports: Ports, location: str, *, settings: Mapping[str, Any], check: bool) -> Prepared:
    """A web site, the portal that it is, or the llms.txt it has where that serves better."""
    # A caller that sets `render` or `sitemap`, which only `web` has, means a crawl.
    if not check or settings["render"] or not settings["sitemap"]:
        return await prepare(ports, location, settings=settings, check=check)
    address = address_of(location)
    async with Probe.open(ports, address, settings) as probe:
        arrived = await probe.follow(Request(address))
        portal = await portal_at(
            probe, *arrived, unset=parameters.complete(ports.kinds.named("web").params, {})
        )
        if portal is not None:
            return portal
        site = await _site(probe, address, arrived)
        found = await listed_markdown(probe, dict.fromkeys((folder_of(address), folder_of(site.location))))
    if found is None:
        return site
    return found if isinstance(found, Prepared) else replace(site, findings=(found, *site.findings))


async def _site(probe: Probe, address: str, arrived: tuple[str, Response] | None = None) -> Prepared:
    final, response = await _arrive(probe, address, arrived or await probe.follow(Request(address)))
    content_type = response.headers.get("content-type", "")
    if not probe.ports.converter.handles(content_type, final):
        raise BadLocation(
            f"location `{final}`: answers with `{content_type or 'no type'}`, which cannot be indexed",
            location=final,
        )
    findings = []
    if final != address:
        findings.append(f"`{address}` redirects to `{final}`, which is the source's address now")
    findings.append(f"a web page ({content_type.split(';')[0] or 'no type given'}): kind `web`")
    findings += await _about_scripts(probe, final, response)
    findings.append(about_validators(response))
    findings += await probe.about_the_site(final, sitemap=True)
    return Prepared(kind="web", location=final, findings=tuple(findings))


async def _arrive(probe: Probe, location: str, arrived: tuple[str, Response]) -> tuple[str, Response]:
    """The address that answered, and its answer. Raises `BadLocation`."""
    at, response = arrived
    if response.status == 200:
        await _refuse_login(probe, location, at, response)
        return at, response
    forbidden = response.status in FORBIDDEN
    raise BadLocation(
        f"location `{at}`: {response.status} from the server",
        hint=credentials.hint(probe.settings) if forbidden else NO_CHECK,
        status=response.status,
    )


async def _refuse_login(probe: Probe, location: str, at: str, response: Response) -> None:
    """A site that sends everybody to its login page first would be a source of one page."""
    led = at != location and is_login_address(at)
    text = ""
    with suppress(TransientError, PermanentError):
        content_type = response.headers.get("content-type", "")
        text = (await probe.ports.converter.convert(response.body, content_type=content_type, url=at)).text
    elsewhere = urls.origin_of(at) != urls.origin_of(location)
    if is_login_page(response.body, text) or (led and (elsewhere or len(text.split()) < FEW_WORDS)):
        page = at.partition("?")[0]
        said = f"redirects to the login page `{page}`" if at != location else "is a login page"
        raise BadLocation(
            f"location `{location}`: {said}", hint=credentials.hint(probe.settings), location=location
        )


async def _about_scripts(probe: Probe, url: str, response: Response) -> list[str]:
    """Does the page need a browser, and does the browser work?"""
    converter, content_type = probe.ports.converter, response.headers.get("content-type", "")
    if not probe.settings["render"] and not has_marks(response.body):
        return []
    try:
        plain = (await converter.convert(response.body, content_type=content_type, url=url)).text
        if probe.settings["render"]:
            async with aclosing(Rendering(probe.ports, url, probe.fetcher.fetch)) as rendering:
                body = await rendering.page(url, response)
            drawn = (await converter.convert(body, content_type="text/html; charset=utf-8", url=url)).text
            words, before = len(drawn.split()), len(plain.split())
            return [f"rendered by a browser: {words} words on its first page, {before} without"]
    except (TransientError, PermanentError) as exc:
        return [f"its scripts could not be tried: {exc.message}"]
    if needs_scripts(response.body, plain):
        return ["this page looks empty until its scripts have run: try `--set render=true`"]
    return []
