"""Things done side by side, the errors of them, the time they may take, and requests that a run ends.

A request that a run ends is a note in the store, so that any process may make it: a run of this process ends
at once, one of another at its next heartbeat. The run removes the note.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import cached_property
from typing import Any, TypeVar

from rowen.core.source import Source
from rowen.errors import LeaseLost, RowenError
from rowen.eventloop import asyncio
from rowen.ports.clock import Clock
from rowen.ports.store.notes import Notes

CANCEL = "cancel:"
"""Begins the names of the notes about runs that are to end."""

_T = TypeVar("_T")


async def each(items: Iterable[_T], work: Callable[[_T], Awaitable[None]], concurrency: int) -> None:
    """A few at a time; the first error ends it and is raised as it is."""
    waiting = iter(items)

    async def worker() -> None:
        for item in waiting:
            await work(item)

    tasks = [asyncio.create_task(worker()) for _ in range(concurrency)]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def within(
    limit_s: float, clock: Clock, work: Coroutine[Any, Any, _T], at_limit: Callable[[], None]
) -> _T | None:
    """What the work came to; 0 is no limit.

    Work that is still under way at its limit is cancelled, wherever it waits, after a call of `at_limit`.
    None when nothing came of it.
    """
    if not limit_s:
        return await work
    working, alarm = asyncio.create_task(work), asyncio.create_task(clock.sleep(limit_s))
    try:
        await asyncio.wait({working, alarm}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            at_limit()
            working.cancel()
            await asyncio.wait({working})
        return None if working.cancelled() else working.result()
    finally:
        alarm.cancel()
        working.cancel()
        await asyncio.gather(alarm, working, return_exceptions=True)


def first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The one error that matters of a group: a lost lease, then a bug, then what we raise on purpose."""
    errors: list[BaseException] = []
    waiting: list[BaseException] = [group]
    while waiting:
        error = waiting.pop()
        if isinstance(error, BaseExceptionGroup):
            waiting.extend(error.exceptions)
        else:
            errors.append(error)
    return min(errors, key=lambda e: (not isinstance(e, LeaseLost), isinstance(e, RowenError)))


class CancelRequested(RowenError):
    """Raised inside a run that was cancelled."""

    reason = "cancelled"


class Dropped(RowenError):
    """A sync that waited for its turn was cancelled."""

    reason = "cancelled"

    @classmethod
    def of(cls, source: Source) -> Dropped:
        return cls(f"source `{source.label}`: the sync was cancelled before it began")


class Cancels:
    """The runs of this process, each with an event that is set when it is cancelled."""

    def __init__(self) -> None:
        self._runs: dict[int, asyncio.Event] = {}

    @contextmanager
    def watched(self, run_id: int) -> Iterator[asyncio.Event]:
        self._runs[run_id] = asyncio.Event()
        try:
            yield self._runs[run_id]
        finally:
            del self._runs[run_id]

    def request(self, run_id: int) -> None:
        if run_id in self._runs:
            self._runs[run_id].set()


class IngestionGate:
    """Batches are ingested side by side in a process; a suspect while nothing else is."""

    def __init__(self) -> None:
        self._batches = 0
        self._suspects = 0
        """In work or waiting for it: no batch begins before they had their turn."""
        self._taken = False

    @cached_property
    def _changed(self) -> asyncio.Condition:
        return asyncio.Condition()

    @asynccontextmanager
    async def batch(self) -> AsyncIterator[None]:
        async with self._changed:
            await self._changed.wait_for(lambda: not self._suspects)
            self._batches += 1
        try:
            yield
        finally:
            self._batches -= 1
            await self._tell()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        self._suspects += 1
        try:
            async with self._changed:
                await self._changed.wait_for(lambda: not self._batches and not self._taken)
                self._taken = True
            try:
                yield
            finally:
                self._taken = False
        finally:
            self._suspects -= 1
            await self._tell()

    async def _tell(self) -> None:
        async with self._changed:
            self._changed.notify_all()


async def request_cancel(store: Notes, cancels: Cancels, run_id: int) -> None:
    await store.save_note(f"{CANCEL}{run_id}", True)
    cancels.request(run_id)


async def is_cancelled(store: Notes, run_id: int) -> bool:
    return bool(await store.note(f"{CANCEL}{run_id}"))


async def forget_cancel(store: Notes, run_id: int) -> None:
    await store.save_note(f"{CANCEL}{run_id}", None)
