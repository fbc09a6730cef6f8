"""A sync job: a run of a source with its retries, the callers that wait for it, the watches on its events.

Values and waiting only; the sync queue runs it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from rowen.core.run import Event
from rowen.core.source import Source
from rowen.core.sync_request import joined
from rowen.engine.intake import OnEvent
from rowen.engine.tasks import Dropped
from rowen.errors import TransientError
from rowen.service.attempts import RunResult

MAX_UNREAD = 1000
"""Events that a watch keeps unread; later ones are dropped until its reader takes some."""


class Stopping(TransientError):
    """This process ends; the sync request stays in the store for the next one."""

    reason = "stopping"

    @classmethod
    def now(cls) -> Stopping:
        return cls("this server is about to stop", hint="ask again in a moment", retry_after_s=5.0)


class Watch:
    """The events of one run, for one reader at its own pace."""

    def __init__(self) -> None:
        self.over = False
        """No event will be added any more."""
        self.lost = 0
        """Events dropped because the reader had `MAX_UNREAD` of them to read."""
        self._events: deque[Event] = deque()
        self._news = asyncio.Event()

    async def news(self) -> None:
        """Wait until `take` has something to return, or the watch is over."""
        await self._news.wait()

    def take(self) -> list[Event]:
        """The events since the last call."""
        self._news.clear()
        if self.over:
            self._news.set()
        events = list(self._events)
        self._events.clear()
        return events

    def put(self, event: Event) -> None:
        if len(self._events) >= MAX_UNREAD:
            self.lost += 1
        else:
            self._events.append(event)
        self._news.set()

    def close(self) -> None:
        self.over = True
        self._news.set()


class SyncJob:
    def __init__(
        self, source: Source, *, full: bool, only: tuple[str, ...] | None, hooked: Collection[str] = ()
    ) -> None:
        self.source = source
        self.full = full
        self.only = only
        self.hooked = frozenset(hooked)
        """What web hooks named."""
        self.force = False
        """The caller insists, though the upstream may be paused."""
        self.begun = False
        """It cannot be widened any more."""
        self.dropped = False
        """It was cancelled before it began."""
        self.run_ids: list[int] = []
        """Every run of the job so far, the last one last."""
        self.running: int | None = None
        """The run that is under way now; None between two runs of the job."""
        self.task: asyncio.Task[RunResult] | None = None
        self._listeners: list[OnEvent] = []
        self._watches: set[Watch] = set()

    def covers(self, *, full: bool, only: tuple[str, ...] | None) -> bool:
        """Does this job do all that is asked for?"""
        if full and not self.full:
            return False
        return self.only is None or (only is not None and set(only) <= set(self.only))

    def widen(self, *, full: bool, only: tuple[str, ...] | None, hooked: Collection[str] = ()) -> None:
        self.full = self.full or full
        self.hooked = self.hooked.union(hooked)
        self.only = joined(self.only, only)

    def listen(self, listener: OnEvent) -> None:
        self._listeners.append(listener)

    async def ended(self) -> RunResult:
        if self.task is None:
            raise AssertionError("a sync job without a task")
        # Waited for, not awaited: the cancellation of one caller must not cancel the run.
        await asyncio.wait({self.task})
        if self.task.cancelled():
            if self.dropped:
                raise Dropped.of(self.source)
            raise Stopping.now()
        return self.task.result()

    def on_event(self, event: Event) -> None:
        if event.kind == "started" and event.run_id is not None:
            self.run_ids.append(event.run_id)
            self.running = event.run_id
        elif event.kind == "finished":
            self.running = None
        for listener in self._listeners:
            listener(event)
        for watch in tuple(self._watches):
            watch.put(event)
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

    def close_watches(self) -> None:
        for watch in self._watches:
            watch.close()
