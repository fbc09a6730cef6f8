"""What Rowen would make of one address. Nothing is stored.

The address is asked once, as a crawl would ask it, with robots.txt before it. Addresses follow the same rules
as those of `add`: what the operator typed may be private, what came over the network may not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from rowen.core import params as parameters
from rowen.core.document import Converted, Validators
from rowen.core.rules import words
from rowen.core.section import Section
from rowen.core.source import Source
from rowen.core.split import passages, split
from rowen.core.web import urls
from rowen.core.web.login import is_login_page
from rowen.core.web.page_text import count_words, left_out, lines_of
from rowen.core.web.scope import Scope
from rowen.engine import confine
from rowen.engine.ports import Ports
from rowen.errors import PermanentError, TransientError, Unparseable
from rowen.fetching import credentials, robots
from rowen.fetching.client import open_fetcher
from rowen.fetching.redirects import follow
from rowen.kinds.crawl.probe import about_validators, address_of
from rowen.kinds.web.pages import needs_scripts
from rowen.ports.fetcher import Fetcher, Request, Response
from rowen.records import dataclass

CUT_SHOWN = 100
"""Blocks of a page that were left out; more are only counted."""

SCRIPTED = "it looks empty until its scripts have run: try `render=true`"


class Link(NamedTuple):
    url: str
    why_not: str | None
    """None for one that a crawl would follow, else the reason: `out_of_scope`, `excluded`, `robots`, ..."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Robots:
    """What the robots.txt of the host says about this address."""

    allowed: bool
    says: str
    """In words."""
    delay_s: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Inspection:
    url: str
    """The address that was asked for, normalised."""
    final_url: str
    """The one that answered, after redirects."""
    redirects: tuple[str, ...]
    """The addresses in between, in order."""
    status: int
    content_type: str
    validators: Validators
    about_validators: str
    """What an unchanged page will cost, in words."""
    robots: Robots
    why_not: str | None
    """Why it would not be indexed, in words; None when it would."""
    body_bytes: int
    bytes_received: int
    """The same as it came over the wire."""
    title: str = ""
    markdown: str = ""
    canonical: str | None = None
    metadata: Mapping[str, Any]
    sections: tuple[Section, ...] = ()
    passages: int = 0
    """Different texts that would be stored and embedded."""
    links: tuple[Link, ...] = ()
    links_left_out: int = 0
    """Links behind the first ones that are kept."""
    page_words: int = 0
    """Of the whole page, navigation included; 0 for what is no HTML."""
    cut: tuple[str, ...] = ()
    """Blocks of the page that are not in the Markdown, the first of them."""
    cut_words: int = 0
    scripted: bool = False
    """It looks empty until its scripts have run."""

    @property
    def verdict(self) -> str:
        """One line for a person."""
        if self.why_not is not None:
            return f"would not be indexed: {self.why_not}"
        inside = sum(link.why_not is None for link in self.links)
        said = (
            f"would be indexed: {words.count(len(self.sections), 'section')},"
            f" {words.count(self.passages, 'passage')},"
            f" {inside:,} of {words.count(len(self.links), 'link')} would be followed"
        )
        return f"{said}; {SCRIPTED}" if self.scripted else said


async def inspect(ports: Ports, url: str, *, source: Source | None = None, typed: bool = False) -> Inspection:
    """Ask for one address and say what would become of it; raises `BadLocation` or what the fetch raises.

    `typed` says that the operator of this machine typed the address, which may then be private. With `source`
    its settings decide: scope, patterns, robots. Its credentials are used only for a typed address.
    """
    address = address_of(url)
    asking = ports if typed and (source is None or source.is_typed) else confine.limited(ports)
    settings = _settings(ports, source, secrets=asking is ports)
    own = source is not None and urls.origin_of(source.location) == urls.origin_of(address)
    # The fetcher trusts what was typed: the address itself, or the place of the source it belongs to.
    trusted = source.location if source is not None and own else address
    scope = Scope.from_settings(source.location if source is not None else address, settings)
    hops: list[str] = []

    def may_follow(at: str, target: str) -> bool:
        hops.append(target)
        return True

    async with open_fetcher(asking, trusted, settings) as fetcher:
        rules = await _rules(fetcher, address) if settings["robots"] else robots.ALLOW_ALL
        final, response = await follow(fetcher.fetch, Request(address), may_follow=may_follow)
    return await _made(
        ports, address, final, tuple(hops[:-1]), response, rules, scope, obeys=settings["robots"]
    )


