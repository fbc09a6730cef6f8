"""A document in two versions for a terminal: section by section, with the words that differ.

With colours, removed words are struck out in red and new ones are green; without, they stand in brackets as
`[-old-]{+new+}`, so that a pipe and a person who does not see colours read the same.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rowen.core.compare.sections import SectionChange, SectionDiff, TextDiff, fold
from rowen.core.compare.words import Mark, Piece, count_words
from rowen.doors.cli.output import clean, clean_text

if TYPE_CHECKING:
    from rowen.doors.cli.drawing.text import Drawable, Text

WHOLE_WORDS = 80
"""Of a new or removed section so many words are shown."""
SIGNS = {
    SectionChange.ADDED: ("+", "green", "new section"),
    SectionChange.REMOVED: ("-", "red", "removed section"),
    SectionChange.CHANGED: ("~", "yellow", ""),
    SectionChange.MOVED: (">", "cyan", "moved"),
}
BRACKETS = {
    Mark.EQUAL: ("", "", "default"),
    Mark.REMOVED: ("[-", "-]", "red strike"),
    Mark.ADDED: ("{+", "+}", "green"),
    Mark.FOLDED: ("", "", "dim"),
}
BEFORE_HEADINGS = "(before the first heading)"
_HEADING = re.compile(r"\A\s*#{1,6} [^\n]*(?:\n+|\Z)")
_BREAKS = re.compile(r"[ \t]*\n\s*")


def drawn(text: TextDiff, *, colours: bool) -> list[Drawable]:
    """The sections that differ, each with its heading and its words."""
    from rowen.doors.cli.drawing.parts import Indent
    from rowen.doors.cli.drawing.text import Text

    parts: list[Drawable] = []
    for section in fold(text).sections:
        if section.change not in SIGNS:
            continue
        sign, colour, said = SIGNS[section.change]
        heading = Text(f"    {sign} ", style=colour).append(clean(section.heading_path) or BEFORE_HEADINGS)
        parts.append(heading.append(f"  ({said})" if said else "", "dim"))
        if section.change is not SectionChange.MOVED:
            words = _words(section, colours=colours)
            if words.plain.strip():
                parts.append(Indent(words, 8))
    return parts


def _words(section: SectionDiff, *, colours: bool) -> Text:
    from rowen.doors.cli.drawing.text import Text

    pieces = _without_heading(section.pieces) if section.heading_path else list(section.pieces)
    whole = section.change in (SectionChange.ADDED, SectionChange.REMOVED)
    # What is new as a whole needs no mark on its words.
    marked = not whole
    text = Text()
    for piece in _shortened(pieces) if whole else pieces:
        if piece.mark is Mark.FOLDED:
            text.append(f"… {piece.words:,} more words" if whole else "… ", "dim")
            continue
        said = _BREAKS.sub("\n", clean_text(piece.text))
        opening, closing, style = BRACKETS[piece.mark]
        if colours or not marked:
            text.append(said, style)
            continue
        # Blanks around a word belong to the line, not to the change.
        words = said.strip()
        start, end = said[: len(said) - len(said.lstrip())], said[len(said.rstrip()) :]
        text.append(f"{start}{opening}{words}{closing}{end}" if words else said, style)
    text.rstrip()
    return text


def _without_heading(pieces: tuple[Piece, ...]) -> list[Piece]:
    """Without the line of the heading, which stands above; one that was edited stays."""
    if not pieces:
        return []
    first, *rest = pieces
    cut = _HEADING.sub("", first.text) if first.mark is not Mark.FOLDED else first.text
    return [Piece(first.mark, cut, first.words), *rest] if cut or first.mark is Mark.FOLDED else rest


def _shortened(pieces: list[Piece]) -> list[Piece]:
    """The beginning of a section that is new or gone as a whole."""
    mark, text = (pieces[0].mark if pieces else Mark.EQUAL), "".join(piece.text for piece in pieces)
    parts = re.findall(r"\S+\s*", text)
    if len(parts) <= WHOLE_WORDS:
        return [Piece(mark, text, len(parts))]
    rest = "".join(parts[WHOLE_WORDS:])
    return [Piece(mark, "".join(parts[:WHOLE_WORDS]), WHOLE_WORDS), Piece(Mark.FOLDED, "", count_words(rest))]
