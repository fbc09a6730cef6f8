"""Look at a single handoff, queue it again, or cancel it."""

from __future__ import annotations

from typing import Protocol

from rowen.core.handoff import Handoff
from rowen.core.source import Source
from rowen.engine.leases import run_lease
from rowen.engine.ports import Ports
from rowen.errors import Conflict, NotFound
from rowen.ports.clock import Clock
from rowen.ports.store.access import Access
from rowen.ports.store.handoffs import Handoffs
from rowen.ports.store.runs import Runs
from rowen.ports.store.sources import Sources


class HandoffSources(Handoffs, Runs, Sources, Access, Protocol):
    """Handoffs with the runs and sources they belong to, and sync requests."""


async def find(store: Handoffs, handoff_id: int) -> Handoff:
    found = await store.handoff(handoff_id)
    if found is None:
        raise NotFound(
            f"handoff {handoff_id}: no such handoff",
            hint="history that is not kept takes its handoffs along; `rowen handoffs` lists the others",
            handoff=handoff_id,
        )
    return found


async def retry(store: HandoffSources, clock: Clock, handoff_id: int) -> Handoff:
    """Queue a failed handoff again, and request a sync of its reference, whose run ingests it."""
    handoff = await find(store, handoff_id)
    source = await _source(store, handoff)
    now = clock.now()
    if not await store.requeue_handoff(handoff_id, now=now):
        handoff = await find(store, handoff_id)
        raise Conflict(
            f"handoff {handoff_id}: {handoff.status}, and only a failed one is retried", handoff=handoff_id
        )
    await store.request_sync(source.id, only=[handoff.reference], reason="handoff_retry", now=now)
    return await find(store, handoff_id)


async def cancel(ports: Ports, handoff_id: int) -> Handoff:
    """Cancel a handoff; raises `Conflict` while its source is being synced, or when it has ended."""
    store = ports.store
    handoff = await find(store, handoff_id)
    async with run_lease(ports, await _source(store, handoff)) as lease:
        if not await store.cancel_handoff(lease, handoff_id, now=ports.clock.now()):
            handoff = await find(store, handoff_id)
            raise Conflict(f"handoff {handoff_id}: {handoff.status} already", handoff=handoff_id)
    return await find(store, handoff_id)


async def _source(store: HandoffSources, handoff: Handoff) -> Source:
    run = await store.run(handoff.run_id)
    source = None if run is None else await store.source(run.source_id)
    if source is not None:
        return source
    raise NotFound(f"handoff {handoff.id}: its source was removed", handoff=handoff.id)
