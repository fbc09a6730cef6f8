"""Who may work: leases on sources, run slots, upstreams and hosts, and the heartbeat that keeps them.

Workers hold a lease in their own name, so the workers of a store are the leases that start with `worker:`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from datetime import datetime
from typing import Protocol

from rowen.core.lease import HEARTBEAT_S, LEASE_TTL_S, Lease, source_lease_name
from rowen.core.rules.clocks import is_ahead
from rowen.core.rules.words import count
from rowen.core.run import Run
from rowen.core.source import Source, Status
from rowen.engine.ports import Ports
from rowen.engine.tasks import Dropped
from rowen.errors import Conflict, NotFound, Pinned, TransientError
from rowen.eventloop import asyncio
from rowen.patterns import pattern
from rowen.ports.clock import Clock
from rowen.ports.store.leases import Leases
from rowen.ports.store.sources import Sources

HOST_PATIENCE_S = 60.0
HOST_LOOK_S = 1.0
SLOT_LOOK_S = 1.0
WAITING = "waiting:"
"""Begins the names of the leases of processes that wait for their turn to run a source."""
DROP = "drop:"
"""Begins the names of the notes that tell such a process to wait no longer."""
ORCHESTRATOR = "orchestrator"
"""Held by the one `rowen serve` that looks after a store."""
WORKER = "worker:"
_MACHINE = pattern(r"\.[0-9a-f]{8}\.\d+$")


OnWait = Callable[[str], None]
"""Called with words for a person when a run has to wait for others."""


class LeasePorts(Protocol):
    """What acquiring and keeping a lease takes; `Ports` has it."""

    @property
    def store(self) -> Leases: ...

    @property
    def clock(self) -> Clock: ...

    @property
    def owner(self) -> str: ...

    @property
    def is_dead(self) -> Callable[[str], bool]: ...


@asynccontextmanager
async def run_lease(ports: LeasePorts, source: Source) -> AsyncIterator[Lease]:
    """The right to write a source's next generation, or `Conflict`. A long user of it adds `beating`."""
    name = source_lease_name(source.id)
    lease = await acquire(ports, name)
    if lease is None:
        raise _being_synced(source, await lease_owner(ports.store, name))
    try:
        yield lease
    finally:
        await asyncio.shield(ports.store.release_lease(lease))


@asynccontextmanager
async def run_slot(ports: Ports, source: Source, *, on_wait: OnWait | None = None) -> AsyncIterator[Lease]:
    """One of the few runs that may be under way at a time; by default there is one.

    Without a free one it raises `Conflict`, or with `on_wait` waits, after a call that says for whom. For a
    source that another process runs it does not wait. A wait that `drop_waiting` ended raises `Dropped`.
    """
    names = [f"run:{number}" for number in range(ports.max_parallel_runs)]
    lease = await _any_of(ports, names)
    if lease is None:
        others = await _other_runs(ports)
        if on_wait is None:
            raise Conflict(
                f"another run is under way: {others}", hint="wait for it to end, or set `runs.max_parallel`"
            )
        await _refuse_if_running(ports, source)
        lease = await _waited(ports, source, names, lambda: on_wait(f"waiting for {others}"))
    async with kept(ports, lease):
        yield lease


async def _waited(ports: Ports, source: Source, names: Sequence[str], begin: Callable[[], None]) -> Lease:
    """The first lease that is free; `begin` is called once others can see that this process waits."""
    waiting, lease = f"{WAITING}{source.id}:{ports.owner}", None
    try:
        async with AsyncExitStack() as held:
            seen = await acquire(ports, waiting)
            if seen is not None:
                await held.enter_async_context(kept(ports, seen))
            begin()
            while not await ports.store.note(DROP + waiting):
                lease = await _any_of(ports, names)
                if lease is not None:
                    break
                await ports.clock.sleep(SLOT_LOOK_S)
        # invariant: first the lease that says it waits is let go, then the note is looked at. A request that
        # was made while it waited is seen.
        if lease is None or await ports.store.note(DROP + waiting):
            await ports.store.save_note(DROP + waiting, None)
            raise Dropped.of(source)
    except BaseException:
        if lease is not None:
            await asyncio.shield(ports.store.release_lease(lease))
        raise
    return lease


async def drop_waiting(ports: Ports, source: Source, *, wait_s: float) -> int:
    """Tell every process that waits to run a source to wait no longer; returns how many will not run it."""
    names = list(await holders(ports, f"{WAITING}{source.id}:"))
    for name in names:
        await ports.store.save_note(DROP + name, True)
    deadline = ports.clock.monotonic() + wait_s
    dropped = 0
    for name in names:
        is_gone_at = deadline
        while (note := await ports.store.note(DROP + name)) and ports.clock.monotonic() < is_gone_at:
            if await holder(ports, name) is None:
                # It looks for the note next, unless it had its turn, or died, before there was one.
                is_gone_at = min(is_gone_at, ports.clock.monotonic() + SLOT_LOOK_S)
            await ports.clock.sleep(SLOT_LOOK_S / 5)
        if not note or await holder(ports, name) is not None:
            # Gone because of it, or sure to look at it.
            dropped += 1
        else:
            await ports.store.save_note(DROP + name, None)
    return dropped


