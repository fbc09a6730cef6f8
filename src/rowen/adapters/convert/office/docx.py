"""Word documents: headings by their style, lists, tables, links, footnotes.

Headers, footers, comments, pictures and deleted text are not read; neither is what only looks like a heading.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from rowen.adapters.convert.office.ooxml import Package, walk
from rowen.adapters.convert.pieces import fence, file_name, heading, one_line, prose, table
from rowen.adapters.convert.plain import links_of
from rowen.core.document import Converted

_MAIN = "word/document.xml"
_SKIPPED = frozenset(("del", "moveFrom", "Fallback", "instrText", "delText", "pPr", "rPr"))
_WHOLE = frozenset(("hyperlink",))
_HEADING = re.compile(r"(?:heading|überschrift|titre|título|titolo|kop|rubrik)\s*(\d)", re.IGNORECASE)
_CODE = re.compile(r"\b(?:code|source|preformatted|listing|verbatim)\b", re.IGNORECASE)
_LISTED = re.compile(r"list (bullet|number)(?: (\d))?$", re.IGNORECASE)
_MAX_NESTING = 20


def convert_docx(body: bytes, url: str) -> Converted:
    package = Package(body, url)
    reader = _Reader(package)
    pieces = reader.read()
    properties = package.core_properties()
    title = reader.title or reader.first_heading or properties.get("title") or file_name(url)
    if not reader.title and not reader.first_heading:
        pieces.insert(0, heading(1, title))
    text = "\n".join(pieces)
    description = properties.get("description") or properties.get("subject")
    return Converted(
        title, text, links_of(text, url), metadata={"description": description} if description else {}
    )


class _Reader:
    def __init__(self, package: Package) -> None:
        self._package = package
        main = next(
            (target for kind, target in package.relations("").values() if kind == "officeDocument"), _MAIN
        )
        self._root = package.tree(main)
        self._relations = package.relations(main)
        folder = main.rpartition("/")[0]
        self._styles = _styles(package, f"{folder}/styles.xml")
        self._numbers = _numbers(package, f"{folder}/numbering.xml")
        self._notes = f"{folder}/footnotes.xml"
        self._code: list[str] = []
        self.title = ""
        self.first_heading = ""

    def read(self) -> list[str]:
        body = self._root.find("body")
        pieces: list[str] = []
        for block in _blocks(body if body is not None else self._root):
            pieces += self._table(block) if block.tag == "tbl" else self._paragraph(block)
        pieces += self._flushed()
        return self._joined_lists(pieces) + list(self._footnotes())

    def _paragraph(self, paragraph: Element) -> list[str]:
        text = self._text(paragraph).rstrip()
        properties = paragraph.find("pPr")
        name, level = self._styles.get(_value(properties, "pStyle"), ("", 0))
        if _CODE.search(name):
            self._code.append(text)
            return []
        before = self._flushed()
        words = text.strip()
        if not words:
            return before
        if name.lower() == "title" and not self.title:
            self.title = one_line(words)
            return [*before, heading(1, words)]
        outline = _value(properties, "outlineLvl")
        if outline.isdigit():
            level = int(outline) + 1
        if 1 <= level <= 9:
            # Under a title the headings are one level down, as on any page.
            self.first_heading = self.first_heading or one_line(words)
            return [*before, heading(level + 1 if self.title else level, words)]
        item = self._list_mark(properties) or _list_mark_of_style(name)
        return [*before, f"{item}{prose(words)}\n"]

    def _list_mark(self, properties: Element | None) -> str:
        wanted, level = _value(properties, "numPr/numId"), _value(properties, "numPr/ilvl")
        if wanted in ("", "0"):
            return ""
        depth = int(level) if level.isdigit() else 0
        ordered = self._numbers.get((wanted, depth)) not in (None, "bullet", "none")
        return f"{'  ' * min(depth, 8)}{'1.' if ordered else '-'} "

    def _flushed(self) -> list[str]:
        code, self._code = self._code, []
        return [fence("\n".join(code))] if code else []

    def _joined_lists(self, pieces: list[str]) -> list[str]:
        """Items of one list stand together."""
        joined: list[str] = []
        for piece in pieces:
            if joined and _is_item(piece) and _is_item(joined[-1]):
                joined[-1] += piece
            else:
                joined.append(piece)
        return joined

    def _text(self, element: Element) -> str:
        words: list[str] = []
        for one in walk(element, skip=_SKIPPED, whole=_WHOLE):
            match one.tag:
                case "t":
                    words.append(one.text or "")
                case "tab":
                    words.append("\t")
                case "br" | "cr" | "p":  # a paragraph inside one is that of a text box
                    words.append("\n")
                case "noBreakHyphen":
                    words.append("-")
                case "footnoteReference":
                    words.append(f"[^{one.get('id')}]")
                case "hyperlink":
                    shown = self._text(one)
                    kind, target = self._relations.get(one.get("r:id") or "", ("", ""))
                    is_link = shown.strip() and kind == "hyperlink" and "://" in target
                    words.append(f"[{one_line(shown)}]({target})" if is_link else shown)
        return "".join(words)

    def _table(self, element: Element) -> list[str]:
        before = self._flushed()
        rows = [[self._cell(cell) for cell in row.findall("tc")] for row in element.findall("tr")]
        return [*before, table(rows)] if rows else before

    def _cell(self, cell: Element) -> str:
        """Also of a table inside: its words, without its shape."""
        return " ".join(self._text(block) for block in _blocks(cell))

    def _footnotes(self) -> Iterator[str]:
        if self._notes not in self._package.names:
            return
        for note in self._package.tree(self._notes).iter("footnote"):
            words = " ".join(self._text(block).strip() for block in _blocks(note)).strip()
            if words and note.get("type") is None:
                yield f"[^{note.get('id')}]: {prose(one_line(words))}\n"


def _list_mark_of_style(name: str) -> str:
    found = _LISTED.match(name)
    if found is None:
        return ""
    return f"{'  ' * (int(found[2] or 1) - 1)}{'-' if found[1].lower() == 'bullet' else '1.'} "


def _blocks(element: Element) -> Iterator[Element]:
    """Paragraphs and tables, also those inside content controls."""
    waiting = list(reversed(element))
    while waiting:
        one = waiting.pop()
        if one.tag in ("p", "tbl"):
            yield one
        elif one.tag in ("sdt", "sdtContent", "ins", "customXml", "smartTag", "AlternateContent", "Choice"):
            waiting.extend(reversed(one))


def _styles(package: Package, name: str) -> dict[str, tuple[str, int]]:
    """Style id to (name, heading level); level 0 is no heading."""
    if name not in package.names:
        return {}
    found: dict[str, tuple[str, int]] = {}
    bases: dict[str, str] = {}
    for style in package.tree(name).iter("style"):
        style_id = style.get("styleId") or ""
        words, outline = _value(style, "name"), _value(style, "pPr/outlineLvl")
        heading_level = _HEADING.match(words)
        level = int(heading_level[1]) if heading_level is not None else 0
        if not level and outline.isdigit():
            level = (int(outline) + 1) % 10
        found[style_id] = (words, level)
        if base := _value(style, "basedOn"):
            bases[style_id] = base
    for style_id, (words, level) in list(found.items()):
        at = style_id
        for _ in range(_MAX_NESTING):
            if level or at not in bases:
                break
            at = bases[at]
            level = found.get(at, ("", 0))[1]
        found[style_id] = (words, level)
    return found


def _numbers(package: Package, name: str) -> dict[tuple[str, int], str]:
    """(list id, depth) to the format of its numbers."""
    if name not in package.names:
        return {}
    root = package.tree(name)
    formats: dict[tuple[str, int], str] = {}
    for abstract in root.iter("abstractNum"):
        for level in abstract.findall("lvl"):
            form = level.find("numFmt")
            written = level.get("ilvl") or "0"
            if form is not None and written.isdigit():
                formats[abstract.get("abstractNumId") or "", int(written)] = form.get("val") or ""
    found: dict[tuple[str, int], str] = {}
    for number in root.iter("num"):
        link = number.find("abstractNumId")
        for (abstract_id, depth), form_name in formats.items():
            if link is not None and link.get("val") == abstract_id:
                found[number.get("numId") or "", depth] = form_name
    return found


def _value(element: Element | None, path: str) -> str:
    """What the property below an element is set to; empty when it is not there."""
    found = element.find(path) if element is not None else None
    return (found.get("val") or "") if found is not None else ""


def _is_item(piece: str) -> bool:
    return piece.lstrip(" ").startswith(("- ", "1. "))
