"""A run that somebody wished for: who waits for it, who watches it, and what it covers.

Values and waiting only; the desk carries it out.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from rowen.core.run import Event
from rowen.core.source import Source
from rowen.core.sync_request import joined
from rowen.engine.intake import OnEvent
from rowen.errors import TransientError
from rowen.service.attempts import Turn

MAX_UNREAD = 1000
"""Events that a slow watcher may have before it loses single items."""


class Stopping(TransientError):
    """This process ends; another one, or the next, will take the wish."""

    reason = "stopping"

    @classmethod
    def now(cls) -> Stopping:
        return cls("this server is about to stop", hint="ask again in a moment", retry_after_s=5.0)


class Watch:
    """The events of one run, for one reader at its own pace."""

    def __init__(self) -> None:
        self.over = False
        """Nothing more will come."""
        self.lost = 0
        """Events that were dropped because nobody read them in time."""
        self._events: deque[Event] = deque()
        self._news = asyncio.Event()

    async def news(self) -> None:
        """Wait until there is something to take, or nothing more will come."""
        await self._news.wait()

    def take(self) -> list[Event]:
        """What came since the last call."""
        self._news.clear()
        if self.over:
            self._news.set()
        events = list(self._events)
        self._events.clear()
        return events

    def tell(self, event: Event) -> None:
        if len(self._events) >= MAX_UNREAD:
            self.lost += 1
        else:
            self._events.append(event)
        self._news.set()

    def close(self) -> None:
        self.over = True
        self._news.set()


class Errand:
    def __init__(self, source: Source, *, full: bool, only: tuple[str, ...] | None) -> None:
        self.source = source
        self.full = full
        self.only = only
        self.begun = False
        """It cannot be widened any more."""
        self.tells_sinks = False
        """Nobody else does after it."""
        self.run_ids: list[int] = []
        """Every run of the turn so far, the last one last."""
        self.running: int | None = None
        """The run that is under way now; between two runs of a turn there is none."""
        self.task: asyncio.Task[Turn] | None = None
        self._listeners: list[OnEvent] = []
        self._watches: set[Watch] = set()

    def covers(self, *, full: bool, only: tuple[str, ...] | None) -> bool:
        """Does this run do all that is asked for?"""
        if full and not self.full:
            return False
        return self.only is None or (only is not None and set(only) <= set(self.only))

    def widen(self, *, full: bool, only: tuple[str, ...] | None) -> None:
        self.full = self.full or full
        self.only = joined(self.only, only)

    def listen(self, listener: OnEvent) -> None:
        self._listeners.append(listener)

    async def ended(self) -> Turn:
        if self.task is None:
            raise AssertionError("an errand that nobody runs")
        # Not awaited itself: a caller that goes away must not take the run with it.
        await asyncio.wait({self.task})
        if self.task.cancelled():
            raise Stopping.now()
        return self.task.result()

    def tell(self, event: Event) -> None:
        if event.kind == "started" and event.run_id is not None:
            self.run_ids.append(event.run_id)
            self.running = event.run_id
        elif event.kind == "finished":
            self.running = None
        for listener in self._listeners:
            listener(event)
        for watch in tuple(self._watches):
            watch.tell(event)
            if event.kind == "finished":
                watch.close()

    @property
    def watchers(self) -> int:
        return len(self._watches)

    @contextmanager
    def watched(self) -> Iterator[Watch]:
        """The events of the run that is under way now."""
        watch = Watch()
        self._watches.add(watch)
        try:
            yield watch
        finally:
            self._watches.discard(watch)

    def let_go(self) -> None:
        """Nothing more will be told to those who watch."""
        for watch in self._watches:
            watch.close()
