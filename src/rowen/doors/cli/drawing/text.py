"""Words with their styles, and how they are broken into lines.

A style is a few words: `bold`, `dim`, `italic`, `underline`, `strike`, a colour, `link:ADDRESS`; `default` or
nothing is plain. What is drawn gives lines of pieces; the console alone turns styles into codes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, Self

from rowen.doors.cli.cells import cells
from rowen.patterns import pattern

Piece = tuple[str, str]
Line = list[Piece]

CUT = "…"
_WORD = pattern(r"\s*\S+|\s+")


class Drawable(Protocol):
    """Something that can be shown in so many columns."""

    def lines(self, width: int) -> Iterable[Line]: ...


class Text:
    """Pieces of text; what is appended without a style gets that of the beginning."""

    def __init__(self, plain: str = "", style: str = "", *, whole: bool = False) -> None:
        self.style = style
        self.pieces: list[Piece] = [(plain, style)] if plain else []
        self.whole = whole
        """Never broken, so that an address can be copied."""
        self.folds = True
        """A word that is longer than a line is broken."""
        self.hang = 0
        """The margin of the lines behind the first."""

    @property
    def plain(self) -> str:
        return "".join(text for text, _ in self.pieces)

    def __str__(self) -> str:
        return self.plain

    def append(self, other: str | Text, style: str | None = None) -> Self:
        if isinstance(other, Text):
            self.pieces += other.pieces
        elif other:
            self.pieces.append((other, self.style if style is None else style))
        return self

    def join(self, parts: Iterable[Text]) -> Text:
        joined = Text()
        for part in parts:
            if joined.pieces:
                joined.append(self)
            joined.append(part)
        return joined

    def rstrip(self) -> Self:
        self.pieces = stripped(self.pieces)
        return self

    def lines(self, width: int) -> Iterator[Line]:
        for line in _split(self.pieces):
            if self.whole:
                yield line
            else:
                yield from wrapped(line, width, folds=self.folds, hang=self.hang)


def width_of(line: Line) -> int:
    return sum(cells(text) for text, _ in line)


def stripped(line: Sequence[Piece]) -> Line:
    """Without the blanks at its end."""
    kept = list(line)
    while kept:
        text, style = kept.pop()
        if text := text.rstrip():
            kept.append((text, style))
            break
    return kept


def cut(line: Line, width: int) -> Line:
    """The beginning of a line that is too long, with a mark at its end."""
    if width_of(line) <= width:
        return line
    room = max(width - cells(CUT), 0)
    kept: Line = []
    for text, style in line:
        part = text[: _fitting(text, room)]
        room -= cells(part)
        kept.append((part, style))
        if part != text:
            break
    return [*kept, (CUT, kept[-1][1])]


def wrapped(line: Line, width: int, *, folds: bool = True, hang: int = 0) -> Iterator[Line]:
    """Broken between words; a word that is longer than a line is folded, or left whole."""
    plain = "".join(text for text, _ in line)
    start = 0
    margin: Line = []
    hang = min(hang, width // 2)
    for end in _breaks(plain, max(width, 1), folds=folds, hang=hang):
        yield stripped([*margin, *_slice(line, start, end)])
        margin = [(" " * hang, "")] if hang else []
        # The blanks at a break are not shown at the beginning of the next line.
        start = end + len(plain[end:]) - len(plain[end:].lstrip())
    yield stripped([*margin, *_slice(line, start, len(plain))])


def _breaks(plain: str, width: int, *, folds: bool, hang: int) -> Iterator[int]:
    used, margin = 0, 0
    for found in _WORD.finditer(plain):
        word, at = found[0], found.start()
        if used + cells(word.rstrip()) <= width:
            used += cells(word)
            continue
        if used > margin and word.strip():
            yield at
            word = word.lstrip()
            margin = hang
            at, used = found.end() - len(word), margin
        while folds and used + cells(word.rstrip()) > width:
            fits = max(_fitting(word, width - used), 1)
            at += fits
            word = word[fits:]
            yield at
            margin = used = hang
        used += cells(word)


def _fitting(text: str, width: int) -> int:
    """How many characters fit into so many columns."""
    if text.isascii():
        return min(len(text), width)
    used = 0
    for number, one in enumerate(text):
        used += cells(one)
        if used > width:
            return number
    return len(text)


def _split(pieces: Iterable[Piece]) -> Iterator[Line]:
    """The lines that the text itself has."""
    line: Line = []
    for text, style in pieces:
        first, *rest = text.split("\n")
        line.append((first, style))
        for part in rest:
            yield line
            line = [(part, style)]
    yield line


def _slice(line: Line, start: int, end: int) -> Line:
    found: Line = []
    at = 0
    for text, style in line:
        if at >= end:
            break
        if part := text[max(start - at, 0) : end - at]:
            found.append((part, style))
        at += len(text)
    return found
