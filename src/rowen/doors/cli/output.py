"""Where a command writes: results to standard output, messages to standard error, or JSON.

`drawing` is imported only when something is drawn. A reader that closed the pipe (`| head -1`) is no error:
what is written after that is dropped, and the work goes on. A result that cannot be written is one.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TextIO

from rowen.doors.cli.cells import cells
from rowen.doors.cli.starting.declared import click
from rowen.errors import TransientError

if TYPE_CHECKING:
    from rowen.doors.cli.drawing.console import Console
    from rowen.doors.cli.drawing.parts import Column
    from rowen.doors.cli.drawing.text import Drawable, Text

    Cell = str | Drawable | tuple[str, str]
    """What a table shows: text, text with its style, or something drawn."""

PIPE_WIDTH = 10_000
"""In a pipe lines are as long as they are: a program or `grep` reads them, not a screen."""

# Pages are written by strangers: their titles must not move the cursor or recolour the terminal.
_CONTROLS = dict.fromkeys([*range(32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A)], " ")

_BUT_LINES = {code: blank for code, blank in _CONTROLS.items() if chr(code) not in "\t\n"}


class Output:
    def __init__(self) -> None:
        self.json = False
        self.no_color = False

    @property
    def has_colours(self) -> bool:
        """Does a result for people get colours?"""
        return self.console.colours

    @property
    def draws(self) -> bool:
        """Is a result drawn? A pipe gets plain lines, and does not wait for what draws to be imported."""
        return _is_screen(sys.stdout)

    @property
    def width(self) -> int:
        """The columns of a line."""
        return terminal_width(sys.stdout) or PIPE_WIDTH

    @property
    def asks(self) -> bool:
        """Is a person there to answer a question?"""
        return not self.json and sys.stdin.isatty() and sys.stderr.isatty()

    @cached_property
    def console(self) -> Console:
        return self._open(stderr=False)

    @cached_property
    def messages(self) -> Console:
        return self._open(stderr=True)

    def emit(self, value: Mapping[str, Any]) -> None:
        """One JSON object, one line, at once."""
        write_line(sys.stdout, dumps(value, ascii_only=not _speaks_unicode(sys.stdout)))

    def print(self, *parts: str | Drawable) -> None:
        """A result for people; nothing in JSON mode."""
        if not self.json:
            _write(self.console, self.console.drawn(*parts))

    def page(self, part: Drawable) -> None:
        """A long result for people: a terminal that it does not fit on is given it in the user's pager."""
        if self.json:
            return
        text = self.console.drawn(part)
        if not self.console.is_terminal or text.count("\n") < self.console.height:
            _write(self.console, text)
        else:
            # Colours that are not insisted on: click starts `less` with -R for them, and leaves them out for
            # a pager that would show them as `ESC[1m`.
            click.echo_via_pager(text.rstrip("\n"), color=None if self.console.colours else False)

    def result(self, value: Mapping[str, Any], text: str) -> None:
        """The result of a command: JSON for programs, a line for people."""
        if self.json:
            self.emit(value)
        else:
            self.line(text)

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> None:
        """Columns by their headings: `>` before one aligns it right, `*` makes it bold, `~` lets it wrap."""
        if self.json:
            return
        if not self.draws:
            for line in _plain_table(columns, rows):
                write_line(sys.stdout, line)
            return
        from rowen.doors.cli.drawing.parts import Table
        from rowen.doors.cli.drawing.text import Text

        table = Table([_column(column) for column in columns], heading_style="dim")
        for row in rows:
            table.row(*(Text(*cell) if isinstance(cell, tuple) else cell for cell in row))
        self.print(table)

    def line(self, text: str | Text) -> None:
        """One line: never broken in a pipe, and between words on a terminal; addresses in it stay whole."""
        if self.json:
            return
        if isinstance(text, str):
            write_line(sys.stdout, "\n".join(wrapped(part, sys.stdout) for part in text.split("\n")))
        else:
            text.folds = False
            text.hang = text.hang or len(text.plain) - len(text.plain.lstrip()) + 2
            self.print(text)

    def styled(self, *parts: tuple[str, str], margin: int = 0, wraps: bool = False) -> None:
        """A line of pieces with their styles; without `wraps` it is left whole, so that it can be copied."""
        if self.json:
            return
        if not self.draws:
            write_line(sys.stdout, (" " * margin + "".join(text for text, _ in parts)).rstrip())
            return
        from rowen.doors.cli.drawing.parts import Indent
        from rowen.doors.cli.drawing.text import Text

        text = Text()
        for piece, style in parts:
            text.append(piece, style)
        if wraps:
            self.print(Indent(text, margin))
        else:
            self.line(Text(" " * margin).append(text))

    def note(self, text: str) -> None:
        """Something on the side, for people."""
        if not self.json:
            said = wrapped(clean(text), sys.stderr)
            write_line(sys.stderr, click.style(said, dim=True) if self.paints(sys.stderr) else said)

    def warn(self, text: str, hint: str | None = None) -> None:
        if not self.json:
            word = click.style("warning:", fg="yellow", bold=True) if self.paints(sys.stderr) else "warning:"
            said = wrapped(f"warning: {clean(text)}", sys.stderr)
            write_line(sys.stderr, said.replace("warning:", word, 1))
        if hint:
            self.note(f"hint: {hint}")

    def paints(self, stream: TextIO) -> bool:
        """Does this stream get colours?"""
        # Conventions between terminals and programs, not settings of ours.
        plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"  # noqa: TID251
        return _is_screen(stream) and not self.no_color and not plain

    def _open(self, *, stderr: bool) -> Console:
        from rowen.doors.cli.drawing.console import Console

        stream = sys.stderr if stderr else sys.stdout
        return Console(
            stream,
            terminal=_is_screen(stream),
            colours=self.paints(stream),
            width=None if stream.isatty() else PIPE_WIDTH,
        )


