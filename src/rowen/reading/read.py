"""Reading what is stored: a document by its address or its number, and the sections of it that fit.

For readers with little room, such as an assistant: an excerpt keeps within a budget and says what it left
out. Nothing is fetched here, and nothing is written.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Sequence
from typing import Any, Protocol
from urllib.parse import unquote

from rowen.core.feed import Document
from rowen.core.freshness.truth import State, Truth
from rowen.core.search.as_of import AsOf
from rowen.core.section import Section, join_path
from rowen.core.split import address_mark, split
from rowen.core.text.tokens import CHARACTERS_PER_TOKEN
from rowen.errors import NotFound
from rowen.ports.store.documents import Documents
from rowen.ports.store.feed import Feed
from rowen.ports.store.generations import Generations
from rowen.ports.store.learning.outcomes import Outcomes
from rowen.ports.store.search import Search
from rowen.ports.store.sources import Sources
from rowen.reading import addresses
from rowen.records import dataclass

_LINK = re.compile(r"\[[^\[\]]{0,400}\]\([^()\s]{0,2000}\)")
_MARK = re.compile(re.escape(address_mark("NAME")).replace("NAME", '(?P<name>[^"]*)'))


class ReadStore(Sources, Feed, Documents, Generations, Search, Outcomes, Protocol):
    """Visible documents, by every name they have."""


@dataclass(frozen=True, slots=True)
class Heading:
    number: int
    """Of its section, from 1."""
    path: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Excerpt:
    """Some sections of a document that stand side by side."""

    text: str
    first: int
    """Numbers of sections, from 1; 0 when the document has no text."""
    last: int
    sections: int
    """How many the document has."""
    tokens: int
    """What the whole document would take, estimated."""
    cut: bool
    """Not even one section fits: this is its beginning."""
    before: tuple[Heading, ...]
    after: tuple[Heading, ...]
    """What was left out, each heading once."""


async def by_id(store: ReadStore, document_id: int, as_of: AsOf | None = None) -> Document:
    found = await store.document(document_id, shown=as_of.generations if as_of else None)
    if found is None:
        named = await store.reference_of(document_id) if as_of is None else None
        truth = await addresses.of_reference(store, *named) if named else None
        if truth is not None and truth.state is State.GONE:
            raise _gone(f"document {document_id}: not visible; it was removed: `{truth.url}`", truth)
        when = f", {as_of.says}" if as_of else ""
        raise NotFound(
            f"document {document_id}: not visible{when}; it was removed, or replaced by a newer version",
            hint="read it by its URL, or search again",
            document_id=document_id,
        )
    return found


async def by_url(store: ReadStore, url: str, as_of: AsOf | None = None) -> Document:
    """The visible document at an address, also under another reference; of several, the one fetched last.

    With `as_of`, the one that readers saw then. One that is gone is told with when and why.
    """
    found = await addresses.find(store, url, as_of.generations if as_of else None)
    if found is not None:
        return await by_id(store, found.id, as_of)
    if as_of is not None:
        said = "; ".join(one.says for one in as_of.sources if one.missing)
        raise NotFound(
            f"`{url}`: readers saw no document with this address {as_of.says}"
            + (f" ({said})" if said else ""),
            hint="`rowen diff` lists what differs between two generations",
            url=url,
        )
    truth = await addresses.not_visible(store, url)
    if truth.state is State.GONE:
        raise _gone(f"`{url}`: no document with this address is visible; it", truth)
    raise NotFound(
        f"`{url}`: no document with this address is visible ({truth.says})",
        hint="search for it; a page that was removed or never harvested cannot be read",
        url=url,
        state=truth.state.value,
    )


def _gone(what: str, truth: Truth) -> NotFound:
    return NotFound(
        f"{what} is {truth.says} (source `{truth.source}`)",
        hint="`rowen search --as-of` and `rowen show --as-of` answer from earlier times, while they are kept",
        url=truth.url,
        state=truth.state.value,
        gone_at=truth.at.isoformat() if truth.at else None,
        why=truth.by,
    )


async def record(store: Documents, document: Document) -> Any:
    """A document as its source sent it, as data. Raises `NotFound` for one that came otherwise."""
    found = await store.record(document.id)
    if found is None:
        raise NotFound(
            f"document {document.id}: no record of its source is kept",
            hint="items of portals, job boards and other APIs have one, from the next sync that changes them"
            " on, or `rowen sync --full-sync`",
            document_id=document.id,
        )
    return json.loads(found)


def excerpt(document: Document, *, section: str = "", chars: int) -> Excerpt:
    """A section, what stands below it, then its neighbours on both sides, as far as `chars` go.

    `section` is a number, an anchor or a heading; empty for the beginning.
    """
    text = document.text or ""
    sections = split(text)
    if not sections:
        return Excerpt(
            text="", first=0, last=0, sections=0, tokens=_tokens(text), cut=False, before=(), after=()
        )
    start = _section(sections, section, document) if section else 0
    low, high = _grown(sections, start, chars)
    shown = text[sections[low].start : sections[high].end]
    cut = len(shown) > chars
    return Excerpt(
        text=beginning(shown, chars) if cut else shown,
        first=low + 1,
        last=high + 1,
        sections=len(sections),
        tokens=_tokens(text),
        cut=cut,
        before=_outline(sections[:low]),
        after=_outline(sections[high + 1 :]),
    )


def from_section(document: Document, section: str, headings: str = "") -> str:
    """The text of a section and of everything below it, by its number, anchor or heading.

    `headings` are the path to one further down that has no address of its own.
    """
    text = document.text or ""
    sections = split(text)
    first = _section(sections, section, document)
    if headings:
        paths = enumerate(join_path(one.heading_path) for one in sections[first:])
        first += next((further for further, path in paths if path == headings), 0)
    above = sections[first].heading_path
    last = first
    while last + 1 < len(sections) and sections[last + 1].heading_path[: len(above)] == above:
        last += 1
    return text[sections[first].start : sections[last].end]


def without_marks(text: str) -> str:
    """The text as people read it: without the marks of places that links may lead to."""
    return _MARK.sub("", text)


def section_at(document: Document, anchor: str) -> str | None:
    """The number of the section that an anchor of the page leads to; None for one that is not there.

    It is meant as it is written: `#1` is a place, not the first section, and `#List` is not `#list`.
    """
    text = document.text or ""
    sections = split(text)
    # Stored as in an address; which characters are written with a percent sign differs between callers.
    plain = unquote(anchor)
    own = [index for index, one in enumerate(sections) if unquote(one.anchor or "") == plain]
    if own:
        return str(own[0] + 1)
    mark = next((found for found in _MARK.finditer(text) if unquote(found["name"]) == plain), None)
    if mark is None:
        return None
    return str(1 + next(index for index, one in enumerate(sections) if mark.start() < one.end))


# one document


def _section(sections: Sequence[Section], wanted: str, document: Document) -> int:
    name = wanted.strip().removeprefix("#").strip()
    if name.isascii() and name.isdigit() and len(name) < 10 and 1 <= int(name) <= len(sections):
        return int(name) - 1
    if (exact := section_at(document, name)) is not None:
        return int(exact) - 1
    folded = name.casefold()
    names = [(one.anchor or "", join_path(one.heading_path), one.heading) for one in sections]
    for which in range(3):
        for index, one in enumerate(names):
            if one[which].casefold() == folded:
                return index
    headings = list(dict.fromkeys(one.heading for one in sections if one.heading))
    close = difflib.get_close_matches(name, headings, 3, 0.4) or headings[:3]
    there = ", ".join(f"`{heading}`" for heading in close)
    raise NotFound(
        f"section `{wanted}` of `{document.url}`: not there",
        hint=f"sections have the numbers 1 to {len(sections)}" + (f"; headings are {there}" if there else ""),
        section=wanted,
    )


def _grown(sections: Sequence[Section], start: int, chars: int) -> tuple[int, int]:
    """The first and the last section around this one that fit."""
    low = high = start
    used = _size(sections[start])
    path = sections[start].heading_path
    while high + 1 < len(sections) and sections[high + 1].heading_path[: len(path)] == path:
        if used + _size(sections[high + 1]) > chars:
            return low, high
        high += 1
        used += _size(sections[high])
    grew = True
    while grew:
        grew = False
        if high + 1 < len(sections) and used + _size(sections[high + 1]) <= chars:
            high += 1
            used += _size(sections[high])
            grew = True
        if low and used + _size(sections[low - 1]) <= chars:
            low -= 1
            used += _size(sections[low])
            grew = True
    return low, high


def _size(section: Section) -> int:
    return section.end - section.start


def beginning(text: str, chars: int) -> str:
    """At most so many characters, cut where a line ends, or a word, if one does in the second half.

    A link is not cut: its first half would be shown as the marks it is made of.
    """
    start = text[: max(chars, 0)]
    if start == text:
        return text
    link = _LINK.match(text, start.rfind("["))
    if link and link.start() and link.end() > len(start):
        start = text[: link.start()]
    for mark in ("\n", " "):
        end = start.rfind(mark, len(start) // 2)
        if end > 0:
            return start[:end]
    return start


def _outline(sections: Sequence[Section]) -> tuple[Heading, ...]:
    outline: dict[str, Heading] = {}
    for section in sections:
        path = join_path(section.heading_path)
        outline.setdefault(path, Heading(section.position + 1, path))
    return tuple(outline.values())


def _tokens(text: str) -> int:
    return -(-len(text) // CHARACTERS_PER_TOKEN)