async def _rules(fetcher: Fetcher, address: str) -> robots.Robots | None:
    try:
        request = Request(urls.origin_of(address) + "/robots.txt", first_bytes=robots.MAX_BYTES + 1)
        _, answer = await follow(fetcher.fetch, request)
        return robots.from_answer(answer.status, answer.body)
    except (TransientError, PermanentError):
        return None


async def _made(
    ports: Ports,
    address: str,
    final: str,
    hops: tuple[str, ...],
    response: Response,
    rules: robots.Robots | None,
    scope: Scope,
    *,
    obeys: bool,
) -> Inspection:
    agent = ports.fetch.user_agent
    verdict = _verdict(rules, final, agent, obeys=obeys)
    content_type = response.headers.get("content-type", "")
    converted, problem = await _converted(ports, response, content_type, final)
    sections = tuple(split(converted.text)) if converted else ()
    is_html = "html" in content_type
    cut = left_out(response.body, converted.text) if converted and is_html else []
    return Inspection(
        url=address,
        final_url=final,
        redirects=hops,
        status=response.status,
        content_type=content_type,
        validators=response.validators,
        about_validators=about_validators(response),
        robots=verdict,
        why_not=problem or _why_not(response, converted, verdict, scope.why_not(final)),
        body_bytes=len(response.body),
        bytes_received=response.bytes_received,
        title=converted.title if converted else "",
        markdown=converted.text if converted else "",
        canonical=converted.canonical if converted else None,
        metadata=converted.metadata if converted else {},
        sections=sections,
        passages=len(passages(sections)),
        links=tuple(
            Link(link, scope.why_not(link) or _forbidden(rules, link, final, agent))
            for link in (converted.links if converted else ())
        ),
        links_left_out=converted.links_left_out if converted else 0,
        page_words=count_words(lines_of(response.body)) if is_html else 0,
        cut=tuple(cut[:CUT_SHOWN]),
        cut_words=count_words(cut),
        scripted=converted is not None and needs_scripts(response.body, converted.text),
    )


async def _converted(
    ports: Ports, response: Response, content_type: str, url: str
) -> tuple[Converted | None, str | None]:
    if response.status != 200:
        return None, f"{response.status} from the server"
    if not ports.converter.handles(content_type, url):
        return None, f"`{content_type or 'no type'}` cannot be turned into text"
    try:
        return await ports.converter.convert(response.body, content_type=content_type, url=url), None
    except Unparseable as exc:
        return None, exc.message


def _why_not(response: Response, converted: Converted | None, verdict: Robots, out: str | None) -> str | None:
    text = converted.text if converted else ""
    if not verdict.allowed:
        return verdict.says
    if out is not None:
        return f"its address is not part of the source: {out.replace('_', ' ')}"
    if is_login_page(response.body, text):
        return "it is a login page"
    if text.strip():
        return None
    return SCRIPTED if needs_scripts(response.body, text) else "it has no text"


def _verdict(rules: robots.Robots | None, url: str, agent: str, *, obeys: bool) -> Robots:
    if not obeys:
        return Robots(allowed=True, says="robots.txt is not obeyed (`robots=false`)")
    if rules is None:
        return Robots(
            allowed=False, says="robots.txt could not be read: nothing is asked for until it can be"
        )
    allowed = rules.allows(url, agent)
    says = "robots.txt allows this address" if allowed else "robots.txt forbids this address"
    return Robots(allowed=allowed, says=says, delay_s=rules.crawl_delay_s(agent))


def _forbidden(rules: robots.Robots | None, link: str, page: str, agent: str) -> str | None:
    """Only the rules of the page's own host are known here."""
    if rules is None or urls.origin_of(link) != urls.origin_of(page):
        return None
    return None if rules.allows(link, agent) else "robots"


def _settings(ports: Ports, source: Source | None, *, secrets: bool) -> dict[str, Any]:
    """Those of a source that is crawled, else those of a `web` source without any."""
    web = ports.kinds.named("web")
    crawled = source is not None and source.kind in ("web", "llms")
    given = dict(source.params) if source is not None and crawled else {}
    names = {param.name for param in web.params}
    if not secrets:
        names -= {param.name for param in credentials.PARAMS} | {"ca_file"}
    return parameters.complete(web.params, {key: value for key, value in given.items() if key in names})
