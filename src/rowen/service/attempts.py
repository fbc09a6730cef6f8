"""One source's turn: a run, more runs while there is history to take in, other attempts for what may pass.

An upstream that is paused is not asked; one that limits us is paused here. What the turn means to others
(sinks, alarms, the next in line) is not decided here.
"""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from rowen.core.rules.schedule import ATTEMPTS, LONGEST_PAUSE_S, PAUSE_S, Failure
from rowen.core.run import RunStatus
from rowen.core.source import Source
from rowen.engine.intake import OnEvent
from rowen.engine.leases import reloaded
from rowen.engine.ports import Ports
from rowen.engine.run import Receipt, joined, sync
from rowen.ports.store.notes import Pause

RETRY_BASE_S = 5.0


@dataclass(frozen=True, slots=True)
class Passed:
    """A source that was due and did not run."""

    source: Source
    reason: str
    until: datetime | None = None


Turn = Receipt | Passed


async def sync_all_parts(
    ports: Ports,
    source: Source,
    *,
    full: bool = False,
    only: Sequence[str] | None = None,
    on_event: OnEvent = lambda event: None,
) -> Receipt:
    """The newest, then history as far as one turn goes. Each part is a run of its own.

    What a part took in is shown before the next begins, so an interruption loses at most one part.
    """
    receipt = await sync(ports, source, full=full, only=only, on_event=on_event)
    part, more = 0, receipt.more
    while more:
        part += 1
        latest = await sync(ports, source, part=part, on_event=on_event)
        receipt, more = joined(receipt, latest), latest.more
    if receipt.good and receipt.failure is None:
        # Asked by hand in spite of a pause, it answered.
        await _lift_pause(ports, source)
    return receipt


async def run_source(
    ports: Ports,
    source: Source,
    *,
    full: bool = False,
    only: Sequence[str] | None = None,
    on_event: OnEvent = lambda event: None,
) -> Turn:
    """One source's turn: up to three attempts for what may pass, none for a upstream that is paused."""
    upstream = source.upstream
    pause = (await ports.store.pauses(now=ports.clock.now())).get(upstream)
    if pause is not None:
        return Passed(source, f"upstream `{upstream}` is paused: {pause.reason}", pause.until)
    attempt = 1
    while True:
        receipt = await sync_all_parts(ports, source, full=full, only=only, on_event=on_event)
        if receipt.failure is Failure.RATE_LIMIT:
            await _pause(ports, upstream, receipt)
        passing = receipt.failure is Failure.TRANSIENT and receipt.status is RunStatus.FAILED
        if not passing or attempt >= ATTEMPTS:
            return receipt
        await ports.clock.sleep(RETRY_BASE_S * 2 ** (attempt - 1))
        attempt += 1
        source = await reloaded(ports, source)


def settles(turn: Receipt) -> bool:
    """Is a wish carried out by this turn? One that failed for now is tried again."""
    return turn.status is not RunStatus.FAILED or turn.failure is Failure.FATAL


class RunSource(Protocol):
    """Who makes the runs: `run_source`, or a desk that others share."""

    def __call__(
        self, ports: Ports, source: Source, *, full: bool, only: Sequence[str] | None, on_event: OnEvent
    ) -> Coroutine[Any, Any, Turn]: ...


async def resume(ports: Ports, source: Source) -> None:
    """Let a source run again: a person has looked at it, and at whoever answers it."""
    await ports.store.set_paused(source.id, False)
    await _lift_pause(ports, source)


async def _lift_pause(ports: Ports, source: Source) -> None:
    upstream, now = source.upstream, ports.clock.now()
    if upstream in await ports.store.pauses(now=now):
        await ports.store.pause_upstream(Pause(upstream=upstream, until=now, reason="lifted"))


async def _pause(ports: Ports, upstream: str, receipt: Receipt) -> None:
    wait_s = min(receipt.retry_after_s if receipt.retry_after_s is not None else PAUSE_S, LONGEST_PAUSE_S)
    until = ports.clock.now() + timedelta(seconds=wait_s)
    await ports.store.pause_upstream(
        Pause(upstream=upstream, until=until, reason=receipt.error or "it limits how often it may be asked")
    )
