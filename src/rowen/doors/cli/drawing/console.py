"""Where drawings are written: a stream, its width, and whether it gets colours."""

from __future__ import annotations

import shutil
import sys
from itertools import groupby
from operator import itemgetter
from typing import TextIO

from rowen.doors.cli.drawing.parts import drawable
from rowen.doors.cli.drawing.text import Drawable, Line
from rowen.doors.cli.starting.declared import click

ESCAPE = "\x1b"
CODES = {
    "bold": 1,
    "dim": 2,
    "italic": 3,
    "underline": 4,
    "strike": 9,
    "red": 31,
    "green": 32,
    "yellow": 33,
    "blue": 34,
    "magenta": 35,
    "cyan": 36,
}
LINK = "link:"
PLAIN = str.maketrans({"━": "=", "─": "-", "…": "~", "•": "*", "▌": "|", "·": "-"})
"""For streams whose encoding has no such characters."""


class Console:
    def __init__(
        self,
        file: TextIO,
        *,
        terminal: bool,
        colours: bool,
        width: int | None = None,
        height: int | None = None,
    ) -> None:
        self.file = file
        self.is_terminal = terminal
        self.colours = colours
        self._width = width
        self._height = height

    @property
    def width(self) -> int:
        return self._width or shutil.get_terminal_size().columns

    @width.setter
    def width(self, columns: int) -> None:
        self._width = columns

    @property
    def height(self) -> int:
        return self._height or shutil.get_terminal_size().lines

    def drawn(self, *parts: str | Drawable, width: int | None = None) -> str:
        """The parts as this stream shows them, each line with its end."""
        columns = width or self.width
        lines = (self.painted(line) for part in parts for line in drawable(part).lines(columns))
        return "".join(f"{line}\n" for line in lines)

    def painted(self, line: Line) -> str:
        if not self.colours:
            return "".join(text for text, _ in line)
        same = groupby(line, key=itemgetter(1))
        return "".join(_painted("".join(text for text, _ in pieces), style) for style, pieces in same)

    def write(self, text: str) -> None:
        """At once; for terminals that know no codes, those of Windows, click translates them."""
        try:
            text.encode(self.file.encoding or "utf-8")
        except (UnicodeEncodeError, LookupError):
            text = text.translate(PLAIN).encode("ascii", "replace").decode("ascii")
        if sys.platform == "win32" or (ESCAPE in text and not self.is_terminal):
            click.echo(text, file=self.file, nl=False, color=self.is_terminal)
        else:
            self.file.write(text)
        self.file.flush()


def _painted(text: str, style: str) -> str:
    words = style.split()
    codes = ";".join(str(CODES[word]) for word in words if word in CODES)
    shown = f"\x1b[{codes}m{text}\x1b[0m" if codes and text else text
    address = next((word.removeprefix(LINK) for word in words if word.startswith(LINK)), "")
    return f"\x1b]8;;{address}\x1b\\{shown}\x1b]8;;\x1b\\" if address else shown
