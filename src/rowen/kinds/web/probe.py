"""Asking a server what is there before a source is written down: a web site, or the Markdown it lists."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from rowen.core.web import urls
from rowen.engine.kind import Prepared
from rowen.engine.ports import Ports
from rowen.errors import AddressRefused, BadLocation, HostUnknown, PermanentError, TransientError, Unfetchable
from rowen.fetching import credentials, robots
from rowen.fetching.client import open_fetcher
from rowen.fetching.redirects import follow
from rowen.kinds.crawl.crawl import FORBIDDEN
from rowen.kinds.llms import rules as files
from rowen.kinds.llms.kind import ACCEPT
from rowen.kinds.web.pages import has_marks, needs_scripts
from rowen.kinds.web.render import Rendering
from rowen.ports.fetcher import Fetcher, Request, Response

NO_CHECK = "check the address in a browser, or use `--no-check` to add it all the same"


async def prepare_web(ports: Ports, location: str, *, settings: Mapping[str, Any], check: bool) -> Prepared:
    """A web site, by the address of its root."""
    address = _address(location)
    if not check:
        return Prepared(kind="web", location=address)
    async with _Probe.open(ports, address, settings) as probe:
        return await probe.site(address)


async def guess(ports: Ports, location: str, *, settings: Mapping[str, Any], check: bool) -> Prepared:
    """A web site, or the llms.txt it has where that serves better."""
    # Who set what only a crawl knows wants a crawl.
    if not check or settings["render"] or not settings["sitemap"]:
        return await prepare_web(ports, location, settings=settings, check=check)
    address = _address(location)
    async with _Probe.open(ports, address, settings) as probe:
        site = await probe.site(address)
        found = await probe.listed_markdown(dict.fromkeys((_folder(address), _folder(site.location))))
    if found is None:
        return site
    return found if isinstance(found, Prepared) else replace(site, findings=(found, *site.findings))


async def prepare_llms(ports: Ports, location: str, *, settings: Mapping[str, Any], check: bool) -> Prepared:
    """A site's llms.txt or llms-full.txt, by its address or by the site's."""
    address = _address(location)
    full = bool(settings["full"]) or address.endswith(f"/{files.FULL_FILE}")
    places = _places(address, full=full)
    if not check:
        return Prepared(kind="llms", location=places[0])
    tried: list[str] = []
    async with _Probe.open(ports, address, settings) as probe:
        for place in places:
            file = await probe.file(place)
            if file.text is not None:
                return Prepared(
                    kind="llms",
                    location=file.url,
                    findings=(
                        *_about_file(file, full=full),
                        *await probe.about_the_site(file.url, sitemap=False),
                    ),
                )
            tried.append(f"`{place}` ({file.fact})")
            if file.status in FORBIDDEN:
                raise BadLocation(
                    f"location `{place}`: {file.fact}", hint=credentials.hint(settings), location=place
                )
        hint = "use `--kind web` to crawl the site by its links"
        if len(places) == 1:
            # At the root of a site there is one place for the file, and it may have the other file.
            other = _places(address, full=not full)[0]
            file = await probe.file(other)
            tried.append(f"`{other}` ({file.fact})")
            if file.text is not None:
                hint = f"that one is there: add it with `--set full={str(not full).lower()}`"
        name = files.FULL_FILE if full else files.FILE
    raise BadLocation(
        f"location `{address}`: no {name} found, tried {' and '.join(tried)}", hint=hint, location=address
    )


@dataclass(frozen=True, slots=True)
class _File:
    """What was found where an llms.txt could be."""

    url: str
    status: int
    fact: str
    text: str | None = None
    """None when it is no such file."""
    response: Response | None = None


class _Probe:
    def __init__(self, ports: Ports, fetcher: Fetcher, settings: Mapping[str, Any]) -> None:
        self._ports = ports
        self._fetcher = fetcher
        self._settings = settings

    @classmethod
    @asynccontextmanager
    async def open(cls, ports: Ports, location: str, settings: Mapping[str, Any]) -> AsyncIterator[_Probe]:
        async with open_fetcher(ports, location, settings) as fetcher:
            yield cls(ports, fetcher, settings)

    async def site(self, address: str) -> Prepared:
        final, response = await self.arrive(address)
        content_type = response.headers.get("content-type", "")
        if not self._ports.converter.handles(content_type, final):
            raise BadLocation(
                f"location `{final}`: answers with `{content_type or 'no type'}`, which cannot be indexed",
                location=final,
            )
        findings = []
        if final != address:
            findings.append(f"`{address}` redirects to `{final}`, which is the source's address now")
        findings.append(f"a web page ({content_type.split(';')[0] or 'no type given'}): kind `web`")
        findings += await self.about_scripts(final, response)
        findings.append(_about_validators(response))
        findings += await self.about_the_site(final, sitemap=True)
        return Prepared(kind="web", location=final, findings=tuple(findings))

    async def arrive(self, location: str) -> tuple[str, Response]:
        """The address that answered, and its answer. Raises `BadLocation`."""
        at, response = await self._follow(Request(location))
        if response.status == 200:
            return at, response
        forbidden = response.status in FORBIDDEN
        raise BadLocation(
            f"location `{at}`: {response.status} from the server",
            hint=credentials.hint(self._settings) if forbidden else NO_CHECK,
            status=response.status,
        )

    async def listed_markdown(self, folders: Mapping[str, None]) -> Prepared | str | None:
        """The llms.txt of the site, a word on why it is left alone, or None when there is none."""
        for folder in folders:
            try:
                file = await self.file(folder + files.FILE)
                if file.text is None:
                    continue
                if not await self._leads_to_markdown(file):
                    return (
                        f"`{file.url}`: leads to no Markdown of this site, so its pages are crawled instead"
                    )
            except (BadLocation, TransientError, PermanentError):
                continue
            why = "the site lists its Markdown there, which needs no guessing; `--kind web` crawls its pages"
            findings = (*_about_file(file, full=False), why)
            about = await self.about_the_site(file.url, sitemap=False)
            return Prepared(kind="llms", location=file.url, findings=(*findings, *about))
        return None

    async def file(self, url: str) -> _File:
        def wanted(status: int, headers: Mapping[str, str]) -> bool:
            return status != 200 or files.is_markdown(headers.get("content-type", ""), url)

        at, response = await self._follow(Request(url, headers=ACCEPT, wanted=wanted))
        if response.status != 200:
            return _File(at, response.status, f"{response.status} from the server")
        if response.refused:
            return _File(at, 200, f"`{response.headers.get('content-type', 'no type')}`")
        text = response.body.decode("utf-8", "replace")
        is_one = text.strip() if at.endswith(f"/{files.FULL_FILE}") else files.looks_like(text)
        if not is_one or text.lstrip()[:1] == "<":
            return _File(at, 200, "text without a title and links")
        return _File(at, 200, "", text, response)

    async def about_scripts(self, url: str, response: Response) -> list[str]:
        """Does the page need a browser, and does the browser work?"""
        converter, content_type = self._ports.converter, response.headers.get("content-type", "")
        if not self._settings["render"] and not has_marks(response.body):
            return []
        try:
            plain = (await converter.convert(response.body, content_type=content_type, url=url)).text
            if self._settings["render"]:
                async with Rendering(self._ports, url, self._fetcher.fetch) as rendering:
                    body = await rendering.page(url, response)
                drawn = (await converter.convert(body, content_type="text/html; charset=utf-8", url=url)).text
                words, before = len(drawn.split()), len(plain.split())
                return [f"rendered by a browser: {words} words on its first page, {before} without"]
        except (TransientError, PermanentError) as exc:
            return [f"its scripts could not be tried: {exc.message}"]
        if needs_scripts(response.body, plain):
            return ["this page looks empty until its scripts have run: try `--set render=true`"]
        return []

    async def about_the_site(self, location: str, *, sitemap: bool) -> list[str]:
        """robots.txt and sitemap, as far as they can be had; a source can be added without them."""
        findings: list[str] = []
        origin, agent = urls.origin_of(location), self._ports.fetch.user_agent
        try:
            response = await self._fetcher.fetch(Request(origin + "/robots.txt"))
            rules = robots.from_answer(response.status, response.body)
            if rules and response.status == 200:
                if not rules.allows(location, agent):
                    findings.append(
                        "robots.txt forbids this address: nothing is indexed unless `robots=false` is set"
                    )
                delay_s = rules.crawl_delay_s(agent)
                findings.append("robots.txt" + (f": {delay_s:g} s between requests" if delay_s else ""))
            if sitemap:
                named = next(iter(rules.sitemaps), None) if rules else None
                response = await self._fetcher.fetch(
                    Request(named or origin + "/sitemap.xml", wanted=lambda status, headers: False)
                )
                if response.status == 200 and "html" not in response.headers.get("content-type", ""):
                    findings.append("a sitemap: its pages are found even where nothing links to them")
        except (TransientError, PermanentError):
            pass
        return findings

    async def _leads_to_markdown(self, file: _File) -> bool:
        origin = urls.origin_of(file.url)
        own = [e.url for e in files.parse(file.text or "", file.url) if urls.origin_of(e.url) == origin]
        if any(files.named_markdown(url) for url in own):
            return True
        # Names that say nothing: one is asked, without its body.
        unnamed = next((url for url in own if not files.named_otherwise(url)), None)
        if unnamed is None:
            return False
        request = Request(unnamed, headers=ACCEPT, wanted=lambda status, headers: False)
        at, response = await self._follow(request)
        content_type = response.headers.get("content-type", "")
        return response.status == 200 and files.is_markdown(content_type, at)

    async def _follow(self, request: Request) -> tuple[str, Response]:
        """The last address of a chain of redirects, and what it answered."""
        try:
            return await follow(self._ask, request, may_follow=self._may_follow)
        except Unfetchable as exc:
            raise BadLocation(f"location {exc.message}", location=request.url) from exc

    def _may_follow(self, at: str, target: str) -> bool:
        given = any(self._settings.get(spec.name) for spec in credentials.PARAMS)
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
            return await self._fetcher.fetch(request)
        except HostUnknown as exc:
            raise BadLocation(
                f"location `{url}`: no such host", hint="check the spelling", location=url
            ) from exc
        except AddressRefused as exc:
            raise BadLocation(exc.message, hint=exc.hint, location=url) from exc
        except (TransientError, PermanentError) as exc:
            raise BadLocation(
                f"location `{url}`: the server does not answer: {exc.message}",
                hint="try again later, or use `--no-check` to add it all the same",
                location=url,
            ) from exc


def _address(location: str) -> str:
    credentials.refuse_in_address(location)
    normal = urls.normalise(location.strip())
    if normal is not None and urls.host_of(normal):
        return normal
    guess = urls.normalise(f"https://{location.strip()}") if "://" not in location else None
    hint = f"did you mean `{guess}`?" if guess and "." in urls.host_of(guess) else None
    raise BadLocation(f"location `{location}`: not an http or https address", hint=hint, location=location)


def _folder(address: str) -> str:
    page = address.partition("?")[0]
    head, _, name = page.rpartition("/")
    return f"{head}/" if "." in name or not name else f"{page}/"


def _places(address: str, *, full: bool) -> list[str]:
    """Where the file may be: as typed, in the folder, at the root of the site."""
    name = files.FULL_FILE if full else files.FILE
    page = address.partition("?")[0]
    typed = page.rpartition("/")[2]
    first = _folder(address) + name
    if typed.endswith((".txt", ".md")) and typed not in (files.FILE, files.FULL_FILE):
        first = address
    return list(dict.fromkeys((first, f"{urls.origin_of(address)}/{name}")))


def _about_file(file: _File, *, full: bool) -> list[str]:
    assert file.text is not None
    assert file.response is not None
    if full:
        documents = len(files.parts(file.text, file.url))
        said = f"`{file.url}`: {documents} document{'s' * (documents != 1)}: kind `llms`"
    else:
        entries = files.parse(file.text, file.url)
        sections = len({entry.section for entry in entries if entry.section})
        said = f"`{file.url}`: lists {len(entries)} pages in {sections} sections: kind `llms`"
    return [said, _about_validators(file.response)]


def _about_validators(response: Response) -> str:
    validators = response.validators
    if not validators:
        return "no ETag or Last-Modified: pages are downloaded each time and compared"
    given = (("ETag", validators.etag), ("Last-Modified", validators.last_modified))
    names = " and ".join(name for name, value in given if value)
    return f"{names}: an unchanged page will cost one small request"
