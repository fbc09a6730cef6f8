"""Many sources, hands off: whose turn it is, what a failure means for the others, and when to look again.

Sources run one after the other. An upstream that limits us is paused and the others go on; a failure that may
pass is tried again; a source whose settings or credentials are wrong stops alone, until somebody resumes it.
After each turn the sinks get what readers now see.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from datetime import datetime, timedelta

from rowen.alarms import raising
from rowen.core.lease import source_lease_name
from rowen.core.rules.schedule import due, due_at, wish_due_at
from rowen.core.source import Source, Status
from rowen.core.sync_request import SyncRequest
from rowen.engine.intake import OnEvent
from rowen.engine.leases import acquire, orchestrator_lease
from rowen.engine.ports import Ports
from rowen.engine.run import Receipt
from rowen.engine.workers import workers
from rowen.errors import Conflict, LeaseLost, NotFound, TransientError
from rowen.service.attempts import Passed, RunSource, Turn, run_source, settles
from rowen.service.feed_wait import sleep_or
from rowen.service.worker import BUSY_S, SYNC, sync_payload
from rowen.sinks.announce import announce

_log = logging.getLogger("rowen.orchestrate")

STANDBY_S = 10.0
"""How often one that stands by looks whether it is needed."""
LONGEST_NAP_S = 60.0
"""A source that somebody adds or resumes is noticed within this time."""


async def serve(
    ports: Ports,
    *,
    default_every_s: float,
    once: bool = False,
    standby: bool = False,
    wake: asyncio.Event | None = None,
    run: RunSource = run_source,
    on_event: OnEvent = lambda event: None,
) -> AsyncGenerator[Turn, None]:
    """Run what is due, for ever or once through; cancelling it ends the current run in good order.

    `wake` is set by whoever has left a wish for a sync and does not want to wait for the next look. With
    `standby`, another process that looks after the store is waited for, and followed when it ends. Where
    there are workers, they run what is due; this process only says whose turn it is. `run` makes the runs:
    a process that has other callers too lets all of them go through one desk.
    """
    while True:
        async with orchestrator_lease(ports, wait_s=STANDBY_S if standby else None) as lead:
            while not lead.is_lost():
                if wake is not None:
                    wake.clear()
                passed: set[int] = set()
                nap_s = LONGEST_NAP_S
                try:
                    await recover(ports)
                    for source, request in await _round(ports, passed, default_every_s, once=once):
                        turn = await _turn(ports, source, request, run, on_event)
                        if isinstance(turn, Passed):
                            passed.add(source.id)
                        if turn is not None:
                            yield turn
                        if isinstance(turn, Receipt):
                            await announce(ports)
                        if lead.is_lost():
                            break
                    if once:
                        return
                    # Sinks have times of their own: a night window opens whether or not a source is due.
                    announced = await announce(ports)
                    openings = [one.until for one in announced if one.until is not None]
                    nap_s = await _nap_s(ports, passed, openings, default_every_s)
                except TransientError as exc:
                    # The store is locked, full or away. Whoever looks after it waits and looks again.
                    if once:
                        raise
                    _log.warning("store_trouble error=%r", exc.message)
                await _nap(ports, nap_s, wake)
        # This process slept so long that another took over. With `standby` it waits for its turn again;
        # without, asking for the lease says who has it.


async def _round(
    ports: Ports, passed: set[int], default_every_s: float, *, once: bool
) -> Sequence[tuple[Source, SyncRequest | None]]:
    """What this process runs now. What is not its to run goes into `passed`."""
    waiting = await _waiting(ports, default_every_s)
    if once:
        return waiting
    # A paused upstream is not news at every look; its sources come back when the pause ends.
    pauses = await ports.store.pauses(now=ports.clock.now())
    passed.update(source.id for source, _ in waiting if source.upstream in pauses)
    waiting = [one for one in waiting if one[0].id not in passed]
    if await workers(ports):
        await _hand_out(ports, [source for source, _ in waiting])
        passed.update(source.id for source, _ in waiting)
        return []
    return waiting


async def recover(ports: Ports) -> list[Source]:
    """No source stays RUNNING when the process that ran it is gone; answers the ones that were."""
    lost = []
    for source in await ports.store.sources():
        if source.status is not Status.RUNNING:
            continue
        lease = await acquire(ports, source_lease_name(source.id))
        if lease is None:
            continue
        if await ports.store.close_lost_run(lease, source.id, now=ports.clock.now()):
            lost.append(source)
        await ports.store.release_lease(lease)
    return lost


async def _waiting(ports: Ports, default_every_s: float) -> Sequence[tuple[Source, SyncRequest | None]]:
    """Wishes first, then what is due by its schedule."""
    sources = await ports.store.sources()
    by_id = {source.id: source for source in sources}
    now = ports.clock.now()
    wanted: list[tuple[Source, SyncRequest | None]] = []
    for request in await ports.store.sync_requests():
        source = by_id.get(request.source_id)
        if source and not source.paused and wish_due_at(source, request) <= now:
            wanted.append((source, request))
    first = {source.id for source, _ in wanted}
    scheduled = due(sources, now, default_every_s=default_every_s)
    return wanted + [(source, None) for source in scheduled if source.id not in first]


async def _hand_out(ports: Ports, sources: Sequence[Source]) -> None:
    """A ticket for each source whose turn it is, unless it has one."""
    dispatcher = ports.dispatcher()
    out = {payload["source"] for payload in await dispatcher.outstanding(SYNC)}
    turns = [sync_payload(source.id) for source in sources if source.id not in out]
    if turns:
        await dispatcher.submit(SYNC, turns)


async def _turn(
    ports: Ports, source: Source, request: SyncRequest | None, run: RunSource, on_event: OnEvent
) -> Turn | None:
    # The source may have been paused or removed while the others ran.
    current = await ports.store.source(source.id)
    if current is None or current.paused:
        return None
    # Or carried out the wish.
    if request is not None and request not in await ports.store.sync_requests():
        return None
    try:
        full, only = bool(request and request.full), request.only if request else None
        turn = await run(ports, current, full=full, only=only, on_event=on_event)
    except (Conflict, LeaseLost) as exc:
        # Somebody syncs this one by hand, or took it over while this process slept.
        return Passed(source, exc.message)
    except NotFound:
        # Removed meanwhile.
        return None
    except TransientError:
        raise
    except Exception as exc:
        # A bug meets one source; its run is closed, and the others go on.
        _log.exception("turn_failed source=%s", source.label)
        return Passed(source, f"a bug in rowen: {type(exc).__name__}: {exc}")
    if isinstance(turn, Passed):
        return turn
    if request is not None and settles(turn):
        await ports.store.finish_request(request)
    await raising.after_turn(ports, current, turn)
    return turn


async def _nap_s(
    ports: Ports, passed: set[int], openings: Sequence[datetime], default_every_s: float
) -> float:
    """Until a source is due, a pause ends or a sink opens, but never long: the list may change meanwhile."""
    now = ports.clock.now()
    pauses = await ports.store.pauses(now=now)
    moments = [*openings, *(pause.until for pause in pauses.values())]
    sources = {source.id: source for source in await ports.store.sources() if not source.paused}
    moments += [
        due_at(source, default_every_s=default_every_s)
        for source in sources.values()
        if source.id not in passed and not source.is_broken
    ]
    for request in await ports.store.sync_requests():
        source = sources.get(request.source_id)
        if source and source.upstream not in pauses:
            # Somebody else is at it: that does not take long as a rule.
            busy = now + timedelta(seconds=BUSY_S)
            moments.append(busy if source.id in passed else wish_due_at(source, request))
    wait_s = min(((moment - now).total_seconds() for moment in moments), default=LONGEST_NAP_S)
    return min(max(wait_s, 0.1), LONGEST_NAP_S)


async def _nap(ports: Ports, seconds: float, wake: asyncio.Event | None) -> None:
    if wake is None:
        await ports.clock.sleep(seconds)
    else:
        await sleep_or(wake, ports.clock, seconds)
