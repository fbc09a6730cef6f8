"""The loop of `rowen serve`: which source runs now, what its failure means for the others, how long to wait.

Sources run one after the other, or as many at a time as `runs.max_parallel` allows; what becomes due begins
as soon as there is a free place, however long another run takes. An upstream that limits us is paused and
other sources go on; a transient failure is retried; a source whose settings or credentials are wrong stops
alone, until `rowen resume`. After each run the sinks get what readers now see, beside the loop: a slow sink
does not hold it up.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, suppress
from datetime import datetime, timedelta
from typing import TypeAlias

from rowen.alarms import raising
from rowen.core.rules.schedule import due, due_at, request_due_at
from rowen.core.source import Source, Status
from rowen.core.sync_request import SyncRequest
from rowen.engine.ingest import take_up_due
from rowen.engine.intake import OnEvent, unheard
from rowen.engine.leases import Held, orchestrator_lease, workers
from rowen.engine.ports import Ports
from rowen.engine.receipt import Receipt
from rowen.engine.tasks import Dropped
from rowen.errors import Conflict, LeaseLost, NotFound, TransientError
from rowen.ports.clock import Clock
from rowen.ports.dispatcher import Dispatcher
from rowen.ports.store.access import Access
from rowen.service.attempts import NotRun, RunResult, RunSource, close_if_lost, run_source, settles
from rowen.service.feed_wait import sleep_or
from rowen.service.held_up import HeldUp
from rowen.service.side_by_side import SideBySide
from rowen.service.worker import BUSY_S, SYNC, sync_payload
from rowen.sinks.announcer import Announcer

_log = logging.getLogger("rowen.serve")

STANDBY_S = 10.0
"""How often a process that stands by looks whether the lease is free."""
LONGEST_WAIT_S = 60.0
"""A source that another process adds or resumes is noticed within this time."""
FULL_S = 60.0
"""How often the loop looks what is due while every place is taken: only to say how long that takes."""

Due: TypeAlias = tuple[Source, SyncRequest | None]
Waiting: TypeAlias = Sequence[Due]
Runs: TypeAlias = SideBySide[Due, RunResult | None]


async def serve(
    ports: Ports,
    *,
    default_every_s: float,
    once: bool = False,
    standby: bool = False,
    wake: asyncio.Event | None = None,
    run: RunSource = run_source,
    announcer: Announcer | None = None,
    lead: Held | None = None,
    on_event: OnEvent = unheard,
) -> AsyncGenerator[RunResult, None]:
    """Run what is due, for ever or once through; cancelling it ends the current run in good order.

    `wake` ends the wait between two rounds: it is set after a sync request was stored. With `standby`, the
    loop waits until the other process that serves the store has ended, and takes over. Where there are
    workers, they run what is due; this process hands out the tickets. `run` makes the runs: a process that
    also answers REST or MCP calls passes `SyncQueue.run_source` and the queue's announcer, so that both share
    one queue. `lead` is the lease of a caller that has acquired it, and keeps it.
    """
    async with AsyncExitStack() as stack:
        if announcer is None:
            announcer = await stack.enter_async_context(Announcer(ports))
        loop = _Loop(ports, announcer, default_every_s=default_every_s, wake=wake, once=once)
        while True:
            async with _leading(ports, lead, standby=standby) as held:
                lead = None
                runs: Runs = SideBySide(
                    lambda one: _run_one(ports, *one, run, on_event), limit=ports.max_parallel_runs
                )
                async with runs, aclosing(loop.results(held, runs)) as results:
                    async for result in results:
                        yield result
                if once:
                    # A night window opens at its own time, also when no source is due.
                    announcer.notify()
                    for name in await announcer.finish():
                        _log.warning("sink_left sink=%s hint='`rowen announce` sends the rest'", name)
                    return
            # The lease was lost: this process was suspended for longer than its lease, and another took over.
            # With `standby` it waits for the lease again; without, asking for it raises who has it.


class _Loop:
    """Looks again and again what is due, also while runs are under way."""

    def __init__(
        self,
        ports: Ports,
        announcer: Announcer,
        *,
        default_every_s: float,
        wake: asyncio.Event | None,
        once: bool,
    ) -> None:
        self._ports, self._announcer, self._held_up = ports, announcer, HeldUp(ports)
        self._default_every_s, self._wake, self._once = default_every_s, wake, once
        self._sources: list[Source] | None = None
        """As they were read last, if no run has ended since."""
        self._skipped: set[int] = set()
        """Due, and not run by this process before it looks again."""
        self._trouble: TransientError | None = None
        """With `once`: raised when what is under way has ended."""

    async def results(self, held: Held, runs: Runs) -> AsyncGenerator[RunResult]:
        """Until the lease is lost, or with `once` until what is due has run; what is under way then ends."""
        look = True
        while runs.running or not held.is_lost():
            try:
                if not held.is_lost():
                    if look:
                        await self._look(runs)
                    runs.begin(may_go_on=lambda: not held.is_lost())
                wait_s = LONGEST_WAIT_S if self._once else await self._next_look_s(runs)
            except TransientError as exc:
                self._put_off(runs, exc)
                wait_s = LONGEST_WAIT_S
            if self._once and not runs.running:
                break
            ended = await runs.ended(None if self._once else _wait(self._ports.clock, wait_s, self._wake))
            look = not ended
            for (source, _), result in ended:
                self._sources = None
                if isinstance(result, TransientError):
                    self._put_off(runs, result)
                if isinstance(result, NotRun | TransientError):
                    self._skipped.add(source.id)
                if isinstance(result, NotRun | Receipt):
                    yield result
                if isinstance(result, Receipt):
                    self._announcer.notify()
        if self._trouble is not None:
            raise self._trouble

    async def _look(self, runs: Runs) -> None:
        """What begins next; what is under way here is left alone."""
        if self._wake is not None:
            self._wake.clear()
        ports, under_way = self._ports, _ids(runs.running)
        self._sources = await _recovered(ports, under_way)
        sources = [source for source in self._sources if source.id not in under_way]
        await _retry_handoffs(ports, sources)
        await raising.about_holds(ports, self._sources)
        waiting, self._skipped = await _round(ports, sources, self._default_every_s, once=self._once)
        runs.line_up(waiting)
        if runs.is_full:
            await self._held_up.tell(len(waiting))

    async def _next_look_s(self, runs: Runs) -> float:
        """How long nothing can begin, unless a run ends."""
        self._announcer.notify()
        if runs.is_full:
            return FULL_S
        await self._announcer.looked()
        if self._sources is None:
            self._sources = await self._ports.store.sources()
        under_way = _ids(runs.running)
        sources = [source for source in self._sources if source.id not in under_way]
        openings = self._announcer.openings(self._ports.clock.now())
        return await _wait_s(self._ports, sources, self._skipped, openings, self._default_every_s)

    def _put_off(self, runs: Runs, trouble: TransientError) -> None:
        """The database is locked, full or away: nothing more begins before the next look."""
        if self._once:
            self._trouble = self._trouble or trouble
        else:
            _log.warning("store_trouble error=%r", trouble.message)
        self._skipped |= _ids(runs.waiting)
        runs.line_up([])


def _ids(dues: Waiting) -> set[int]:
    return {source.id for source, _ in dues}


@asynccontextmanager
async def _leading(ports: Ports, lead: Held | None, *, standby: bool) -> AsyncGenerator[Held]:
    """The lease that the caller keeps, or one of our own."""
    if lead is not None:
        yield lead
        return
    before: list[str] = []

    def waits(owner: str) -> None:
        before.append(owner)
        _log.info("standby_waits owner=%s", owner)

    wait_s = STANDBY_S if standby else None
    async with orchestrator_lease(ports, wait_s=wait_s, on_wait=waits) as held:
        if before:
            _log.info("standby_takes_over owner_before=%s", *before)
        yield held


async def _round(
    ports: Ports, sources: Sequence[Source], default_every_s: float, *, once: bool
) -> tuple[Waiting, set[int]]:
    """What this process runs now, and the ids of sources that are due and that it does not run."""
    waiting = await _waiting(ports.store, sources, ports.clock.now(), default_every_s)
    if once:
        return waiting, set()
    # Not reported in every round: the sources of a paused upstream come back when the pause ends.
    pauses = await ports.store.pauses(now=ports.clock.now())
    skipped = {source.id for source, _ in waiting if source.upstream in pauses}
    waiting = [one for one in waiting if one[0].id not in skipped]
    if waiting and await workers(ports):
        await _hand_out(ports.dispatcher(), waiting)
        return [], skipped | {source.id for source, _ in waiting}
    return waiting, skipped


async def _recovered(ports: Ports, under_way: Collection[int]) -> list[Source]:
    """All sources; none is left RUNNING when the process that ran it is gone. `under_way` are run here."""
    sources = await ports.store.sources()
    lost = False
    for source in sources:
        if source.status is Status.RUNNING and source.id not in under_way:
            lost = await close_if_lost(ports, source) or lost
    return await ports.store.sources() if lost else sources


async def _retry_handoffs(ports: Ports, sources: Sequence[Source]) -> None:
    """Attempts at handoffs that are due; of a source that is being synced, its run makes them."""
    now = ports.clock.now()
    waiting = await ports.store.retries(now=now)
    for source in sources:
        if not source.rests and source.id in waiting and waiting[source.id] <= now:
            with suppress(Conflict, LeaseLost):
                await take_up_due(ports, source)


async def _waiting(
    store: Access, sources: Sequence[Source], now: datetime, default_every_s: float
) -> Waiting:
    """Sources with a sync request first, then what is due by its schedule."""
    by_id = {source.id: source for source in sources}
    requested: list[tuple[Source, SyncRequest | None]] = []
    for request in await store.sync_requests():
        source = by_id.get(request.source_id)
        if source and not source.rests and request_due_at(source, request, now) <= now:
            requested.append((source, request))
    first = {source.id for source, _ in requested}
    scheduled = due(sources, now, default_every_s=default_every_s)
    return requested + [(source, None) for source in scheduled if source.id not in first]


async def _hand_out(dispatcher: Dispatcher, waiting: Waiting) -> None:
    """A ticket for each of these sources that has none."""
    out = {payload["source"] for payload in await dispatcher.outstanding(SYNC)}
    payloads = [
        sync_payload(source.id, requested=request is not None)
        for source, request in waiting
        if source.id not in out
    ]
    if payloads:
        await dispatcher.submit(SYNC, payloads)


async def _run_one(
    ports: Ports, source: Source, request: SyncRequest | None, run: RunSource, on_event: OnEvent
) -> RunResult | None:
    """None when there is nothing to run any more: meanwhile the source was paused, pinned or removed."""
    current = await ports.store.source(source.id)
    if current is None or current.rests:
        return None
    # Or another process has carried out the request.
    if request is not None and request != await ports.store.sync_request(source.id):
        return None
    try:
        full, only = bool(request and request.full), request.only if request else None
        hooked = request.hooked if request else ()
        result = await run(ports, current, full=full, only=only, hooked=hooked, on_event=on_event)
    except (Conflict, LeaseLost, Dropped) as exc:
        # `rowen sync` runs this source now, or took it over while this process was suspended.
        return NotRun(source, exc.message)
    except NotFound:
        # Removed meanwhile.
        return None
    except TransientError:
        raise
    except Exception as exc:
        # A bug meets one source; its run is closed, and the others go on.
        _log.exception("run_failed source=%s", source.label)
        return NotRun(source, f"a bug in rowen: {type(exc).__name__}: {exc}")
    if isinstance(result, NotRun):
        return result
    if request is not None and settles(result):
        await ports.store.finish_request(request)
    return result


async def _wait_s(
    ports: Ports,
    sources: Sequence[Source],
    skipped: set[int],
    openings: Sequence[datetime],
    default_every_s: float,
) -> float:
    """Until a source is due, a pause ends or a night window opens, at most `LONGEST_WAIT_S`."""
    now = ports.clock.now()
    pauses = await ports.store.pauses(now=now)
    moments = [*openings, *(pause.until for pause in pauses.values())]
    active = {source.id: source for source in sources if not source.rests}
    busy = now + timedelta(seconds=BUSY_S)
    moments += [max(at, busy) for id_, at in (await ports.store.retries(now=now)).items() if id_ in active]
    moments += [
        due_at(source, now, default_every_s=default_every_s)
        for source in active.values()
        if source.id not in skipped and not source.is_broken
    ]
    for request in await ports.store.sync_requests():
        source = active.get(request.source_id)
        if source and source.upstream not in pauses:
            # Another process runs this source: that does not take long as a rule.
            moments.append(busy if source.id in skipped else request_due_at(source, request, now))
    wait_s = min(((moment - now).total_seconds() for moment in moments), default=LONGEST_WAIT_S)
    return min(max(wait_s, 0.1), LONGEST_WAIT_S)


async def _wait(clock: Clock, seconds: float, wake: asyncio.Event | None) -> None:
    if wake is None:
        await clock.sleep(seconds)
    else:
        await sleep_or(wake, clock, seconds)
