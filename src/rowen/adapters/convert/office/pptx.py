"""PowerPoint presentations: one section for each slide, with its tables and the speaker's notes."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from rowen.adapters.convert.office.ooxml import Package, walk
from rowen.adapters.convert.pieces import file_name, heading, one_line, prose, table
from rowen.core.document import Converted

_MAIN = "ppt/presentation.xml"
_MAX_SLIDES = 2_000
_TITLES = frozenset(("title", "ctrTitle"))
# Numbers, dates and footers repeat on every slide.
_REPEATED = frozenset(("sldNum", "dt", "ftr", "hdr"))
_NO_SKIP: frozenset[str] = frozenset(("Fallback",))


def convert_pptx(body: bytes, url: str) -> Converted:
    package = Package(body, url)
    relations = package.relations(_MAIN)
    targets = [
        relations.get(slide.get("r:id") or "", ("", ""))[1] for slide in package.tree(_MAIN).iter("sldId")
    ]
    slides = [target for target in targets if target in package.names]
    sections: list[str] = []
    first_title = ""
    for number, name in enumerate(slides[:_MAX_SLIDES], 1):
        title, blocks = _slide(package, name)
        first_title = first_title or title
        sections += [heading(2, f"Slide {number}: {title}" if title else f"Slide {number}"), *blocks]
    if len(slides) > _MAX_SLIDES:
        sections.append(f"{len(slides) - _MAX_SLIDES} of {len(slides)} slides are left out.\n")
    properties = package.core_properties()
    title = properties.get("title", "")
    if not title or title.lower() in ("powerpoint presentation", "presentation"):
        title = first_title or file_name(url)
    text = "\n".join([heading(1, title), *sections])
    return Converted(title, text, metadata={"slides": len(slides)})


def _slide(package: Package, name: str) -> tuple[str, list[str]]:
    title, blocks = _shapes(package.tree(name))
    for kind, target in package.relations(name).values():
        if kind == "notesSlide" and target in package.names:
            _, notes = _shapes(package.tree(target))
            if notes:
                blocks += ["**Notes**\n", *notes]
    return title, blocks


def _shapes(root: Element) -> tuple[str, list[str]]:
    title = ""
    blocks: list[str] = []
    for one in walk(root, skip=_NO_SKIP):
        if one.tag == "sp":
            place = one.find("nvSpPr/nvPr/ph")
            kind = place.get("type") or "" if place is not None else ""
            body = one.find("txBody")
            if body is None or kind in _REPEATED:
                continue
            if kind in _TITLES and not title:
                title = one_line(" ".join(words for _, words in _paragraphs(body)))
            elif lines := _lines(body):
                blocks.append("\n".join(lines) + "\n")
        elif one.tag == "tbl":
            rows = [
                [" ".join(words for _, words in _paragraphs(cell)) for cell in row.findall("tc")]
                for row in one.findall("tr")
            ]
            blocks.append(table(rows))
    return title, [block for block in blocks if block.strip()]


def _lines(body: Element) -> list[str]:
    paragraphs = list(_paragraphs(body))
    if len(paragraphs) == 1 and not paragraphs[0][0]:
        return [prose(paragraphs[0][1])]
    return [f"{'  ' * min(depth, 8)}- {prose(words)}" for depth, words in paragraphs]


def _paragraphs(body: Element) -> Iterator[tuple[int, str]]:
    """(depth, words) of each paragraph that says something."""
    for paragraph in body.iter("p"):
        words = one_line(
            "".join(
                " " if one.tag in ("br", "tab") else one.text or ""
                for one in paragraph.iter()
                if one.tag in ("t", "br", "tab")
            )
        )
        properties = paragraph.find("pPr")
        depth = properties.get("lvl") or "0" if properties is not None else "0"
        if words:
            yield int(depth) if depth.isdigit() else 0, words
