"""Adding an `llms` source: where a site's llms.txt is, and whether it leads to Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rowen.core.rules.words import count
from rowen.core.web import urls
from rowen.engine.kind import Prepared
from rowen.engine.ports import Ports
from rowen.errors import BadLocation, PermanentError, TransientError
from rowen.fetching import credentials
from rowen.kinds.crawl.probe import Probe, about_validators, address_of, folder_of
from rowen.kinds.crawl.refusals import FORBIDDEN
from rowen.kinds.llms import rules as files
from rowen.ports.fetcher import Request, Response
from rowen.records import dataclass


async def prepare(ports: Ports, location: str, *, settings: Mapping[str, Any], check: bool) -> Prepared:
    """A site's llms.txt or llms-full.txt, by its address or by the site's."""
    address = address_of(location)
    full = bool(settings["full"]) or address.endswith(f"/{files.FULL_FILE}")
    places = _places(address, full=full)
    if not check:
        return Prepared(kind="llms", location=places[0])
    tried: list[str] = []
    async with Probe.open(ports, address, settings) as probe:
        for place in places:
            file = await _file(probe, place)
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
            file = await _file(probe, other)
            tried.append(f"`{other}` ({file.fact})")
            if file.text is not None:
                hint = f"that one is there: add it with `--set full={str(not full).lower()}`"
        name = files.FULL_FILE if full else files.FILE
    raise BadLocation(
        f"location `{address}`: no {name} found, tried {' and '.join(tried)}", hint=hint, location=address
    )


async def listed_markdown(probe: Probe, folders: Mapping[str, None]) -> Prepared | str | None:
    """The llms.txt of the site, a sentence that says why it is left alone, or None when there is none."""
    for folder in folders:
        try:
            file = await _file(probe, folder + files.FILE)
            if file.text is None:
                continue
            if not await _leads_to_markdown(probe, file):
                return f"`{file.url}`: leads to no Markdown of this site, so its pages are crawled instead"
        except (BadLocation, TransientError, PermanentError):
            continue
        why = "the site lists its Markdown there, which needs no guessing; `--kind web` crawls its pages"
        findings = (*_about_file(file, full=False), why)
        about = await probe.about_the_site(file.url, sitemap=False)
        return Prepared(kind="llms", location=file.url, findings=(*findings, *about))
    return None


@dataclass(frozen=True, slots=True)
class _File:
    """What was found where an llms.txt could be."""

    url: str
    status: int
    fact: str
    text: str | None = None
    """None when it is no such file."""
    response: Response | None = None


async def _file(probe: Probe, url: str) -> _File:
    def wanted(status: int, headers: Mapping[str, str]) -> bool:
        return status != 200 or files.is_markdown(headers.get("content-type", ""), url)

    at, response = await probe.follow(Request(url, headers=files.ACCEPT, wanted=wanted))
    if response.status != 200:
        return _File(at, response.status, f"{response.status} from the server")
    if response.refused:
        return _File(at, 200, f"`{response.headers.get('content-type', 'no type')}`")
    text = response.body.decode("utf-8", "replace")
    is_one = text.strip() if at.endswith(f"/{files.FULL_FILE}") else files.looks_like(text)
    if not is_one or text.lstrip()[:1] == "<":
        return _File(at, 200, "text without a title and links")
    return _File(at, 200, "", text, response)


async def _leads_to_markdown(probe: Probe, file: _File) -> bool:
    origin = urls.origin_of(file.url)
    own = [e.url for e in files.parse(file.text or "", file.url) if urls.origin_of(e.url) == origin]
    if any(files.named_markdown(url) for url in own):
        return True
    # Names that say nothing: one is asked, without its body.
    unnamed = next((url for url in own if not files.named_otherwise(url)), None)
    if unnamed is None:
        return False
    request = Request(unnamed, headers=files.ACCEPT, wanted=lambda status, headers: False)
    at, response = await probe.follow(request)
    content_type = response.headers.get("content-type", "")
    return response.status == 200 and files.is_markdown(content_type, at)


def _places(address: str, *, full: bool) -> list[str]:
    """Where the file may be: as typed, in the folder, at the root of the site."""
    name = files.FULL_FILE if full else files.FILE
    page = address.partition("?")[0]
    typed = page.rpartition("/")[2]
    first = folder_of(address) + name
    if typed.endswith((".txt", ".md")) and typed not in (files.FILE, files.FULL_FILE):
        first = address
    return list(dict.fromkeys((first, f"{urls.origin_of(address)}/{name}")))


def _about_file(file: _File, *, full: bool) -> list[str]:
    assert file.text is not None
    assert file.response is not None
    if full:
        documents = len(files.parts(file.text, file.url))
        said = f"`{file.url}`: {count(documents, 'document')}: kind `llms`"
    else:
        entries = files.parse(file.text, file.url)
        sections = len({entry.section for entry in entries if entry.section})
        listed = f"{count(len(entries), 'page')} in {count(sections, 'section')}"
        said = f"`{file.url}`: lists {listed}: kind `llms`"
    return [said, about_validators(file.response)]
