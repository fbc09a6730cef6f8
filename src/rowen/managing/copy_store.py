"""Copy a complete store into another database: page by page, resumable, and compared at the end.

The copy holds the leases of the store it reads, so no run writes to it meanwhile, and reads it as it was at
one moment. The target remembers with each page how far the copy has come, and cannot be opened for work
before everything in it was compared (`core/rules/complete.py`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import timedelta

from rowen.core.exchange.sink import sink_lease_name
from rowen.core.exchange.store_copy import (
    PARTS,
    TABLES,
    Key,
    Page,
    Part,
    Progress,
    Sum,
    differences,
    progress_from,
)
from rowen.core.lease import source_lease_name
from rowen.core.rules.complete import COPY, check_complete
from rowen.engine.leases import ORCHESTRATOR, Held, acquire, kept, lease_owner
from rowen.errors import Conflict, NotFound, PartMissing, PermanentError, UserError
from rowen.offers import companies
from rowen.ports.clock import Clock
from rowen.ports.database.copying import Copying, View
from rowen.ports.store.store import Store
from rowen.records import dataclass

MAX_ROWS = 1000
MAX_BYTES = 4_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Side:
    """One of the two stores."""

    name: str
    """As it may be shown: without a password."""
    store: Store
    copying: Copying


@dataclass(frozen=True, kw_only=True, slots=True)
class CopyPorts:
    source: Side
    target: Side
    clock: Clock
    owner: str
    is_dead: Callable[[str], bool]


@dataclass(frozen=True, kw_only=True, slots=True)
class CopyEvent:
    kind: str
    """`verifying` what an earlier attempt copied, `restarted`, `copying`, `preparing`, `checking`."""
    part: str = ""
    rows: int = 0
    """Done in this stage so far, of all parts."""
    total: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Copied:
    sums: Mapping[str, Sum]
    """By part, the same on both sides."""
    resumed: bool
    """An earlier attempt had come some of the way."""
    already: bool
    """It was complete before; nothing was done."""
    progress: Progress
    duration: timedelta

    @property
    def rows(self) -> int:
        return sum(self.sums[table].rows for table in TABLES)


OnCopyEvent = Callable[[CopyEvent], None]


async def copy(
    ports: CopyPorts,
    *,
    on_event: OnCopyEvent = lambda event: None,
    max_rows: int = MAX_ROWS,
    max_bytes: int = MAX_BYTES,
) -> Copied:
    """Copy all of one store into another that is empty, or that an earlier attempt has begun to fill."""
    source, target = ports.source, ports.target
    identity = await source.copying.identity()
    if identity == await target.copying.identity():
        raise UserError(
            f"store `{target.name}`: the same as `{source.name}`, or a copy of its file",
            hint="name an empty store to copy into",
        )
    check_complete(await source.store.note(COPY), source.name)
    begun = await _begun(target, source, identity)
    if begun is not None and begun.completed_at is not None:
        return _already(begun)
    async with AsyncExitStack() as held:
        there = await held.enter_async_context(_leases(ports, target, [ORCHESTRATOR]))
        # Again, under the lease: another process may have completed the copy in between, and use it.
        begun = await _begun(target, source, identity)
        if begun is not None and begun.completed_at is not None:
            return _already(begun)
        here = await held.enter_async_context(_leases(ports, source, await _lease_names(source)))
        view = await held.enter_async_context(source.copying.view())
        run = _Copy(ports, view, there, here, on_event, max_rows, max_bytes)
        return await run.execute(identity, begun)


def _already(progress: Progress) -> Copied:
    """Both stores may have moved on since: nothing is touched."""
    return Copied(sums=progress.sums, resumed=False, already=True, progress=progress, duration=timedelta())


async def _begun(target: Side, source: Side, identity: str) -> Progress | None:
    """The progress of an earlier attempt; None for an empty store. Anything else is refused."""
    note = await target.store.note(COPY)
    if note is None:
        if await target.copying.is_empty():
            return None
        raise Conflict(
            f"store `{target.name}`: not empty",
            hint="copy into a store that does not exist yet; two stores cannot be joined",
            store=target.name,
        )
    begun = progress_from(note)
    if begun.identity != identity:
        raise Conflict(
            f"store `{target.name}`: a copy of another store, `{begun.name}`, not of `{source.name}`",
            hint="copy into a store that does not exist yet",
            store=target.name,
        )
    return begun


async def _lease_names(source: Side) -> list[str]:
    """The leases of all that writes to a store: runs, sinks, the projection of companies, `rowen serve`."""
    return [
        ORCHESTRATOR,
        *(source_lease_name(one.id) for one in await source.store.sources()),
        *(sink_lease_name(one.name) for one in await source.store.sinks()),
        companies.LEASE,
    ]


@dataclass(frozen=True, slots=True)
class _LeasePorts:
    """The store of one side, with the clock and the owner of the copy."""

    store: Store
    clock: Clock
    owner: str
    is_dead: Callable[[str], bool]


@asynccontextmanager
async def _leases(ports: CopyPorts, side: Side, names: Sequence[str]) -> AsyncIterator[list[Held]]:
    holding = _LeasePorts(side.store, ports.clock, ports.owner, ports.is_dead)
    held: list[Held] = []
    async with AsyncExitStack() as stack:
        for name in names:
            lease = await acquire(holding, name)
            if lease is None:
                owner = await lease_owner(side.store, name)
                raise Conflict(
                    f"store `{side.name}`: in use by `{owner}` (lease `{name}`)",
                    hint="stop `rowen serve` and wait for runs to end; the lease of a machine that is gone"
                    " ends within a minute",
                    owner=owner,
                )
            held.append(await stack.enter_async_context(kept(holding, lease)))
        yield held


class _Copy:
    """One attempt."""

    def __init__(
        self,
        ports: CopyPorts,
        view: View,
        there: Sequence[Held],
        here: Sequence[Held],
        on_event: OnCopyEvent,
        max_rows: int,
        max_bytes: int,
    ) -> None:
        self._ports = ports
        self._target = ports.target.copying
        self._view = view
        self._held = (*there, *here)
        self._lease = there[0].lease
        self._on_event = on_event
        self._max_rows = max_rows
        self._max_bytes = max_bytes
        self._started = ports.clock.monotonic()

    async def execute(self, identity: str, begun: Progress | None) -> Copied:
        counts = await self._view.counts()
        for part in PARTS:
            if part.name not in counts:
                raise PartMissing.of(part.table)
        if not any(counts.values()):
            raise NotFound(
                f"store `{self._ports.source.name}`: empty, there is nothing to copy",
                hint="check the address of the store to copy from",
            )
        progress = begun or self._fresh(identity)
        if begun is None:
            await self._target.load(self._lease, PARTS[0], (), progress)
        elif begun.wrong or not await self._unchanged(begun):
            # Part of what is there belongs to a state that is no more, and rows that are gone have no trace.
            self._tell("restarted")
            progress = self._fresh(identity)
            await self._target.clear(self._lease, progress)
        progress = await self._copy(progress, counts)
        self._tell("preparing")
        await self._target.prepare()
        await self._check(progress, counts)
        progress = replace(progress, completed_at=self._ports.clock.now())
        await self._target.finish(self._lease, await self._view.issued(), progress)
        return Copied(
            sums=progress.sums,
            resumed=begun is not None,
            already=False,
            progress=progress,
            duration=timedelta(seconds=self._ports.clock.monotonic() - self._started),
        )

    def _fresh(self, identity: str) -> Progress:
        now = self._ports.clock.now()
        return Progress(identity=identity, name=self._ports.source.name, started_at=now, sums={})

    async def _unchanged(self, begun: Progress) -> bool:
        """Is what an earlier attempt has read still what the store holds?"""
        total, done = sum(one.rows for one in begun.sums.values()), 0
        for part in PARTS:
            current = part.name == begun.part
            if current and begun.after is None:
                return True
            until = begun.after if current else None
            found = await self._sum(self._view, part, "verifying", done, total, until=until)
            done += found.rows
            if found != begun.sums.get(part.name, Sum()):
                return False
            if current:
                return True
        return False

    async def _copy(self, progress: Progress, counts: Mapping[str, int]) -> Progress:
        names = [part.name for part in PARTS]
        total, done = sum(counts.values()), sum(one.rows for one in progress.sums.values())
        for part in PARTS[names.index(progress.part) :]:
            if part.name != progress.part:
                progress = replace(progress, part=part.name, after=None)
            while (page := await self._page(self._view, part, progress.after)).last is not None:
                read = progress.sums.get(part.name, Sum()) + page.sum
                progress = replace(progress, after=page.last, sums={**progress.sums, part.name: read})
                await self._target.load(self._lease, part, page.rows, progress)
                done += len(page.rows)
                self._tell("copying", part.name, done, total)
        return replace(progress, sums={name: progress.sums.get(name, Sum()) for name in names})

    async def _check(self, progress: Progress, counts: Mapping[str, int]) -> None:
        """Count and digest everything that is there now, and compare it with what was read."""
        total, done = sum(counts.values()), 0
        found: dict[str, Sum] = {}
        async with self._target.view() as made:
            for part in PARTS:
                found[part.name] = await self._sum(made, part, "checking", done, total)
                done += found[part.name].rows
        wrong = [*differences(progress.sums, found)]
        # Counted by the database itself: rows that the pages passed over are missing in both sums.
        wrong += [
            f"`{name}` has {found[name].rows:,} of {count:,} rows"
            for name, count in counts.items()
            if found[name] == progress.sums[name] and found[name].rows != count
        ]
        if wrong:
            await self._target.load(self._lease, PARTS[0], (), replace(progress, wrong=True))
            raise PermanentError(
                f"store `{self._ports.target.name}`: differs from `{self._ports.source.name}`"
                f" after the copy: {'; '.join(wrong)}",
                hint="it stays marked as incomplete; the same command copies from the start again",
                store=self._ports.target.name,
            )

    async def _sum(
        self, view: View, part: Part, stage: str, done: int, total: int, *, until: Key | None = None
    ) -> Sum:
        found = Sum()
        after: Key | None = None
        while (page := await self._page(view, part, after, until)).last is not None:
            after, found = page.last, found + page.sum
            self._tell(stage, part.name, done + found.rows, total)
        return found

    async def _page(self, view: View, part: Part, after: Key | None, until: Key | None = None) -> Page:
        for held in self._held:
            if held.is_lost():
                held.heartbeat.result()
        return await view.page(
            part, after=after, until=until, max_rows=self._max_rows, max_bytes=self._max_bytes
        )

    def _tell(self, kind: str, part: str = "", rows: int = 0, total: int = 0) -> None:
        self._on_event(CopyEvent(kind=kind, part=part, rows=rows, total=total))
