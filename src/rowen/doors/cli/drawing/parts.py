"""What drawings are put together of: one below the other, set in, tables, a bar."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Literal

from rowen.doors.cli.drawing.text import Drawable, Line, Text, cut, stripped, width_of
from rowen.records import dataclass

UNLIMITED = 10**9


def drawable(part: str | Drawable) -> Drawable:
    return Text(part) if isinstance(part, str) else part


class Group:
    """Parts, one below the other."""

    def __init__(self, *parts: str | Drawable) -> None:
        self._parts = parts

    def lines(self, width: int) -> Iterator[Line]:
        for part in self._parts:
            yield from drawable(part).lines(width)


class Indent:
    """A part with a margin at its left, of blanks or of a mark."""

    def __init__(self, part: str | Drawable, margin: int | str) -> None:
        self._part = drawable(part)
        self._margin = " " * margin if isinstance(margin, int) else margin
        self._style = "dim" if self._margin.strip() else ""

    def lines(self, width: int) -> Iterator[Line]:
        for line in self._part.lines(max(width - len(self._margin), 1)):
            yield stripped([(self._margin, self._style), *line])


@dataclass(frozen=True, slots=True)
class Column:
    heading: str = ""
    justify: Literal["left", "right"] = "left"
    style: str = ""
    wraps: bool = False
    """A long cell is broken into lines; without it, it is cut where there is no room."""


class Table:
    """Columns as wide as they must be; where there is no room the widest give way, those that wrap first."""

    def __init__(self, columns: Sequence[Column], *, gap: int = 2, heading_style: str | None = None) -> None:
        self._columns = columns
        self._gap = gap
        self._heading_style = heading_style
        """None for a table without headings."""
        self._rows: list[list[Drawable]] = []

    def row(self, *cells: str | Drawable) -> None:
        self._rows.append(
            [
                Text(cell, column.style) if isinstance(cell, str) else cell
                for cell, column in zip(cells, self._columns, strict=True)
            ]
        )

    def lines(self, width: int) -> Iterator[Line]:
        headings: list[list[Drawable]] = []
        if self._heading_style is not None:
            headings = [[Text(column.heading, self._heading_style) for column in self._columns]]
        rows = [*headings, *self._rows]
        if not rows:
            return
        natural = [
            max((width_of(line) for cell in column for line in cell.lines(UNLIMITED)), default=0)
            for column in zip(*rows, strict=True)
        ]
        room = max(width - self._gap * (len(natural) - 1), len(natural))
        widths = _narrowed(natural, [column.wraps for column in self._columns], room)
        for row in rows:
            yield from self._drawn(row, widths)

    def _drawn(self, row: Sequence[Drawable], widths: Sequence[int]) -> Iterator[Line]:
        cells = [
            list(cell.lines(width)) if column.wraps else [cut(line, width) for line in cell.lines(UNLIMITED)]
            for cell, column, width in zip(row, self._columns, widths, strict=True)
        ]
        for parts in zip_longest(*cells, fillvalue=[]):
            line: Line = []
            for part, column, width in zip(parts, self._columns, widths, strict=True):
                blanks = (" " * (width - width_of(part)), "")
                line += [blanks, *part] if column.justify == "right" else [*part, blanks]
                line.append((" " * self._gap, ""))
            yield stripped(line)


def _narrowed(widths: Sequence[int], wraps: Sequence[bool], room: int) -> list[int]:
    narrowed = list(widths)
    for chosen in ([at for at, one in enumerate(wraps) if one], list(range(len(narrowed)))):
        while chosen and (excess := sum(narrowed) - room) > 0:
            widest = max(narrowed[at] for at in chosen)
            if widest <= 1:
                break
            level = max((narrowed[at] for at in chosen if narrowed[at] < widest), default=1)
            tallest = [at for at in chosen if narrowed[at] == widest]
            step = min(widest - level, -(-excess // len(tallest)))
            for at in tallest:
                taken = min(step, sum(narrowed) - room)
                narrowed[at] -= max(taken, 0)
    return narrowed


class Bar:
    """How much is done of what is known; an empty track where nothing is known yet."""

    def __init__(self, done: int, known: int | None, width: int) -> None:
        self._share = min(done / known, 1.0) if known else 0.0
        self._width = width

    def lines(self, width: int) -> Iterator[Line]:
        full = int(self._share * min(self._width, width))
        yield [("━" * full, "green"), ("─" * (min(self._width, width) - full), "dim")]


def blank() -> Text:
    return Text("")


def rows_of(parts: Iterable[str | Drawable]) -> Table:
    """One row of parts, beside each other."""
    cells = list(parts)
    table = Table([Column() for _ in cells], gap=1)
    table.row(*cells)
    return table