async def _any_of(ports: LeasePorts, names: Sequence[str]) -> Lease | None:
    for name in names:
        lease = await acquire(ports, name)
        if lease is not None:
            return lease
    return None


async def _other_runs(ports: Ports) -> str:
    """The runs that hold the slots, in words."""
    now = ports.clock.now()
    said = [run_words(source, run, now) for source, run in await runs_under_way(ports)]
    return " and ".join(said) or "a sync that has just begun"


async def runs_under_way(ports: Ports) -> list[tuple[Source, Run]]:
    """The runs of this store that have not ended, in whatever process."""
    running = [source for source in await ports.store.sources() if source.status is Status.RUNNING]
    return [(source, run) for source in running for run in await ports.store.runs(source.id, limit=1)]


def run_words(source: Source, run: Run, now: datetime) -> str:
    """`the sync of docs, started 2 minutes ago by process 4711 on farm`."""
    passed_s = max(0.0, (now - run.started_at).total_seconds())
    since = count(int(passed_s // 60), "minute") if passed_s >= 60 else f"{passed_s:.0f} seconds"
    return f"the sync of {source.label}, started {since} ago by {process_words(run.owner)}"


def process_words(owner: str) -> str:
    """The owner of a lease for people: `process 4711 on farm`."""
    host, _, pid = owner.rpartition(":")[0].rpartition(":")
    # What tells machines and containers of one name apart is nothing for people.
    name = _MACHINE.sub("", host)
    return f"process {pid} on {name}" if name and pid.isdigit() else f"`{owner}`"


async def _refuse_if_running(ports: LeasePorts, source: Source) -> None:
    lease = await holder(ports, source_lease_name(source.id))
    if lease is not None:
        raise _being_synced(source, lease.owner)


def _being_synced(source: Source, owner: str) -> Conflict:
    return Conflict(
        f"source `{source.label}`: being synced by {process_words(owner)}",
        hint=f"wait for it to end, or `rowen cancel {source.label}`; if that machine is gone, its lease ends "
        "within a minute",
        owner=owner,
    )


def upstream_lease(ports: LeasePorts, upstream: str) -> AbstractAsyncContextManager[Held]:
    """The right to ask an upstream: among many workers, one at a time."""
    return _asking_lease(ports, f"client:{upstream}", f"upstream `{upstream}`")


def host_lease(ports: LeasePorts, host: str) -> AbstractAsyncContextManager[Held]:
    """The right to ask a host for a batch of pages, while another process leads the crawl they are for."""
    return _asking_lease(ports, f"host:{host}", f"host `{host}`")


@asynccontextmanager
async def _asking_lease(ports: LeasePorts, name: str, asked: str) -> AsyncIterator[Held]:
    lease = await acquire(ports, name)
    if lease is None:
        raise Conflict(f"{asked}: being asked by another process")
    async with kept(ports, lease) as held:
        yield held


@asynccontextmanager
async def host_lease_or_patience(ports: LeasePorts, host: str) -> AsyncIterator[None]:
    """The same for a run that asks by itself: it waits for another process as long as a host batch takes."""
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
async def orchestrator_lease(
    ports: LeasePorts, *, wait_s: float | None = None, on_wait: OnWait | None = None
) -> AsyncIterator[Held]:
    """The right to look after a store, or `Conflict` that names its owner; with `wait_s` it is waited for.

    `on_wait` is told the owner when the wait begins.
    """
    lease = await (_patient_acquire(ports, ORCHESTRATOR) if wait_s else acquire(ports, ORCHESTRATOR))
    if lease is None and wait_s is not None and on_wait is not None:
        on_wait(await lease_owner(ports.store, ORCHESTRATOR))
    while lease is None and wait_s is not None:
        await ports.clock.sleep(wait_s)
        lease = await _patient_acquire(ports, ORCHESTRATOR)
    if lease is None:
        owner = await lease_owner(ports.store, ORCHESTRATOR)
        raise Conflict(
            f"another `rowen serve` looks after this store: `{owner}`",
            hint="one is enough; it takes up what is due",
            owner=owner,
        )
    async with kept(ports, lease) as held:
        yield held


class Held:
    """A lease for as long as its heartbeat goes."""

    def __init__(self, lease: Lease, heartbeat: asyncio.Task[None]) -> None:
        self.lease = lease
        self.heartbeat = heartbeat
        """Ends with `LeaseLost` when another process has the lease; cancelled when the lease is let go."""

    def is_lost(self) -> bool:
        return self.heartbeat.done() and not self.heartbeat.cancelled()


@asynccontextmanager
async def beating(
    ports: LeasePorts, lease: Lease, *, on_beat: Callable[[], Awaitable[None]] | None = None
) -> AsyncIterator[Held]:
    """Renew a lease by a heartbeat; `on_beat` is called after each renewal."""
    renewing = asyncio.Lock()
    heartbeat = asyncio.create_task(_beat(ports, lease, on_beat, renewing))
    try:
        yield Held(lease, heartbeat)
    finally:
        try:
            # Not in the middle of a renewal: the store would carry it out, and its error would be lost.
            await renewing.acquire()
        finally:
            ended = not heartbeat.cancel()
        if ended and not heartbeat.cancelled():
            # A lost lease that this process did not look at is not a warning.
            heartbeat.exception()


@asynccontextmanager
async def kept(ports: LeasePorts, lease: Lease) -> AsyncIterator[Held]:
    """Renewed by a heartbeat, and released at the end."""
    try:
        async with beating(ports, lease) as held:
            yield held
    finally:
        # While the store does not answer, the lease runs out by itself.
        with suppress(TransientError):
            await asyncio.shield(ports.store.release_lease(lease))


async def reloaded(store: Sources, source: Source) -> Source:
    """The source as it is now, read again under the lease: the caller may have read it long before."""
    current = await store.source(source.id)
    if current is None:
        raise removed(source)
    return current


def removed(source: Source) -> NotFound:
    return NotFound(f"source `{source.label}`: removed meanwhile", name=source.label)


async def acquire(ports: LeasePorts, name: str) -> Lease | None:
    """The lease, if it is free or its owner is certainly dead."""
    now = ports.clock.now()
    lease = await ports.store.acquire_lease(name, ports.owner, now=now, ttl_s=LEASE_TTL_S)
    if lease is None:
        holder = await ports.store.lease(name)
        if holder is not None and ports.is_dead(holder.owner):
            await ports.store.release_lease(holder)
            lease = await ports.store.acquire_lease(name, ports.owner, now=now, ttl_s=LEASE_TTL_S)
    return lease


def worker_lease_name(owner: str) -> str:
    return WORKER + owner


async def workers(ports: LeasePorts) -> list[Lease]:
    """The leases of workers that renewed them lately and are not certainly dead."""
    now = ports.clock.now()
    return [
        lease
        for lease in await ports.store.leases_like(WORKER)
        if _is_held(ports, lease) and not is_ahead(lease.expires_at, now, at_most_s=LEASE_TTL_S)
    ]


def _is_held(ports: LeasePorts, lease: Lease) -> bool:
    return lease.expires_at > ports.clock.now() and not ports.is_dead(lease.owner)


async def other_workers(ports: LeasePorts) -> list[Lease]:
    """The workers that are not this process."""
    return [lease for lease in await workers(ports) if lease.owner != ports.owner]


async def _patient_acquire(ports: LeasePorts, name: str) -> Lease | None:
    """The same for a process that waits anyway: a store that does not answer now is asked again."""
    try:
        return await acquire(ports, name)
    except TransientError:
        return None


async def _beat(
    ports: LeasePorts, lease: Lease, on_beat: Callable[[], Awaitable[None]] | None, renewing: asyncio.Lock
) -> None:
    while True:
        await ports.clock.sleep(HEARTBEAT_S)
        async with renewing:
            # A store that is busy is asked again: a lease lasts for several beats.
            with suppress(TransientError):
                lease = await ports.store.renew_lease(lease, now=ports.clock.now(), ttl_s=LEASE_TTL_S)
                if on_beat is not None:
                    await on_beat()


async def holder(ports: LeasePorts, name: str) -> Lease | None:
    """The lease while it is held: not expired, and its owner not certainly dead."""
    lease = await ports.store.lease(name)
    return lease if lease is not None and _is_held(ports, lease) else None


async def holders(ports: LeasePorts, start: str) -> dict[str, Lease]:
    """The leases that are held whose names begin so, by name: one question for all of them."""
    return {lease.name: lease for lease in await ports.store.leases_like(start) if _is_held(ports, lease)}


def pinned(source: Source) -> Pinned:
    """The error for a caller who would move the generation of a source that a person pinned."""
    return Pinned(
        f"source `{source.label}`: pinned to generation {source.active_generation}",
        hint=f"`rowen resume {source.label}` lets it go on",
        source=source.label,
    )


async def lease_owner(store: Leases, name: str) -> str:
    """For messages: the owner of a lease that could not be acquired."""
    holder = await store.lease(name)
    return holder.owner if holder else "a process that has just ended"
