"""Tables: those that hold data become Markdown's, those that hold a page become text."""

from __future__ import annotations

from turbohtml import Element, Text

_MAX_SPAN = 50
_LINK_SHARE_OF_NAVIGATION = 0.8


def reshape_tables(tables: list[Element]) -> None:
    for table in tables:
        if table.parent is None or table.tag != "table":
            continue
        if isinstance(table.parent, Element) and table.parent.has_class("admonitionblock"):
            _name_note(table)
            _unfold(table)
            continue
        if _is_layout(table):
            _unfold(table)
            continue
        for pre in table.select("pre"):
            # A cell is one line: code in it can only be inline.
            pre.tag = "code"
        if table.select_one("[colspan], [rowspan]") is not None:
            _fill_spans(table)


def _name_note(table: Element) -> None:
    """AsciiDoc sets a note as a table: what it is called, in words or as an icon, beside its text."""
    for cell in table.select("td.icon"):
        icon = cell.select_one("[title], [alt]")
        named = (icon.attr("title") or icon.attr("alt") or "") if icon is not None else ""
        words = " ".join(cell.text.split()) or named
        cell.clear()
        cell.append(Element("strong", None, [Text(words)]))


def _is_layout(table: Element) -> bool:
    if table.attr("role") == "presentation" or table.select_one("h1, h2, h3, h4, h5, h6, table") is not None:
        return True
    if any("\n" in pre.text.strip() for pre in table.select("pre")):
        return True
    one_row = len(table.select("tr")) == 1 and table.select_one("th") is None
    return one_row and table.select_one("ul, ol, dl, p, pre") is not None


def _unfold(table: Element) -> None:
    """Rows and cells become blocks of text. A cell of links beside one with headings is navigation."""
    parts = [
        part for part in table.select("thead, tbody, tfoot, tr, td, th") if part.closest("table") == table
    ]
    cells = [part for part in parts if part.tag in ("td", "th")]
    if any(cell.select_one("h1, h2") is not None for cell in cells):
        for cell in cells:
            if _is_navigation(cell):
                cell.decompose()
    for part in parts:
        part.tag = "div"
    for caption in table.select("caption"):
        caption.tag = "p"
    table.tag = "div"


def _is_navigation(cell: Element) -> bool:
    links = cell.select("a[href]")
    if len(links) < 3 or cell.select_one("h1, h2, p, pre") is not None:
        return False
    linked = sum(len("".join(link.text.split())) for link in links)
    return linked >= _LINK_SHARE_OF_NAVIGATION * len("".join(cell.text.split()))


def _fill_spans(table: Element) -> None:
    """Give each cell that spans its empty neighbours: Markdown has no spans."""
    hanging: dict[int, int] = {}  # column -> rows that a cell further up still covers
    for row in table.select("tr"):
        column = 0
        for cell in [node for node in row.children if isinstance(node, Element) and node.tag in ("td", "th")]:
            while hanging.get(column, 0) > 0:
                hanging[column] -= 1
                cell.insert_before(Element("td"))
                column += 1
            across, down = _take_span(cell, "colspan"), _take_span(cell, "rowspan")
            for step in range(across):
                if step:
                    cell.insert_after(Element(cell.tag))
                if down > 1:
                    hanging[column + step] = down - 1
            column += across
        for later in sorted(at for at, rows in hanging.items() if at >= column and rows > 0):
            hanging[later] -= 1
            row.append(Element("td"))


def _take_span(cell: Element, name: str) -> int:
    value = cell.attr(name)
    if value is None:
        return 1
    del cell.attrs[name]
    return max(1, min(_MAX_SPAN, int(value))) if value.strip().isdecimal() else 1
