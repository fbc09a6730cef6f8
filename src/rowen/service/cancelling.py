"""Cancel what a source is doing: its run, wherever it is under way, the next attempt after one that failed,
and the syncs that wait for their turn.

A cancelled run writes down how far it came, readers keep what they see, and what it stored is not asked for
again. Asking twice does what asking once does.
"""

from __future__ import annotations

from enum import StrEnum

from rowen.core.lease import source_lease_name
from rowen.core.run import Run, RunStatus
from rowen.core.source import Source
from rowen.engine.leases import drop_waiting, holder
from rowen.engine.ports import Ports
from rowen.engine.tasks import forget_cancel, request_cancel
from rowen.records import dataclass
from rowen.service.attempts import LOOK_S, cancel_next_attempt, close_if_lost
from rowen.service.sync_queue import SyncQueue

BEGINNING_S = 2.0
"""How long a run takes at most from its lease to its record."""
WAIT_S = 20.0
"""A run of another process looks at its heartbeat, which is every 15 seconds."""


class Outcome(StrEnum):
    CANCELLED = "cancelled"
    """The run ended because of this request, or of one before."""
    REQUESTED = "requested"
    """The run was told, and has not ended yet."""
    ENDED = "ended"
    """The run had ended before; its status says how."""
    DROPPED = "dropped"
    """No run was under way; a sync that waited was dropped."""
    NOTHING = "nothing"
    """Nothing was under way, and nothing waited."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Cancelled:
    source: str
    outcome: Outcome
    run: Run | None
    dropped: int = 0
    """Syncs that waited and do not run."""


async def cancel_source(
    ports: Ports, source: Source, *, queue: SyncQueue | None = None, wait_s: float = WAIT_S
) -> Cancelled:
    """Drop what waits for this source, then cancel its run."""
    dropped = queue.drop(source) if queue else 0
    request = await ports.store.sync_request(source.id)
    if request is not None:
        await ports.store.finish_request(request)
        dropped = max(dropped, 1)
    dropped += await drop_waiting(ports, source, wait_s=wait_s)
    if await cancel_next_attempt(ports, source, wait_s=wait_s):
        dropped = max(dropped, 1)
    running = await _under_way(ports, source, queue)
    if running is not None:
        outcome, run = await _cancel(ports, source, running, wait_s)
        return Cancelled(source=source.label, outcome=outcome, run=run, dropped=dropped)
    outcome = Outcome.DROPPED if dropped else Outcome.NOTHING
    return Cancelled(source=source.label, outcome=outcome, run=None, dropped=dropped)


async def _under_way(ports: Ports, source: Source, queue: SyncQueue | None) -> Run | None:
    """The run of a source, here or elsewhere; one that is about to begin is waited for."""
    deadline = ports.clock.monotonic() + BEGINNING_S
    while True:
        # Before the look at the record: a run that begins after this one is none of this request.
        beginning = queue is not None and queue.is_beginning(source)
        beginning = beginning or await holder(ports, source_lease_name(source.id)) is not None
        newest = await ports.store.runs(source.id, limit=1)
        if newest and newest[0].status is RunStatus.RUNNING:
            return newest[0]
        if not beginning or ports.clock.monotonic() >= deadline:
            return None
        await ports.clock.sleep(LOOK_S)


async def cancel_run(ports: Ports, source: Source, run: Run, *, wait_s: float = WAIT_S) -> Cancelled:
    """Cancel one run; one that has ended stays as it is."""
    outcome, run = await _cancel(ports, source, run, wait_s)
    return Cancelled(source=source.label, outcome=outcome, run=run)


async def _cancel(ports: Ports, source: Source, run: Run, wait_s: float) -> tuple[Outcome, Run]:
    if run.status is not RunStatus.RUNNING:
        return Outcome.CANCELLED if run.status is RunStatus.CANCELLED else Outcome.ENDED, run
    await request_cancel(ports.store, ports.cancels, run.id)
    deadline = ports.clock.monotonic() + wait_s
    while True:
        if await holder(ports, source_lease_name(source.id)) is None:
            # No other process would write its end down.
            await close_if_lost(ports, source)
        run = await ports.store.run(run.id) or run
        if run.status is not RunStatus.RUNNING:
            # A run that ended by itself at this moment did not look any more.
            await forget_cancel(ports.store, run.id)
            return Outcome.CANCELLED if run.status is RunStatus.CANCELLED else Outcome.ENDED, run
        if ports.clock.monotonic() >= deadline:
            return Outcome.REQUESTED, run
        await ports.clock.sleep(LOOK_S)
