"""A page that stays current: server-sent events with the parts of it that changed.

The server makes the parts as it makes the page, and sends those that differ from what this reader has; the
script puts each in its place. At most four messages a second; what comes in between is merged. A reader that
lost the stream asks for the whole page: nothing is added up on the other side.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence

from starlette.responses import StreamingResponse

from rowen.core.run import Event, RunStatus
from rowen.doors.web.visit import Visit
from rowen.errors import NotFound
from rowen.service.feed_wait import sleep_or
from rowen.service.sync_job import Watch

PACE_S = 0.25
"""The shortest time between two messages."""
LOOK_S = 2.0
"""How often the parts of a page are made when nothing says that they changed."""
BEAT_S = 15.0
"""A message that says nothing, so that proxies and readers know that the stream is alive."""

Parts = Callable[[], Awaitable[Mapping[str, str]]]
"""Makes the parts of a page, by the ids of their elements."""
Told = Callable[[Sequence[Event]], tuple[Mapping[str, str], list[str]]]
"""Makes the parts that events of a run change, and a line for each item."""


def streamed(events: AsyncIterator[str]) -> StreamingResponse:
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(events, media_type="text/event-stream", headers=headers)


def message(name: str, **data: object) -> str:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n"


async def of_page(visit: Visit, parts: Parts) -> AsyncIterator[str]:
    """The parts of a page as they change, until the reader leaves or the server stops."""
    known = dict(await parts())
    silent_s = 0.0
    yield message("beat")
    while not visit.queue.stopping.is_set():
        await sleep_or(visit.queue.stopping, visit.ports.clock, LOOK_S)
        if visit.queue.stopping.is_set():
            return
        visit.now = visit.ports.clock.now()
        try:
            fresh = dict(await parts())
        except NotFound:
            # What the page shows was removed; a reload says so.
            yield message("over")
            return
        changed = {name: html for name, html in fresh.items() if known.get(name) != html}
        known, silent_s = fresh, silent_s + LOOK_S
        if changed:
            silent_s = 0.0
            yield message("parts", parts=changed)
        elif silent_s >= BEAT_S:
            silent_s = 0.0
            yield message("beat")


async def of_run(visit: Visit, run_id: int, parts: Parts, told: Told) -> AsyncIterator[str]:
    """A run that is under way: its figures and its items, merged; `over` when it has ended."""
    with visit.queue.watch(run_id) as watch:
        yield message("beat")
        if watch is None:
            async for one in _of_record(visit, run_id, parts):
                yield one
        else:
            async for one in _of_watch(visit, watch, told):
                yield one
    if not visit.queue.stopping.is_set():
        yield message("over")


async def _of_watch(visit: Visit, watch: Watch, told: Told) -> AsyncIterator[str]:
    """A run of this process, by its own events."""
    loop = asyncio.get_running_loop()
    over = False
    while not over:
        began = loop.time()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(BEAT_S):
                await watch.news()
        # Looked at before the events are taken: after the last one there are no more.
        over = watch.over
        news = watch.take()
        visit.now = visit.ports.clock.now()
        if news:
            parts, items = told(news)
            yield message("parts", parts=dict(parts), items=items)
        elif not over:
            yield message("beat")
        if not over:
            await asyncio.sleep(max(0.0, PACE_S - (loop.time() - began)))


async def _of_record(visit: Visit, run_id: int, parts: Parts) -> AsyncIterator[str]:
    """A run of another process, by what it writes down every few seconds."""
    async for one in of_page(visit, parts):
        yield one
        run = await visit.ports.store.run(run_id)
        if run is None or run.status is not RunStatus.RUNNING:
            return
