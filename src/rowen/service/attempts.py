"""Run one source, with retries after transient failures.

An upstream that is paused is not asked; one that limits us is paused here. After the last attempt alarms are
raised, for requests of every door alike. Sinks are the caller's.
"""

from __future__ import annotations

from collections.abc import Collection, Coroutine, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, Protocol

from rowen.alarms import raising
from rowen.core.lease import source_lease_name
from rowen.core.rules.schedule import ATTEMPTS, LONGEST_PAUSE_S, PAUSE_S, Failure
from rowen.core.rules.words import minute
from rowen.core.run import RunStatus, StopReason
from rowen.core.source import Source
from rowen.engine.intake import OnEvent, unheard
from rowen.engine.leases import OnWait, acquire, reloaded
from rowen.engine.ports import Ports
from rowen.engine.receipt import Receipt
from rowen.engine.run import sync
from rowen.engine.tasks import CANCEL, forget_cancel, is_cancelled
from rowen.errors import TransientError
from rowen.ports.clock import Clock
from rowen.ports.store.notes import Pause
from rowen.records import dataclass
from rowen.service.feed_wait import sleep_or

RETRY_BASE_S = 5.0
LOOK_S = 0.2
NEXT_ATTEMPT = "next_attempt:"
"""Begins the names of the notes about sources that wait between two attempts."""


@dataclass(frozen=True, slots=True)
class NotRun:
    """A source that was due and did not run."""

    source: Source
    reason: str
    until: datetime | None = None


RunResult = Receipt | NotRun


class RunSource(Protocol):
    """Makes the runs of a source: `run_source` itself, or `SyncQueue.run_source`."""

    def __call__(
        self,
        ports: Ports,
        source: Source,
        *,
        full: bool,
        only: Sequence[str] | None,
        hooked: Collection[str],
        on_event: OnEvent,
    ) -> Coroutine[Any, Any, RunResult]: ...


class UpstreamPaused(TransientError):
    """The upstream of the source limits us: not asked before the pause ends, unless the caller insists."""

    reason = "client_paused"


async def sync_now(
    ports: Ports,
    source: Source,
    *,
    full: bool = False,
    force: bool = False,
    on_event: OnEvent = unheard,
    on_wait: OnWait = lambda words: None,
) -> Receipt:
    """A sync that a person waits for: no retries, and it waits for its turn.

    Raises `UpstreamPaused`, unless it is forced, and `Conflict` while another process runs the source.
    """
    pause = None if force else await pause_of(ports, source)
    if pause is not None:
        raise paused(ports.clock, pause)
    receipt = await sync(ports, source, full=full, on_event=on_event, on_wait=on_wait)
    await pause_if_limited(ports, source, receipt)
    return receipt


async def run_source(
    ports: Ports,
    source: Source,
    *,
    full: bool = False,
    only: Sequence[str] | None = None,
    hooked: Collection[str] = (),
    force: bool = False,
    on_event: OnEvent = unheard,
) -> RunResult:
    """Sync a source, up to `ATTEMPTS` times after transient failures.

    Not while its upstream is paused, unless it is forced. `hooked` are those of `only` that web hooks named.
    """
    pause = None if force else await pause_of(ports, source)
    if pause is not None:
        return pause
    before, attempt = source, 1
    while True:
        receipt = await sync(ports, source, full=full, only=only, hooked=hooked, on_event=on_event)
        await pause_if_limited(ports, source, receipt)
        transient = receipt.failure is Failure.TRANSIENT and receipt.status is RunStatus.FAILED
        # A source that said nothing within its time limit does not get that time again at once.
        transient = transient and receipt.stop_reason != StopReason.TIME_LIMIT
        if not transient or attempt >= ATTEMPTS:
            await raising.after_source(ports, before, receipt)
            return receipt
        if not await _waited(ports, source, receipt.run_id, RETRY_BASE_S * 2 ** (attempt - 1)):
            await raising.after_source(ports, before, receipt)
            return receipt
        attempt += 1
        source = await reloaded(ports.store, source)


