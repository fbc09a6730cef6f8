"""Javadoc: a page for each class.

Before Java 16 a member was a heading in a list, with its anchor before the list.
"""

from __future__ import annotations

from collections.abc import Iterator

from turbohtml import Element

from rowen.adapters.convert.html.generators.member import (
    Member,
    Page,
    Title,
    bare,
    joined,
    taken,
    unfold,
    words,
)

MARKER = "section.detail, div.details, section.class-description, div.classUseContainer, .type-signature"
_LISTS = (
    "ul.summary-list, ul.summary-list > li, ul.details-list, ul.details-list > li, ul.member-list, "
    "ul.member-list > li, ul.blockList, ul.blockListLast, li.blockList, li.blockListLast"
)
_KINDS = {"enum": "constant", "annotation": "element", "optional": "element", "required": "element"}
_TYPES = frozenset(("class", "interface", "enum", "record", "annotation"))


def read(content: Element) -> Page:
    content.remove(".table-tabs, .tabEnd, .activeTableTab, .tableTab, .caption, .legal-copy, .legalCopy")
    for box in content.select("[id$='-summary-table'], [id$='.tabpanel']"):
        del box.attrs["id"]
    for inherited in content.select("h3 + code, h4 + code"):
        # A list of links, not code.
        inherited.tag = "p"
    for grid in content.select("div.summary-table"):
        _as_table(grid)
    title = _title(content)
    around = title.name if title is not None else ""
    members = [*_members(content, around), *_old_members(content, around)]
    unfold(content, _LISTS)
    return Page(title, members)


def _title(content: Element) -> Title | None:
    heading = content.select_one("h1.title, h2.title")
    if heading is None:
        return None
    heading.tag = "h1"
    named = bare(words(heading)).split()
    kinds = [word.lower() for word in named[:-1] if word.lower() in _TYPES]
    subtitles = [words(part) for part in content.select(".sub-title, .subTitle")]
    content.remove(".sub-title, .subTitle")
    if not kinds:
        return None
    signature = content.select_one(".type-signature, .description pre")
    if signature is not None:
        code = Element("code")
        code.set_text(taken(signature))
        (heading.closest(".header") or heading).insert_after(Element("p", None, [code]))
    package = subtitles[-1].split()[-1] if subtitles else ""
    return Title(heading, kinds[0], joined(".", package, named[-1]))


def _members(content: Element, around: str) -> Iterator[Member]:
    for detail in content.select("section.detail[id]"):
        heading = detail.select_one("h3, h4")
        group = detail.closest("section[class*='-details']")
        if heading is None or group is None:
            continue
        first = (group.attr("class") or "").partition("-")[0]
        name = joined(".", around, words(heading))
        signature = taken(detail.select_one(".member-signature"))
        yield Member(heading, detail, detail.attr("id") or "", _KINDS.get(first, first), name, signature)


def _old_members(content: Element, around: str) -> Iterator[Member]:
    for heading in content.select(".details li > h4"):
        item = heading.parent
        listed = item.parent if item is not None else None
        if not isinstance(item, Element) or not isinstance(listed, Element):
            continue
        before = (node for node in listed.previous_siblings if isinstance(node, Element))
        anchor = next(before, None)
        if anchor is None or anchor.tag != "a":
            continue
        group = next(
            (node for node in listed.previous_siblings if isinstance(node, Element) and node.tag == "h3"),
            None,
        )
        first = words(group).partition(" ")[0].lower() or "member"
        signature = taken(item.select_one("pre"))
        name = joined(".", around, words(heading))
        named = anchor.attr("id") or anchor.attr("name") or ""
        yield Member(heading, item, named, _KINDS.get(first, first), name, signature)


def _as_table(grid: Element) -> None:
    """A summary that is a grid of boxes as the table it looks like."""
    cells = [cell for cell in grid.children if isinstance(cell, Element)]
    width = sum(cell.has_class("table-header") for cell in cells)
    if not width:
        return
    rows = []
    for start in range(0, len(cells), width):
        for cell in cells[start : start + width]:
            cell.tag = "td" if start else "th"
        rows.append(Element("tr", None, cells[start : start + width]))
    grid.clear()
    grid.extend(rows)
    grid.tag = "table"
