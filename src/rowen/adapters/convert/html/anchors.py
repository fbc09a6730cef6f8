"""Other addresses in a page: ids that links may lead to and that belong to no heading and no definition.

They stay in the Markdown as `<a id="name"></a>`, so that a link to one can be followed to its place.
"""

from __future__ import annotations

import re

from turbohtml import Element, Text

from rowen.adapters.convert.html.sections import BOXES, fragment
from rowen.core.split import address_mark

# Characters for private use stand for the mark until the page is Markdown.
_OPEN, _CLOSE = "\uf8f2", "\uf8f3"
_MARK = re.compile(f"{_OPEN}([^{_CLOSE}\n]*){_CLOSE} ?")
# A pattern that begins with a fixed character is found many times faster than one that does not.
_NAMED = rf"[^{_CLOSE}\n]*{_CLOSE}\s*"
_BEFORE_HEADING = re.compile(rf"{_OPEN}({_NAMED}(?:{_OPEN}{_NAMED})*)(?<=\n)(#{{1,6}} [^\n]+\n)")
_BLANK_RUN = re.compile(r"\n\n\n+")
_HEADING_MARK = re.compile(r"\{#([^\s{}]+)")
# Ids that a generator counts up over a whole book, or draws anew with every build: they are others each time.
# What Sphinx counts up on one page (`index-3`, `id2`) is linked to from other pages, and stays.
_BY_MACHINE = re.compile(
    r"(?:cite|fn|footnote|ftn\.|toc)[-_]?[\d.]*\d(?:[-_].*)?|id(?:\d{4,}|[-_.][\d.]*\d)(?:[-_].*)?|[0-9a-f-]{16,}"
)
_NOT_INSIDE = frozenset(("table", "ul", "ol", "dl", "tr", "tbody", "thead", "pre", "figure", "details"))
_IDS = "[id]:not(main, body, article, svg, input), a[name]"
_ELSEWHERE = "h1, h2, h3, h4, h5, h6, pre, code, summary"
MAX_ANCHORS = 2000


def mark_anchors(content: Element) -> None:
    """Works in place, when headings and definitions have their anchors."""
    linked = {(link.attr("href") or "")[1:] for link in content.select("a[href^='#']")}
    for element in content.select(_IDS)[:MAX_ANCHORS]:
        name = fragment(element.attr("id") or element.attr("name") or "")
        if not name or name.lower() in BOXES or (_BY_MACHINE.fullmatch(name) and name not in linked):
            continue
        mark = Text(f"{_OPEN}{name}{_CLOSE} ")
        around = element.closest(_ELSEWHERE)
        if around is not None and around.tag == "code":
            around = around.closest("pre") or around
        if around is not None and around.tag == "code":
            around.insert_before(mark)
        elif around is not None or element.tag in _NOT_INSIDE:
            (around or element).insert_before(Element("p", None, [mark]))
        else:
            element.insert(0, mark)


def with_anchors(markdown: str) -> str:
    """The marks as empty links; one that repeats the anchor of a heading goes."""
    if _OPEN not in markdown:
        return markdown
    seen = set(_HEADING_MARK.findall(markdown))
    # An address before a heading is one of the section that it opens.
    pieces: list[str] = []
    low = 0
    for found in _BEFORE_HEADING.finditer(markdown):
        marks = " ".join((_OPEN + found[1]).split())
        pieces += (markdown[low : found.start()].rstrip(" \t"), f"\n\n{found[2]}\n{marks}\n\n")
        low = found.end()
    markdown = "".join((*pieces, markdown[low:]))

    def written(found: re.Match[str]) -> str:
        name = found[1]
        if name in seen:
            return ""
        seen.add(name)
        return address_mark(name)

    return _BLANK_RUN.sub("\n\n", _MARK.sub(written, markdown)).lstrip("\n")