async def _waited(ports: Ports, source: Source, run_id: int, wait_s: float) -> bool:
    """Wait before the next attempt; False when it was cancelled meanwhile, here or by another process."""
    store, name = ports.store, f"{NEXT_ATTEMPT}{source.id}"
    until = ports.clock.now() + timedelta(seconds=wait_s)
    # Watched before the note says so: who finds the note ends this wait at once.
    with ports.cancels.watched(run_id) as cancelled:
        # A store that is busy costs others the chance to cancel this wait, not the source its next attempt.
        with suppress(TransientError):
            await store.save_note(name, {"after_run": run_id, "until": until.isoformat()})
        try:
            await sleep_or(cancelled, ports.clock, wait_s)
        finally:
            # invariant: first this note, then the look at the other. A request that was made while this note
            # was there is seen.
            with suppress(TransientError):
                await store.save_note(name, None)
    if not await is_cancelled(store, run_id):
        return True
    await forget_cancel(store, run_id)
    return False


async def cancel_next_attempt(ports: Ports, source: Source, *, wait_s: float) -> bool:
    """Cancel the attempt that a source waits for between two runs; False when it waits for none.

    A wait of this process ends at once, one of another process at its end.
    """
    store, name = ports.store, f"{NEXT_ATTEMPT}{source.id}"
    note = await store.note(name)
    # The note of a process that died stays; it says until when it counts.
    if note is None or datetime.fromisoformat(note["until"]) < ports.clock.now():
        return False
    await store.save_note(f"{CANCEL}{note['after_run']}", True)
    if await store.note(name) is None:
        # The wait ended at this moment. It took the request along, or was too early to see it.
        taken = not await is_cancelled(store, note["after_run"])
        await forget_cancel(store, note["after_run"])
        return taken
    # invariant: the wait of this process is told after that look. Told before, it takes its own note back,
    # and the look reads that as too late.
    ports.cancels.request(note["after_run"])
    deadline = ports.clock.monotonic() + wait_s
    while await is_cancelled(store, note["after_run"]) and ports.clock.monotonic() < deadline:
        await ports.clock.sleep(LOOK_S)
    return True


async def pause_of(ports: Ports, source: Source) -> NotRun | None:
    """Why its upstream may not be asked now; None when it may."""
    upstream = source.upstream
    pause = (await ports.store.pauses(now=ports.clock.now())).get(upstream)
    if pause is None:
        return None
    until = minute(pause.until)
    return NotRun(source, f"upstream `{upstream}` is paused until {until}: {pause.reason}", pause.until)


def paused(clock: Clock, result: NotRun) -> UpstreamPaused:
    """The error for a caller who waits for the run that did not begin."""
    label = result.source.label
    return UpstreamPaused(
        f"source `{label}`: not synced, {result.reason}",
        hint=f"wait for it, or ask all the same: `rowen sync {label} --force`, `force` in the API",
        retry_after_s=max(0.0, (result.until - clock.now()).total_seconds()) if result.until else None,
    )


def settles(receipt: Receipt) -> bool:
    """Has this run carried out the sync request it was made for? After a transient failure it has not."""
    return receipt.status is not RunStatus.FAILED or receipt.failure is Failure.FATAL


async def close_if_lost(ports: Ports, source: Source) -> bool:
    """Write down the end of a run whose process is gone; False while a process holds the source's lease."""
    lease = await acquire(ports, source_lease_name(source.id))
    if lease is None:
        return False
    try:
        return await ports.store.close_lost_run(lease, source.id, now=ports.clock.now())
    finally:
        await ports.store.release_lease(lease)


async def pause_if_limited(ports: Ports, source: Source, receipt: Receipt) -> None:
    """An upstream that limits us is left alone for a while, by everyone."""
    if receipt.failure is not Failure.RATE_LIMIT:
        return
    wait_s = min(receipt.retry_after_s if receipt.retry_after_s is not None else PAUSE_S, LONGEST_PAUSE_S)
    until = ports.clock.now() + timedelta(seconds=wait_s)
    reason = receipt.error or "it limits how often it may be asked"
    await ports.store.pause_upstream(Pause(upstream=source.upstream, until=until, reason=reason))
