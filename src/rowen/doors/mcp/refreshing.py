"""A sync on behalf of a client: told of as it goes, and ended in good order when the client goes away.

The run has a task of its own. A client's cancellation reaches a handler again and again until it gives in;
a run wants to be told once, and then be left to write down how far it came.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import anyio

from rowen.core.run import Event, Run
from rowen.core.source import Source
from rowen.engine.intake import OnEvent
from rowen.engine.ports import Ports
from rowen.service.attempts import RunResult, run_source

if TYPE_CHECKING:  # a server that was started by its client has none
    from rowen.service.sync_queue import SyncQueue

TELL_EVERY_S = 0.25
T = TypeVar("T")

Ended = RunResult | Run
"""A run of another process has a record, and no receipt."""

log = logging.getLogger("rowen.mcp")

Report = Callable[[float, float | None, str], Awaitable[None]]
"""How far, of how much, in words."""


class Sync(Protocol):
    """Runs a source: `alone`, or the queue that looks after all runs of this process."""

    def __call__(self, ports: Ports, source: Source, *, on_event: OnEvent) -> Coroutine[Any, Any, Ended]: ...


async def alone(ports: Ports, source: Source, *, on_event: OnEvent) -> Ended:
    """A run of this process; what became visible is sent to the sinks, which are waited for a moment."""
    from rowen.sinks.announcer import Announcer

    result = await run_source(ports, source, on_event=on_event)
    async with Announcer(ports) as announcer:
        announcer.notify()
        for name in await announcer.finish():
            # What a sink did not get is sent with the next run.
            log.warning("sink %s: still sending", name)
        for one in announcer.done.values():
            if one.error is not None:
                log.warning("sink %s: %s", one.sink, one.error.message)
    return result


def through(queue: SyncQueue) -> Sync:
    """The queue's way: a run that is under way is joined, and goes on when the client goes away."""

    async def sync(ports: Ports, source: Source, *, on_event: OnEvent) -> Ended:
        watching: list[asyncio.Task[None]] = []

        def on_run(run_id: int) -> None:
            watching.append(asyncio.create_task(_watch(queue, run_id, on_event)))

        try:
            return (await queue.sync(source, on_run=on_run)).ended
        finally:
            for task in watching:
                task.cancel()

    return sync


async def _watch(queue: SyncQueue, run_id: int, on_event: OnEvent) -> None:
    with queue.watch(run_id) as watch:
        while watch is not None and not watch.over:
            await watch.news()
            for event in watch.take():
                on_event(event)


async def refresh(ports: Ports, source: Source, sync: Sync, report: Report) -> Ended:
    progress = _Progress()
    telling = asyncio.create_task(progress.tell(ports, report))
    try:
        result = await _in_good_order(sync(ports, source, on_event=progress.take))
    finally:
        telling.cancel()
    await progress.tell_last(report)
    return result


async def _in_good_order(work: Coroutine[Any, Any, T]) -> T:
    task = asyncio.create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.cancel()
        with anyio.CancelScope(shield=True):
            # The result is not needed any more; reading it keeps asyncio from reporting it as lost.
            await asyncio.gather(task, return_exceptions=True)
        raise


class _Progress:
    """Counts what happened; tells now and then, however fast things happen."""

    def __init__(self) -> None:
        self._done = 0
        self._told = -1
        self._latest: Event | None = None
        self._news = asyncio.Event()

    def take(self, event: Event) -> None:
        if event.kind == "item":
            self._done += 1
        self._latest = event
        self._news.set()

    async def tell(self, ports: Ports, report: Report) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            await self.tell_last(report)
            await ports.clock.sleep(TELL_EVERY_S)

    async def tell_last(self, report: Report) -> None:
        event = self._latest
        # The protocol wants each figure higher than the one before.
        if event is None or self._done <= self._told:
            return
        self._told = self._done
        total = self._done + event.queued if event.queued else None
        await report(self._done, total, _words(event, self._done))


def _words(event: Event, done: int) -> str:
    counters = event.counters
    if counters is None:
        return f"{event.source}: {event.detail or event.kind}"
    return f"{event.source}: {done:,} items, {counters.changed:,} changed, {counters.failed:,} failed"
