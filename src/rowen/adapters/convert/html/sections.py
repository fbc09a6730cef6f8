"""Elements of a page that become the headings of definitions, and what marks their ends."""

from __future__ import annotations

import re
from urllib.parse import quote

from turbohtml import Element, Text

from rowen.adapters.convert.definition import MAX_LEVEL, Definition, Place, usable

BOXES = frozenset(
    ("content", "main", "body", "page", "wrapper", "root", "app", "container", "document", "main-content")
)
"""Ids of boxes that hold a whole page."""
# What an address cannot have in it, and what Markdown would write in another way.
_PLAIN = re.compile(r"[\w.:()/,+-]{1,200}")
_ENCODED = re.compile(r"[\s{}<>\[\]*\\`~|&\"]")


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


def end_of(definition: Definition) -> Element:
    return Element("p", None, [Text(definition.end_mark())])
