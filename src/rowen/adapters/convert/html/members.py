"""Headings that documentation generators write for the names they define become definitions.

Which headings these are, `generators/` says: a module for each generator. A page is of one generator at most.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from turbohtml import Element

from rowen.adapters.convert.definition import Definition, Place
from rowen.adapters.convert.html.generators import (
    doxygen,
    godoc,
    javadoc,
    manpage,
    mdn,
    mkdocstrings,
    refentry,
    rustdoc,
    typedoc,
)
from rowen.adapters.convert.html.generators.member import Member, Page, Title
from rowen.adapters.convert.html.sections import end_of, fragment, open_section

Read = Callable[[Element], Page]
# A word near the beginning of every page of a generator, and the elements that are surely its own.
_GENERATORS: tuple[tuple[str, str, Read], ...] = (
    ("tsd-page-title", typedoc.MARKER, typedoc.read),
    ("go-Header", godoc.MARKER, godoc.read),
    ("rustdoc", rustdoc.MARKER, rustdoc.read),
    ("javadoc", javadoc.MARKER, javadoc.read),
    ("oxygen", doxygen.MARKER, doxygen.read),
    ("mkdocstrings", mkdocstrings.MARKER, mkdocstrings.read),
    ("refnamediv", refentry.MARKER, refentry.read),
    (") Manual Page", manpage.MARKER, manpage.read),
    ("developer.mozilla.org", mdn.MARKER, mdn.read),
)
_BEGINNING = 30_000


class Marked(NamedTuple):
    title: Element | None = None
    """The heading of a page about one name,"""
    definition: Definition | None = None
    """and what it defines."""
    members: dict[Element, Place] = {}  # noqa: RUF012 - never written
    """The headings that are definitions now, each with the place of what stands in it."""


def mark_members(content: Element, page: str) -> Marked:
    """Works in place. `page` is the page as it was written: finding words in it is cheap."""
    beginning = page[:_BEGINNING]
    for word, marker, read in _GENERATORS:
        if word in beginning and content.select_one(marker) is not None:
            return _mark(*read(content))
    return Marked()


def _mark(title: Title | None, members: list[Member]) -> Marked:
    top = Place(1, title.name if title is not None else "")
    inside: dict[Element, Place] = {}
    headings: dict[Element, Place] = {}
    for member in members:
        around = (node for node in member.heading.ancestors if isinstance(node, Element))
        outer = next((inside[node] for node in around if node in inside), top)
        around_it = next((name for name in (outer.around, top.around) if member.name.startswith(name)), "")
        place = Place(max(int(member.heading.tag[1]) - 1, outer.level), around_it)
        definition = place.definition(fragment(member.anchor), member.kind, member.name, member.signature)
        open_section(member.heading, definition, place)
        member.scope.append(end_of(definition))
        if member.scope.attr("id") == member.anchor:
            del member.scope.attrs["id"]
        inside[member.scope] = headings[member.heading] = place.inside(definition)
    if title is None:
        return Marked(None, None, headings)
    return Marked(title.heading, Definition("", title.kind, title.name, "", ""), headings)
