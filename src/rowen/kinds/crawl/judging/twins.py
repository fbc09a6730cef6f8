"""Addresses of one page: `/g`, `/g/`, `/g/index.html`, print views, parameters that change nothing, and
the same address at another host of the domain.

What makes two addresses one page is evidence: another spelling of the same address, and the same text. The
page keeps the plainest address that the site links to; the others become other names of it. They are asked
for once a run, conditionally, and a twin whose body is another one now is a page again.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from itertools import product
from typing import Any

from rowen.core import hashing
from rowen.core.document import Known, Validators
from rowen.core.web import urls
from rowen.fetching.redirects import REDIRECTS
from rowen.kinds.crawl.pages import ReadPage
from rowen.kinds.crawl.visits import Visit
from rowen.patterns import pattern
from rowen.ports.fetcher import Response

TWIN = "twin"
EVIDENCE = 3
REMEMBERED = "rowen:twins"
"""The remembered listing of other names, each with the validators and the hash of the body it gave."""
_INDEX = pattern(r"/(?:index|default)(?:\.html?|\.php)?$", re.IGNORECASE)
_ENDING = pattern(r"\.html?$", re.IGNORECASE)
_PRINT = pattern(r"/print(?=/|$)|(?<=/)print-|[._-]print(?=\.html?$|$)", re.IGNORECASE)


class Twins:
    def __init__(self, known: Mapping[str, Known], remembered: Mapping[str, Any]) -> None:
        self._known = known
        self._texts: dict[str, bytes] = {}
        self._pages: dict[tuple[str, bytes], str] = {}
        """Documents of this run by what they are pages of, and their text."""
        self.names: dict[str, list[Any]] = dict(remembered)
        self._idle: frozenset[str] = frozenset()
        """Parameters that changed the text of no page."""
        self._evidence: set[str] = set()
        self._used = {one for url in known for one in _parameters(url)}
        """Parameters in the addresses of documents."""
        self._same_with: dict[str, set[bytes]] = {}

    def text_of(self, url: str) -> bytes | None:
        """The text that a page of this run has, or the one readers see."""
        known = self._known.get(url)
        return self._texts.get(url) or (known.content_hash if known else None)

    def is_page(self, url: str, text: bytes) -> None:
        """It answered in this run, and is a document."""
        self._texts[url] = text
        self._pages.setdefault((_page_of(url), text), url)
        self.names.pop(url, None)
        if "?" in url:
            self._used |= _parameters(url)
            self._idle -= self._used

    def same_page(self, url: str, text: bytes) -> str | None:
        """Another spelling that is a document of this run with the same text."""
        found = self._pages.get((_page_of(url), text))
        return found if found != url else None

    def may_join(self, shown: Known | None, page: str, text: bytes) -> bool:
        """May a document become a name of another page? Not when both say something else than before.

        A maintenance page makes one text of all spellings: the guard is to see what is lost by that.
        """
        other = self._known.get(page)
        return (
            shown is None or text == shown.content_hash or (other is not None and text == other.content_hash)
        )

    def to_ask(self, aliases: Mapping[str, str]) -> list[Visit]:
        """The names to ask for again, as a visit that compares them with what they gave; aliases say of what.

        A parameter is idle when three pages or more were the same with and without it, or with other values,
        and no document has it. Of the names that differ by idle parameters, a few are asked for each.
        """
        named = {name: self._known[aliases[name]] for name in self.names if aliases.get(name) in self._known}
        for name, page in named.items():
            self._learn(name, page.content_hash)
        asked: dict[str, set[bytes]] = {one: set() for one in self._idle}
        visits = []
        for name, page in sorted(named.items()):
            idle = _parameters(name) & self._idle
            if any(len(asked[one]) < EVIDENCE and page.content_hash not in asked[one] for one in idle):
                self._evidence.add(name)
                for one in idle:
                    asked[one].add(page.content_hash)
            elif idle:
                continue
            visits.append(Visit(0, name, 1, self._as_known(name, page)))
        return visits

    def is_still_name(self, visit: Visit, response: Response, page: ReadPage | None) -> bool:
        """Does a name still give the text of its page? It is forgotten if not."""
        if page is None:
            same = response.status not in (*REDIRECTS, 404, 410)
        else:
            same = visit.known is not None and _text(page) == visit.known.content_hash
            self.is_name(visit.url, response.validators, page.body_hash)
        if not same:
            del self.names[visit.url]
        return same

    def keep(self, linked: Collection[str]) -> None:
        """Of the names, only those that are linked, and those by which idle parameters are known."""
        kept = self._evidence.union(linked)
        self.names = {name: said for name, said in self.names.items() if name in kept}

    def without_idle_parameters(self, url: str) -> str:
        page, _, query = url.partition("?")
        if not query or not self._idle:
            return url
        kept = "&".join(one for one in query.split("&") if one.partition("=")[0] not in self._idle)
        return f"{page}?{kept}" if kept else page

    def is_twin(self, url: str, text: bytes, validators: Validators, body_hash: bytes) -> None:
        """It answered in this run with the text of another spelling, which is a document."""
        self.is_name(url, validators, body_hash)
        self._learn(url, text)

    def _learn(self, name: str, text: bytes) -> None:
        for parameter in _parameters(name) - self._used:
            texts = self._same_with.setdefault(parameter, set())
            texts.add(text)
            if len(texts) >= EVIDENCE:
                self._idle |= {parameter}

    def is_name(self, url: str, validators: Validators, body_hash: bytes) -> None:
        self.names[url] = [validators.etag, validators.last_modified, body_hash.hex()]

    def _as_known(self, url: str, page: Known) -> Known:
        """What a request for another name of a page is compared with."""
        etag, last_modified, body_hash = self.names[url]
        return Known(
            page.document_id,
            page.reference_id,
            url,
            page.content_hash,
            bytes.fromhex(body_hash),
            page.payload_hash,
            Validators(etag, last_modified),
            page.depth,
            page.links,
            page.body_bytes,
        )


def plainer(url: str, home: str) -> Iterator[str]:
    """Plainer spellings of an address, the plainest first; `home` is the origin of the source's location."""
    page, _, query = url.partition("?")
    origins = {urls.origin_of(url), home}
    path = page[len(urls.origin_of(url)) :]
    stems = {path, _PRINT.sub("", path)}
    stems |= {_INDEX.sub("", one) for one in stems}
    stems |= {_ENDING.sub("", one) for one in stems}
    bare = {one.rstrip("/") for one in stems}
    paths = {
        one
        for stem in bare | stems
        for one in (stem, f"{stem.rstrip('/')}/", f"{stem.rstrip('/')}.html")
        if one
    }
    pairs = query.split("&") if query else []
    queries = {"", query} | {"&".join(pairs[:n] + pairs[n + 1 :]) for n in range(len(pairs))}
    found = {
        f"{origin}{one}?{asked}" if asked else origin + one
        for origin, one, asked in product(origins, paths, queries)
    }
    own = order(url, home)
    yield from sorted((one for one in found if order(one, home) < own), key=lambda one: order(one, home))


def order(url: str, home: str) -> tuple[bool, int, bool, int, str]:
    """Which of several addresses of a page is its own: the least in this order."""
    _, _, query = url.partition("?")
    parameters = len(query.split("&")) if query else 0
    return urls.origin_of(url) != home, parameters, _PRINT.search(url) is not None, len(url), url


def _parameters(url: str) -> set[str]:
    query = url.partition("?")[2]
    return {one.partition("=")[0] for one in query.split("&")} if query else set()


def _text(page: ReadPage) -> bytes:
    return hashing.of_text(page.converted.text)


def _page_of(url: str) -> str:
    page = url.partition("?")[0].lower()
    page = _INDEX.sub("", _PRINT.sub("", page))
    return _ENDING.sub("", page.rstrip("/"))