def _is_screen(stream: TextIO) -> bool:
    """A terminal, or what the user declares to be one, such as the log of a build that shows colours."""
    return stream.isatty() or bool(os.environ.get("FORCE_COLOR"))  # noqa: TID251


def _column(marked: str) -> Column:
    from rowen.doors.cli.drawing.parts import Column

    name = marked.lstrip(">*~")
    marks = marked[: len(marked) - len(name)]
    return Column(
        name,
        justify="right" if ">" in marks else "left",
        style="bold" if "*" in marks else "",
        wraps="~" in marks,
    )


def _write(console: Console, text: str) -> None:
    try:
        console.write(text)
    except BrokenPipeError:
        _to_nowhere(console.file)


def _plain_table(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Iterator[str]:
    names = [column.lstrip(">*~") for column in columns]
    right = [">" in column.removesuffix(name) for column, name in zip(columns, names, strict=True)]
    lines = [names, *([cell[0] if isinstance(cell, tuple) else str(cell) for cell in row] for row in rows)]
    widths = [max(map(cells, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        blanks = [" " * (width - cells(text)) for text, width in zip(line, widths, strict=True)]
        filled = (b + t if r else t + b for t, b, r in zip(line, blanks, right, strict=True))
        yield "  ".join(filled).rstrip()


def clean(text: str) -> str:
    """Text from outside, made harmless for a terminal and kept on one line."""
    return text.translate(_CONTROLS)


def clean_text(text: str) -> str:
    """Several lines from outside, made harmless for a terminal."""
    return text.translate(_BUT_LINES)


def terminal_width(stream: TextIO) -> int | None:
    """The columns of the terminal; None for anything else."""
    if not stream.isatty():
        return None
    import shutil

    return shutil.get_terminal_size().columns


def wrapped(text: str, stream: TextIO) -> str:
    """A line as a terminal should show it: broken at words, with what follows set in; a word stays whole."""
    width = terminal_width(stream)
    if width is None or len(text) <= width:
        return text
    import textwrap

    margin = " " * (len(text) - len(text.lstrip()) + 2)
    return textwrap.fill(
        text, width, subsequent_indent=margin, break_long_words=False, break_on_hyphens=False
    )


def dumps(value: Mapping[str, Any], *, ascii_only: bool = False) -> str:
    import json

    return json.dumps(value, ensure_ascii=ascii_only)


def write_line(stream: TextIO, text: str) -> None:
    try:
        stream.write(text + "\n")
        stream.flush()
    except BrokenPipeError:
        _to_nowhere(stream)
    except OSError as exc:
        # What is left in the buffer would fail again when the process ends.
        _to_nowhere(stream)
        if stream is not sys.stderr:
            said = f"the output cannot be written: {exc.strerror or exc}"
            raise TransientError(said, hint="free some space, or write it elsewhere") from exc


def close_quietly() -> None:
    """The last flush: a pipe that was closed is no error."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            _to_nowhere(stream)


def _to_nowhere(stream: TextIO) -> None:
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _speaks_unicode(stream: TextIO) -> bool:
    return (stream.encoding or "").lower().replace("-", "").startswith("utf")
