"""pkg.go.dev: a page for each package."""

from __future__ import annotations

import re
from collections.abc import Iterator

from turbohtml import Element

from rowen.adapters.convert.html.generators.member import Member, Page, Title, joined, taken, words

MARKER = ".Documentation-content, .js-documentation"
_CLUTTER = (
    ".Documentation-index, .Documentation-examples, .Documentation-declarationLink, .Documentation-idLink, "
    ".UnitReadme-idLink, .UnitDoc-idLink, .Documentation-sinceVersion, .go-Main-headerDetails, .go-Chip, "
    ".go-Main-banner, .UnitBuildContext-titleContext, .Documentation-exampleButtonsContainer, "
    ".UnitDoc-buildContext, .UnitFiles, .go-Main-aside, summary > a, "
    ".UnitReadme-expandLink, .UnitReadme-collapseLink"
)
_BOXES = ".Documentation-function, .Documentation-type, .Documentation-typeFunc, .Documentation-typeMethod"
_ONE_LINE = re.compile(r"[^\n]*")


def read(content: Element) -> Page:
    content.remove(_CLUTTER)
    for empty in content.select("section:has(> .Documentation-empty)"):
        heading = next((node for node in empty.previous_siblings if isinstance(node, Element)), None)
        if heading is not None and heading.tag == "h3":
            heading.decompose()
        empty.decompose()
    heading = content.select_one("h1")
    name = words(heading).rpartition("/")[2]
    title = Title(heading, "package", name) if heading is not None and name else None
    return Page(title, list(_members(content, name)))


def _members(content: Element, package: str) -> Iterator[Member]:
    boxes = content.select(f"{_BOXES}, .Documentation-constants, .Documentation-variables")
    for box in boxes:
        if box.tag == "section":
            yield from _values(box, package)
            continue
        heading = box.select_one("h4[data-kind], h4[id]")
        if heading is None:
            continue
        kind, anchor = heading.attr("data-kind") or "symbol", heading.attr("id") or ""
        code = box.select_one(".Documentation-declaration pre")
        # The declaration of a structure has lines, and stays code.
        is_line = code is not None and _ONE_LINE.fullmatch(code.text.strip()) is not None
        signature = taken(code) if is_line else ""
        yield Member(heading, box, anchor, kind, joined(".", package, anchor), signature)
        yield from _values(box, package)


def _values(box: Element, package: str) -> Iterator[Member]:
    """Each constant and variable of a block of them, below the block."""
    for declaration in box.select(".Documentation-declaration"):
        if declaration.parent != box:
            continue
        last: Element = declaration
        for named in declaration.select("pre [id][data-kind]"):
            anchor = named.attr("id") or ""
            kind = named.attr("data-kind") or ""
            if kind not in ("constant", "variable"):
                continue
            heading = Element("h4")
            scope = Element("div", None, [heading])
            last.insert_after(scope)
            last = scope
            lines = [line for line in named.text.splitlines() if not line.strip().startswith("//")]
            signature = " ".join(" ".join(lines).split())
            yield Member(heading, scope, anchor, kind, joined(".", package, anchor), signature)
