"""Follow one source: a folder by the events of its files, everything else by its schedule.

The first run takes in everything; what changes meanwhile waits for the next one. A run for files that changed
names them, so that the others are not even compared; where names do not tell enough (a folder came, went or
was renamed, rules of .gitignore changed) the run is for everything.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from datetime import timedelta

from rowen.core import params as parameters
from rowen.core.rules.schedule import next_run
from rowen.core.source import Source
from rowen.engine.leases import reloaded
from rowen.engine.ports import Ports
from rowen.errors import Conflict, TransientError
from rowen.ports.folders import Touched
from rowen.service.attempts import NotRun, RunResult, run_source

RETRY_S = 5.0
MAX_NAMED = 200
RULES = ".gitignore"


async def watch(ports: Ports, source: Source, *, default_every_s: float) -> AsyncGenerator[RunResult]:
    """The results of its runs, until the caller stops; one that could not run is tried again."""
    if ports.kinds.named(source.kind).follows_files:
        results = _by_events(ports, source)
    else:
        results = _by_schedule(ports, source, default_every_s)
    async with aclosing(results):
        async for result in results:
            yield result


async def _by_events(ports: Ports, source: Source) -> AsyncGenerator[RunResult]:
    async with aclosing(ports.folders.watch(source.location)) as batches:
        # A folder that is not there ends this here; the attempts of a run would take 15 seconds to say so.
        await anext(batches)
        # Events are collected from here on, before the first look at the folder.
        coming = asyncio.ensure_future(anext(batches))
        try:
            await asyncio.sleep(0)
            only: Sequence[str] | None = None
            while True:
                result = await _run(ports, source, only)
                yield result
                source = await reloaded(ports.store, source)
                if isinstance(result, NotRun):
                    only = None
                    await ports.clock.sleep(RETRY_S)
                    continue
                only = ()
                while only == ():
                    batch = await coming
                    coming = asyncio.ensure_future(anext(batches))
                    only = await _wanted(ports, source, batch)
        finally:
            coming.cancel()
            with suppress(asyncio.CancelledError, StopAsyncIteration):
                await coming


async def _by_schedule(ports: Ports, source: Source, default_every_s: float) -> AsyncGenerator[RunResult]:
    while True:
        yield await _run(ports, source, None)
        source = await reloaded(ports.store, source)
        now = ports.clock.now()
        following = next_run(source, now, default_every_s=default_every_s)
        # One that waits for a person is looked at again after its interval.
        at = following.at if following else now + timedelta(seconds=source.own_every_s or default_every_s)
        await ports.clock.sleep(max(RETRY_S, (at - now).total_seconds()))


async def _run(ports: Ports, source: Source, only: Sequence[str] | None) -> RunResult:
    try:
        return await run_source(ports, source, only=only)
    except (Conflict, TransientError) as exc:
        return NotRun(source, exc.message)


async def _wanted(ports: Ports, source: Source, batch: Sequence[Touched]) -> Sequence[str] | None:
    """The references to look at: None for everything, none at all for what does not belong to the source."""
    kind = ports.kinds.named(source.kind)
    settings = parameters.complete(kind.params, source.params)
    covers = kind.covers(source, settings) if kind.covers else bool
    if any(touched.path.rpartition("/")[2] == RULES for touched in batch) or len(batch) > MAX_NAMED:
        return None
    chosen = [touched for touched in batch if covers(touched.path)]
    known = await ports.store.known(source.id, [touched.path for touched in chosen]) if chosen else {}
    # What came and went within a batch is unknown, too; a folder that went leaves known files below it.
    gone = [touched.path for touched in batch if not touched.exists and touched.path not in known]
    if any(touched.exists and not touched.is_file for touched in batch) or await _had_below(
        ports, source, gone
    ):
        return None
    return tuple(touched.path for touched in chosen if touched.is_file or touched.path in known)


async def _had_below(ports: Ports, source: Source, folders: Sequence[str]) -> bool:
    for folder in folders:
        following = await ports.store.visible_references(source.id, after=f"{folder}/", limit=1)
        if following and following[0].startswith(f"{folder}/"):
            return True
    return False
