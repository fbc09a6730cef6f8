"""A line that is drawn again and again in its place, and is gone at the end.

What others write to the screen meanwhile stands above it, whole lines at a time.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any, Self, TextIO

from rowen.doors.cli.drawing.console import Console
from rowen.doors.cli.drawing.parts import UNLIMITED
from rowen.doors.cli.drawing.text import Drawable, cut

CLEAR = "\r\x1b[2K"
HIDE_CURSOR, SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"


class Live:
    def __init__(self, console: Console, frame: Callable[[], Drawable], *, every_s: float = 0.1) -> None:
        self._console = console
        self._frame = frame
        self._every_s = every_s
        self._stopped = threading.Event()
        self._turn = threading.RLock()
        self._thread = threading.Thread(target=self._draw_on, name="live line", daemon=True)
        self._streams: tuple[TextIO, TextIO] | None = None

    def __enter__(self) -> Self:
        self._console.write(HIDE_CURSOR)
        self._streams = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = (self._above(one) for one in self._streams)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()
        if self._streams is not None:
            for stream in (sys.stdout, sys.stderr):
                if isinstance(stream, _Above):
                    stream.end()
            sys.stdout, sys.stderr = self._streams
        self._console.write(SHOW_CURSOR + CLEAR)

    def refresh(self) -> None:
        """Draw it now."""
        with self._turn:
            line = next(iter(self._frame().lines(UNLIMITED)), [])
            self._console.write(CLEAR + self._console.painted(cut(line, self._console.width)))

    def above(self, stream: TextIO, text: str) -> None:
        """Whole lines of other parts; the live line comes back with its next frame."""
        with self._turn:
            self._console.write(CLEAR)
            stream.write(text)
            stream.flush()

    def _above(self, stream: TextIO) -> TextIO:
        return _Above(stream, self) if stream.isatty() else stream  # type: ignore[return-value]

    def _draw_on(self) -> None:
        while not self._stopped.is_set():
            self.refresh()
            self._stopped.wait(self._every_s)


class _Above:
    """A stream to the screen while a live line is on it."""

    def __init__(self, stream: TextIO, live: Live) -> None:
        self._stream = stream
        self._live = live
        self._begun = ""

    def write(self, text: str) -> int:
        whole, end, rest = (self._begun + text).rpartition("\n")
        self._begun = rest
        if end:
            self._live.above(self._stream, whole + end)
        return len(text)

    def end(self) -> None:
        if self._begun:
            self._live.above(self._stream, self._begun + "\n")
            self._begun = ""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
