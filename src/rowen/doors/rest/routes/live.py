"""A run as server-sent events: from its own events when it runs here, from its record when elsewhere.

Ends with the run. A caller that goes away ends it too: the framework closes the generator, and with it
everything that was held for this caller.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

from rowen.core.run import Run, RunStatus
from rowen.core.source import Source
from rowen.doors.shapes import runs as shapes
from rowen.engine.ports import Ports
from rowen.service.feed_wait import sleep_or
from rowen.service.sync_job import Watch
from rowen.service.sync_queue import SyncQueue

PROGRESS_S = 1.0
"""How often a run's counters are sent."""
HEARTBEAT_S = 15.0
"""A line that says nothing, so that proxies do not take a quiet run for a dead one."""
SILENCE = ": still there\n\n"


async def events(ports: Ports, queue: SyncQueue, source: Source, run: Run) -> AsyncIterator[str]:
    yield _event("progress", shapes.Run.show(run, source=source.label))
    if run.status is RunStatus.RUNNING:
        with queue.watch(run.id) as watch:
            seen = _from_here(watch) if watch is not None else _from_record(ports, queue, source, run)
            async for line in seen:
                yield line
    ended = await ports.store.run(run.id)
    if ended is not None and ended.status is not RunStatus.RUNNING:
        yield _event("finished", shapes.Run.show(ended, source=source.label))


async def _from_here(watch: Watch) -> AsyncIterator[str]:
    """Each item as it happens, and the counters now and then."""
    loop = asyncio.get_running_loop()
    last = loop.time()
    while True:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(HEARTBEAT_S):
                await watch.news()
        news = watch.take()
        if not news and not watch.over:
            yield SILENCE
        for one in news:
            if one.kind == "item":
                yield _event("item", shapes.EventItem.show(one))
        counted = next((one.counters for one in reversed(news) if one.counters), None)
        if counted is not None and (watch.over or loop.time() - last >= PROGRESS_S):
            last = loop.time()
            yield _event("progress", {"counters": counted.as_dict(), "lost_events": watch.lost})
        if watch.over:
            return


async def _from_record(ports: Ports, queue: SyncQueue, source: Source, run: Run) -> AsyncIterator[str]:
    """Its counters when they have moved; the process that runs it writes them down every few seconds."""
    sent, silent_s = run.counters, 0.0
    while not queue.stopping.is_set():
        await sleep_or(queue.stopping, ports.clock, PROGRESS_S)
        now = await ports.store.run(run.id)
        if now is None or now.status is not RunStatus.RUNNING:
            return
        silent_s += PROGRESS_S
        if now.counters != sent:
            sent, silent_s = now.counters, 0.0
            yield _event("progress", shapes.Run.show(now, source=source.label))
        elif silent_s >= HEARTBEAT_S:
            silent_s = 0.0
            yield SILENCE


def _event(name: str, data: Mapping[str, Any]) -> str:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n"
