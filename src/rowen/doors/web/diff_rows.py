"""The words that differ in a document as rows of two sides: what was, and what is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from rowen.core.compare.sections import SectionChange, SectionDiff, TextDiff, fold
from rowen.core.compare.words import Mark, Piece
from rowen.core.section import join_path
from rowen.doors.web.markdown import without_marks

Row = dict[str, Any]
_HEADING = re.compile(r"\A#{1,6}[ \t][^\n]*(?:\n\s*|\Z)")
Shown = tuple[str, str]
"""The name of a mark, and text."""
BLANKS = {"added": "added_blank", "removed": "removed_blank"}
"""How blanks beside changed words are marked: they stand on one side, and look like nothing."""
_BLANK = re.compile(r"\n\s*\n")


def short_path(path: str, title: str) -> str:
    """A heading path without the title of its document, unless that is all of it."""
    return path.removeprefix(join_path((title, ""))) or path


def rows(text: TextDiff, *, title: str, chars: int) -> tuple[list[Row], bool]:
    """The rows of a diff with its neighbours folded, and whether they were cut after so many characters."""
    made: list[Row] = []
    for section in fold(text).sections:
        if chars <= 0:
            return made, True
        for row in _of_section(section, title):
            made.append(row)
            chars -= sum(len(piece) for side in ("left", "right") for _, piece in row[side])
            if chars <= 0:
                break
    return made, chars <= 0


def _of_section(section: SectionDiff, title: str) -> Iterator[Row]:
    if section.change is SectionChange.FOLDED:
        word = "section" if section.sections == 1 else "sections"
        yield {"kind": "fold", "said": f"{section.sections} {word} unchanged", "left": [], "right": []}
        return
    if section.heading_path and (section.heading_path != title or section.change is not SectionChange.EQUAL):
        yield _heading(section, title)
    if section.change in (SectionChange.ADDED, SectionChange.REMOVED, SectionChange.CHANGED):
        for pieces in _paragraphs(_below_heading(section.pieces)):
            yield _pair(pieces)


def _heading(section: SectionDiff, title: str) -> Row:
    named = [("equal", short_path(section.heading_path, title))]
    gone, new = section.change is SectionChange.REMOVED, section.change is SectionChange.ADDED
    return {
        "kind": "heading",
        "change": section.change.value,
        "said": "moved" if section.change is SectionChange.MOVED else "",
        "left": [] if new else named,
        "right": [] if gone else named,
    }


def _below_heading(pieces: Iterable[Piece]) -> list[Piece]:
    """Without the heading line, which has a row of its own."""
    found = list(pieces)
    if found and found[0].mark is not Mark.FOLDED:
        first = found[0]
        found[0] = Piece(first.mark, _HEADING.sub("", first.text, count=1), first.words)
    return found


def _paragraphs(pieces: Iterable[Piece]) -> Iterator[list[tuple[str, str]]]:
    """Pieces in paragraphs: a blank line in what both sides have ends one."""
    row: list[tuple[str, str]] = []
    for piece in pieces:
        if piece.mark is Mark.FOLDED:
            row.append(("folded", f"… {piece.words:,} words …"))
            continue
        parts = _BLANK.split(piece.text) if piece.mark is Mark.EQUAL else [piece.text]
        for index, part in enumerate(parts):
            if index and row:
                yield row
                row = []
            if shown := without_marks(part):
                row.append((piece.mark.value, shown))
    if row:
        yield row


def _pair(pieces: list[Shown]) -> Row:
    marks = {mark for mark, text in pieces if text.strip()}
    changed = bool(marks & {"added", "removed"})
    if len(marks) == 1:
        # A paragraph that is new or gone as a whole has its ground; its words need no mark of their own.
        pieces = [(mark if mark == "folded" else "equal", text) for mark, text in pieces]
        return _row(changed, [] if "added" in marks else pieces, [] if "removed" in marks else pieces)
    pieces = [part for piece in pieces for part in _marked(piece)]
    left = [one for one in pieces if not one[0].startswith("added")]
    return _row(changed, left, [one for one in pieces if not one[0].startswith("removed")])


def _row(changed: bool, left: list[Shown], right: list[Shown]) -> Row:
    return {"kind": "pair" if changed else "same", "said": "", "left": left, "right": right}


def _marked(piece: Shown) -> Iterator[Shown]:
    """A changed piece with the blanks around its words outside of the mark, on the side that has them."""
    mark, text = piece
    words = text.strip()
    if mark not in BLANKS or words == text:
        yield piece
        return
    start = len(text) - len(text.lstrip())
    for part, is_words in ((text[:start], False), (words, True), (text[start + len(words) :], False)):
        if part:
            yield (mark if is_words else BLANKS[mark], part)
