"""Who may work: the lease of a source's next generation, and the one of whoever runs sources at all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress

from rowen.core.lease import HEARTBEAT_S, LEASE_TTL_S, Lease, source_lease_name
from rowen.core.source import Source
from rowen.engine.ports import Ports
from rowen.errors import Conflict, LeaseLost, NotFound, TransientError

HOST_PATIENCE_S = 60.0
HOST_LOOK_S = 1.0
ORCHESTRATOR = "orchestrator"
"""Held by the one `rowen serve` that looks after a store."""


@asynccontextmanager
async def run_lease(ports: Ports, source: Source) -> AsyncIterator[Lease]:
    """The right to write a source's next generation, or `Conflict`. The run sends the heartbeat itself."""
    name = source_lease_name(source.id)
    lease = await acquire(ports, name)
    if lease is None:
        owner = await _owner(ports, name)
        raise Conflict(
            f"source `{source.label}`: being synced by `{owner}`",
            hint="wait for it to end; if that machine is gone, its lease ends within a minute",
            owner=owner,
        )
    try:
        yield lease
    finally:
        await asyncio.shield(ports.store.release_lease(lease))


@asynccontextmanager
async def run_slot(ports: Ports) -> AsyncIterator[Lease]:
    """One of the few runs that may be under way at a time; by default there is one."""
    names = [f"run:{number}" for number in range(ports.max_parallel_runs)]
    for name in names:
        lease = await acquire(ports, name)
        if lease is not None:
            async with kept(ports, lease):
                yield lease
            return
    owner = await _owner(ports, names[0])
    raise Conflict(
        f"another run is under way: `{owner}`",
        hint="wait for it to end, or set `runs.max_parallel`",
        owner=owner,
    )


@asynccontextmanager
async def upstream_lease(ports: Ports, upstream: str) -> AsyncIterator[Lease]:
    """The right to ask an upstream: among many workers a host has one visitor at a time."""
    lease = await acquire(ports, f"client:{upstream}")
    if lease is None:
        raise Conflict(f"upstream `{upstream}`: being asked by another process")
    async with kept(ports, lease):
        yield lease


@asynccontextmanager
async def host_lease(ports: Ports, host: str) -> AsyncIterator[Held]:
    """The right to ask a host for a turn, while another process leads the crawl it is for."""
    lease = await acquire(ports, f"host:{host}")
    if lease is None:
        raise Conflict(f"host `{host}`: being asked by another process")
    async with kept(ports, lease) as held:
        yield held


@asynccontextmanager
async def host_lease_or_patience(ports: Ports, host: str) -> AsyncIterator[None]:
    """The same for a run that asks by itself: another visitor is waited for as long as a turn takes."""
    lease = await acquire(ports, f"host:{host}")
    waited_s = 0.0
    while lease is None and waited_s < HOST_PATIENCE_S:
        await ports.clock.sleep(HOST_LOOK_S)
        waited_s += HOST_LOOK_S
        lease = await acquire(ports, f"host:{host}")
    async with AsyncExitStack() as held:
        if lease is not None:
            await held.enter_async_context(kept(ports, lease))
        yield


@asynccontextmanager
async def orchestrator_lease(ports: Ports, *, wait_s: float | None = None) -> AsyncIterator[Held]:
    """The right to look after a store, or `Conflict` that says who does; with `wait_s` it is waited for."""
    lease = await (_patient_acquire(ports, ORCHESTRATOR) if wait_s else acquire(ports, ORCHESTRATOR))
    while lease is None and wait_s is not None:
        await ports.clock.sleep(wait_s)
        lease = await _patient_acquire(ports, ORCHESTRATOR)
    if lease is None:
        owner = await _owner(ports, ORCHESTRATOR)
        raise Conflict(
            f"another `rowen serve` looks after this store: `{owner}`",
            hint="one is enough; it takes up what is due",
            owner=owner,
        )
    async with kept(ports, lease) as held:
        yield held


class Held:
    """A lease for as long as its heartbeat goes."""

    def __init__(self) -> None:
        self._lost = False

    def lose(self) -> None:
        self._lost = True

    def is_lost(self) -> bool:
        """Somebody else has it: this process slept through it."""
        return self._lost


@asynccontextmanager
async def kept(ports: Ports, lease: Lease) -> AsyncIterator[Held]:
    """Held by a heartbeat, and let go at the end."""
    held = Held()
    heartbeat = asyncio.create_task(_beat(ports, lease, held))
    try:
        yield held
    finally:
        heartbeat.cancel()
        # A store that does not answer now lets the lease run out.
        with suppress(TransientError):
            await asyncio.shield(ports.store.release_lease(lease))


async def reloaded(ports: Ports, source: Source) -> Source:
    """The source as it is now, read again under the lease: the caller may have read it long before."""
    current = await ports.store.source(source.id)
    if current is not None:
        return current
    raise NotFound(f"source `{source.label}`: removed meanwhile", name=source.label)


async def acquire(ports: Ports, name: str) -> Lease | None:
    """The lease, if it is free or its owner is certainly dead."""
    now = ports.clock.now()
    lease = await ports.store.acquire_lease(name, ports.owner, now=now, ttl_s=LEASE_TTL_S)
    if lease is None:
        holder = await ports.store.lease(name)
        if holder is not None and ports.is_dead(holder.owner):
            await ports.store.release_lease(holder)
            lease = await ports.store.acquire_lease(name, ports.owner, now=now, ttl_s=LEASE_TTL_S)
    return lease


async def _patient_acquire(ports: Ports, name: str) -> Lease | None:
    """The same for those who wait anyway: a store that does not answer now is asked again."""
    try:
        return await acquire(ports, name)
    except TransientError:
        return None


async def _beat(ports: Ports, lease: Lease, held: Held) -> None:
    while not held.is_lost():
        await ports.clock.sleep(HEARTBEAT_S)
        try:
            lease = await ports.store.renew_lease(lease, now=ports.clock.now(), ttl_s=LEASE_TTL_S)
        except LeaseLost:
            held.lose()
        except TransientError:
            # A store that is busy is asked again: there are some beats to a lease.
            continue


async def _owner(ports: Ports, name: str) -> str:
    holder = await ports.store.lease(name)
    return holder.owner if holder else "somebody who has just ended"
