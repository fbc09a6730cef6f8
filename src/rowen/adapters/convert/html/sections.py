"""Sections for what a page defines: a function, a setting, a term.

A definition is written as a heading one level below the section it stands in, with its anchor, kind and name;
its end is marked where that section goes on. `core/split.py` reads both.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import quote

from turbohtml import Element, Text

MAX_LEVEL = 6
BOXES = frozenset(
    ("content", "main", "body", "page", "wrapper", "root", "app", "container", "document", "main-content")
)
"""Ids of boxes that hold a whole page."""
_USABLE = re.compile(r"[^\s{}<>]{1,200}")
_NAME = re.compile(r"[^\s{}<>]+(?: [^\s{}<>]+){0,9}")
# What an address cannot have in it, and what Markdown would write in another way.
_PLAIN = re.compile(r"[\w.:()/,+-]{1,200}")
_ENCODED = re.compile(r"[\s{}<>\[\]*\\`~|&\"]")
_KIND = re.compile(r"[a-z]{1,20}")
_TITLE_CHARS = 120
_CALLED = frozenset(("function", "method", "classmethod", "staticmethod", "macro", "constructor"))
# Characters for private use stand for the mark until the page is Markdown: a comment would not get that far.
_OPEN, _CLOSE = "\uf8f0", "\uf8f1"
_MARK = f"{_OPEN}[^{_CLOSE}]*{_CLOSE}\n*"
_NOT_NEEDED = re.compile(f"{_MARK}(?:{_MARK})*(?=#{{1,6}} |\\Z|{_OPEN})")


class Definition(NamedTuple):
    anchor: str
    """Empty where the page has none for it."""
    kind: str
    name: str
    title: str
    """What it is called inside the section it stands in: `create_task()`."""
    signature: str
    """In full; empty when it says no more than the title."""

    def end(self) -> Element:
        return Element("p", None, [Text(f"{_OPEN}{self.anchor or self.name}{_CLOSE}")])

    def marks(self) -> str:
        kind = self.kind if _KIND.fullmatch(self.kind) else "term"
        named = f" name={self.name}" if self.name != self.anchor and _NAME.fullmatch(self.name) else ""
        if self.anchor:
            return f" {{#{self.anchor} .{kind}{named}}}"
        return f" {{.{kind}{named}}}" if named else ""


class Place(NamedTuple):
    """Where a definition stands: below which heading, and in which definition."""

    level: int
    around: str = ""

    def inside(self, definition: Definition) -> Place:
        return Place(min(self.level + 1, MAX_LEVEL), definition.name)

    def definition(self, anchor: str, kind: str, name: str, signature: str) -> Definition:
        """`name` is the name in full; a method is called without its class, which stands above it."""
        title = name
        for separator in (".", "::", "#"):
            if self.around and name.startswith(self.around + separator):
                title = name[len(self.around) + len(separator) :]
        if kind in _CALLED and "(" in signature and not title.endswith(")"):
            title += "()"
        title = title if len(title) <= _TITLE_CHARS else f"{title[: _TITLE_CHARS - 1]}…"
        says_more = signature not in (title, name)
        return Definition(anchor, kind, name, title, signature if says_more else "")


def usable(anchor_or_name: str) -> bool:
    return _USABLE.fullmatch(anchor_or_name) is not None


def fragment(identifier: str) -> str:
    """An id as it stands in an address: `%3Cinit%3E(int)`; empty when it cannot be written as a mark."""
    if _PLAIN.fullmatch(identifier):
        return identifier
    written = _ENCODED.sub(lambda found: quote(found[0]), identifier)
    return written if usable(written) else ""


def signature_of(element: Element) -> str:
    """In one line; several spellings of a term, `-q` and `--quiet`, stand with a comma between."""
    terms = [" ".join(term.text.split()) for term in element.select(".term")]
    return ", ".join(terms) if len(terms) > 1 else " ".join(element.text.split())


def open_section(term: Element, definition: Definition, place: Place) -> None:
    """Make the heading of a definition out of the element that names it."""
    if definition.signature:
        code = Element("code")
        code.set_text(definition.signature)
        term.insert_after(Element("p", None, [code]))
    title = Element("code")
    title.set_text(definition.title)
    term.clear()
    term.extend([title, Text(definition.marks())])
    term.tag = f"h{min(place.level + 1, MAX_LEVEL)}"


def with_ends(markdown: str) -> str:
    """The ends of definitions as comments, where text follows that belongs to the section around."""
    if _OPEN not in markdown:
        return markdown
    return _NOT_NEEDED.sub("", markdown).replace(_OPEN, "<!-- /").replace(_CLOSE, " -->")
