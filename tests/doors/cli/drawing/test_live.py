"""A line that is drawn in its place, and what is written meanwhile."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from rowen.doors.cli.drawing.console import Console
from rowen.doors.cli.drawing.live import CLEAR, Live
from rowen.doors.cli.drawing.text import Text


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@contextmanager
def live(said: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Live, Screen]]:
    """A live line on a screen that is also the standard error."""
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    console = Console(screen, terminal=True, colours=False, width=20)
    with Live(console, lambda: Text(said), every_s=60) as line:
        yield line, screen
    assert sys.stderr is screen


def test_what_others_write_stands_above_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    with live("1/2 pages", monkeypatch) as (line, screen):
        line.refresh()
        sys.stderr.write("a warn")
        line.refresh()
        sys.stderr.write("ing\n")
        line.refresh()
    shown = screen.getvalue()
    assert f"{CLEAR}a warning\n{CLEAR}1/2 pages" in shown
    assert "a warn" + CLEAR not in shown


def test_half_a_line_is_not_lost_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    with live("1/2 pages", monkeypatch) as (_, screen):
        sys.stderr.write("no end")
    assert "no end\n" in screen.getvalue()


def test_a_line_is_cut_at_the_width_of_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    with live("x" * 30, monkeypatch) as (line, screen):
        line.refresh()
    assert f"{CLEAR}{'x' * 19}…" in screen.getvalue()


def test_an_error_leaves_the_terminal_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="broken"), live("1/2 pages", monkeypatch) as (_, screen):
        raise ValueError("broken")
    assert screen.getvalue().endswith("\x1b[?25h" + CLEAR)
