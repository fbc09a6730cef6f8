"""A run as it goes on, told on standard error: a live bar on a terminal, plain lines in a pipe, or JSON.

All of them read the one stream of events. An event costs a counter and an assignment; drawing happens at its
own pace, some ten times a second, however fast the run is.
"""

from __future__ import annotations

import sys
import time
from abc import abstractmethod
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, Protocol, Self, TypeVar

from rowen.core.document import Outcome
from rowen.core.run import Counters, Event, asked_of
from rowen.doors.cli.output import Output, clean, dumps, write_line

if TYPE_CHECKING:
    from rowen.doors.cli.drawing.console import Console
    from rowen.doors.cli.drawing.live import Live
    from rowen.doors.cli.drawing.text import Drawable

LINE_EVERY_S = 5.0
LINE_EVERY_ITEMS = 500
FAILURES_TOLD = 20
RATE_OVER_S = 3.0


Told = TypeVar("Told", contravariant=True)


class Progress(Protocol[Told]):
    """Called with each event; entered before the first and left after the last."""

    def __call__(self, event: Told) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *_: object) -> None: ...


def choose(style: str, out: Output) -> Progress[Event]:
    """`auto` never mixes words into what a program may read as JSON."""
    if style == "auto":
        style = "bar" if sys.stderr.isatty() else "none" if out.json else "lines"
    match style:
        case "bar":
            return BarProgress(out.messages)
        case "lines":
            return LineProgress()
        case "json":
            return JsonProgress()
    return Silence()


class Silence(Generic[Told]):
    def __call__(self, event: Told) -> None:
        return None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None


class JsonProgress(Silence[Event]):
    def __call__(self, event: Event) -> None:
        from rowen.doors.shapes import runs as shapes  # which the other ways do not need

        write_line(sys.stderr, dumps(shapes.Event.show(event)))


class Lines(Silence[Told]):
    """Plain lines, some of them now and then."""

    def __init__(
        self,
        write: Callable[[str], None] = lambda line: write_line(sys.stderr, line),
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._write = write
        self._monotonic = monotonic
        self._begin()

    @abstractmethod
    def _begin(self) -> None:
        """What is known before the first event."""


class Redrawn(Silence[Told]):
    """One line that is redrawn in place, and is gone at the end."""

    def __init__(self, console: Console, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._monotonic = monotonic
        self._live: Live | None = None

    def __enter__(self) -> Self:
        from rowen.doors.cli.drawing.live import Live

        self._live = Live(self._console, self.frame)
        self._live.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.__exit__()

    @abstractmethod
    def frame(self) -> Drawable:
        """What the line shows now."""


class LineProgress(Lines[Event]):
    """Few lines: a start, a sign of life now and then, each failure, an end."""

    def _begin(self) -> None:
        self._done = 0
        self._failed = 0
        self._started = self._told = self._monotonic()

    def __call__(self, event: Event) -> None:
        match event.kind:
            case "item":
                self._item(event)
            case "started":
                self._begin()
                self._write(f"{event.source}: started")
            case "phase":
                self._write(f"{event.source}: {event.detail}")
            case "finished":
                self._write(f"{event.source}: {event.detail}, {_figures(event, self._done)}")

    def _item(self, event: Event) -> None:
        self._done += 1
        if event.outcome is Outcome.FAILED:
            self._tell_failure(event)
        # The clock is asked for one item in sixteen: on a fast refresh it would cost more than the counting.
        if self._done % LINE_EVERY_ITEMS == 0 or (
            self._done & 15 == 0 and self._monotonic() - self._told > LINE_EVERY_S
        ):
            self._told = self._monotonic()
            rate = self._done / max(self._told - self._started, 0.001)
            ahead = f" of {self._done + event.queued:,} known" if event.queued else ""
            pages = _asked(event, self._done) or f"{self._done:,}{ahead} pages"
            self._write(f"{event.source}: {pages}, {_figures(event, self._done)}, {rate:.0f}/s")

    def _tell_failure(self, event: Event) -> None:
        self._failed += 1
        if self._failed <= FAILURES_TOLD:
            self._write(clean(f"{event.source}: failed: {event.detail or event.reference} ({event.reason})"))
        elif self._failed == FAILURES_TOLD + 1:
            self._write(f"{event.source}: more failures follow; see `rowen runs {event.source} --items`")


def _asked(event: Event, done: int) -> str:
    """`asked 500 of 10,000 pages`, of a run with a budget."""
    return asked_of(done, event.counters.not_due if event.counters else 0, event.queued)


class BarProgress(Redrawn[Event]):
    def __init__(self, console: Console, monotonic: Callable[[], float] = time.monotonic) -> None:
        super().__init__(console, monotonic)
        self._event: Event | None = None
        self._done = 0
        self._past: deque[tuple[float, int]] = deque()
        self._started = monotonic()

    def __call__(self, event: Event) -> None:
        if event.kind == "item":
            self._done += 1
        elif event.kind == "started":
            self._done = 0
            self._past.clear()
            self._started = self._monotonic()
        elif event.kind == "finished":
            # Nothing more is coming; the receipt takes the bar's place.
            self._event = None
            return
        self._event = event

    def frame(self) -> Drawable:
        from rowen.doors.cli.drawing.parts import Bar, blank, rows_of
        from rowen.doors.cli.drawing.text import Text

        event, done = self._event, self._done
        if event is None:
            return blank()
        known = done + event.queued
        counters = event.counters
        cells: list[Drawable] = [
            Text(event.source, style="bold"),
            Bar(done, known, self._bar_width()),
            Text(_asked(event, done) or f"{done:,}/{known:,} pages" if known else "starting"),
        ]
        if counters is not None:
            changed = counters.changed
            cells += [
                Text(f"{changed:,} changed", style="green" if changed else "dim"),
                Text(f"{counters.failed:,} failed", style="red" if counters.failed else "dim"),
            ]
            if left_out := _left_out(counters):
                cells.append(Text(left_out, style="yellow"))
        rate = self._rate(done)
        left = f"{clock((known - done) / rate)} left" if rate and known > done else ""
        passed = clock(self._monotonic() - self._started)
        cells.append(
            Text(", ".join(filter(None, (f"{rate:.0f}/s" if rate >= 1 else "", left or passed))), style="dim")
        )
        return rows_of(cells)

    def _bar_width(self) -> int:
        # The figures need some sixty columns; what is left is the bar's, within reason.
        return max(6, min(24, self._console.width - 68))

    def _rate(self, done: int) -> float:
        """Pages a second over the last moments, not since the start: it shows when a server slows down."""
        now = self._monotonic()
        self._past.append((now, done))
        while len(self._past) > 2 and now - self._past[0][0] > RATE_OVER_S:
            self._past.popleft()
        then, before = self._past[0]
        return (done - before) / (now - then) if now > then else 0.0


def _figures(event: Event, done: int) -> str:
    counters = event.counters
    if counters is None:
        return f"{done:,} done"
    figures = (
        f"{counters.changed:,} changed, {counters.not_modified:,} not modified, {counters.failed:,} failed"
    )
    left_out = _left_out(counters)
    return f"{figures}, {left_out}" if left_out else figures


def _left_out(counters: Counters) -> str:
    """`16 left out`, for a limit; the receipt says which and what changes it."""
    number = sum(counters.left_out.values())
    return f"{number:,} left out" if number else ""


def clock(passed_s: float) -> str:
    minutes, seconds = divmod(int(passed_s), 60)
    return f"{minutes}:{seconds:02d}"
