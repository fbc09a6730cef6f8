"""Many sources, hands off: whose turn it is, what a failure means for the others, and when to look again.

Sources run one after the other. A client that limits us is paused and the others go on; a failure that may
pass is tried again; a source whose settings or credentials are wrong stops alone, until somebody resumes it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from rowen.core import urls
from rowen.core.run import RunStatus
from rowen.core.schedule import ATTEMPTS, PAUSE_S, Failure, due, due_at
from rowen.core.source import Source
from rowen.errors import Conflict
from rowen.flows.intake import OnEvent
from rowen.flows.leases import orchestrator_lease
from rowen.flows.sync import Receipt, sync
from rowen.flows.tools import Tools
from rowen.ports.store import Pause

RETRY_BASE_S = 5.0
LONGEST_NAP_S = 60.0
"""A source that somebody adds or resumes is noticed within this time."""


@dataclass(frozen=True, slots=True)
class Passed:
    """A source that was due and did not run."""

    source: Source
    reason: str
    until: datetime | None = None


Turn = Receipt | Passed


def client_of(source: Source) -> str:
    """Who answers a source's requests: pauses belong to them, not to the source."""
    return urls.host_of(source.location) or source.kind


async def run_source(
    tools: Tools, source: Source, *, full: bool = False, on_event: OnEvent = lambda event: None
) -> Turn:
    """One source's turn: up to three attempts for what may pass, none for a client that is paused."""
    client = client_of(source)
    pause = (await tools.store.pauses(now=tools.clock.now())).get(client)
    if pause is not None:
        return Passed(source, f"client `{client}` is paused: {pause.reason}", pause.until)
    attempt = 1
    while True:
        receipt = await sync(tools, source, full=full, on_event=on_event)
        if receipt.failure is Failure.RATE_LIMIT:
            await _pause(tools, client, receipt)
        passing = receipt.failure is Failure.TRANSIENT and receipt.status is RunStatus.FAILED
        if not passing or attempt >= ATTEMPTS:
            return receipt
        await tools.clock.sleep(RETRY_BASE_S * 2 ** (attempt - 1))
        attempt += 1
        source = next(one for one in await tools.store.sources() if one.id == source.id)


async def serve(
    tools: Tools,
    *,
    default_every_s: float,
    once: bool = False,
    on_event: OnEvent = lambda event: None,
) -> AsyncIterator[Turn]:
    """Run what is due, for ever or once through; cancelling it ends the current run in good order."""
    async with orchestrator_lease(tools):
        while True:
            now = tools.clock.now()
            passed: set[int] = set()
            for source in due(await tools.store.sources(), now, default_every_s=default_every_s):
                # Somebody may have paused it, or synced it, while the others ran.
                current = next((s for s in await tools.store.sources() if s.id == source.id), None)
                if current is None or current.paused:
                    continue
                turn = await _turn(tools, current, on_event)
                if isinstance(turn, Passed):
                    passed.add(source.id)
                yield turn
            if once:
                return
            await tools.clock.sleep(await _nap_s(tools, passed, default_every_s))


async def _turn(tools: Tools, source: Source, on_event: OnEvent) -> Turn:
    try:
        return await run_source(tools, source, on_event=on_event)
    except Conflict as exc:
        # Somebody syncs this one by hand.
        return Passed(source, exc.message)


async def _pause(tools: Tools, client: str, receipt: Receipt) -> None:
    wait_s = receipt.retry_after_s if receipt.retry_after_s is not None else PAUSE_S
    until = tools.clock.now() + timedelta(seconds=wait_s)
    await tools.store.pause_client(
        Pause(client=client, until=until, reason=receipt.error or "it limits how often it may be asked")
    )


async def _nap_s(tools: Tools, passed: set[int], default_every_s: float) -> float:
    """Until the next source is due, but never long: the list may change meanwhile."""
    now = tools.clock.now()
    moments = [
        due_at(source, default_every_s=default_every_s)
        for source in await tools.store.sources()
        if source.id not in passed and not source.paused and not source.is_broken
    ]
    wait_s = min(((moment - now).total_seconds() for moment in moments), default=LONGEST_NAP_S)
    return min(max(wait_s, 0.1), LONGEST_NAP_S)
