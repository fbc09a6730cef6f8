"""The work that is killed, each a coroutine that may be run again after any death and then ends as if it had
never died. A child of the fork server runs one of them; `killing.py` starts it.

Real: store, website, conversion, clock, leases of a process. A fake: the embedding model, which is not what
is under test and would take most of the time.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from rowen.adapters.store.postgres.copying import PostgresCopying
from rowen.adapters.store.postgres.store import PostgresStore
from rowen.adapters.store.sqlite.copying import SqliteCopying
from rowen.adapters.store.sqlite.store import SqliteStore
from rowen.adapters.system import SystemClock, is_dead, owner
from rowen.core.generation import oldest_kept
from rowen.core.run import RunStatus
from rowen.core.source import Source
from rowen.engine.ports import Ports
from rowen.engine.run import sync
from rowen.errors import TransientError
from rowen.managing.copy_store import CopyPorts, Side
from rowen.managing.copy_store import copy as copy_store
from rowen.ports.store.store import Store
from rowen.reading import history
from tests.support.site import Site
from tests.support.world import a_world

STEP_BYTES = 64
EDITIONS = 6
"""How many generations the work `activate` shows, one after the other."""
ROLLBACKS = 30


@dataclass(frozen=True, kw_only=True)
class Job:
    work: str
    store: str
    """The address of the store."""
    folder: str
    """Where clones and other things beside the store would lie; for `activate`, the folder that is read."""
    target: str = ""
    """Where to, for a copy."""
    until: int = EDITIONS


class Steps:
    """Writes the name of the call that is under way into memory that the killer reads."""

    def __init__(self, store: Any, page: mmap.mmap) -> None:
        self._store, self._page = store, page

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._store, name)
        if name == "rows_written":  # the one method that does not wait
            return real

        async def call(*args: Any, **kwargs: Any) -> Any:
            write_step(self._page, name)
            try:
                return await real(*args, **kwargs)
            finally:
                write_step(self._page, "between calls")

        return call


def write_step(page: mmap.mmap, name: str) -> None:
    page[:STEP_BYTES] = name.encode()[:STEP_BYTES].ljust(STEP_BYTES)


def a_store(url: str) -> Any:
    if url.startswith("postgresql:"):
        return PostgresStore(url)
    return SqliteStore(Path(url.removeprefix("sqlite:///")), busy_timeout_s=60)


@asynccontextmanager
async def opened(job: Job, page: mmap.mmap | None = None) -> AsyncIterator[Ports]:
    store: Store = a_store(job.store)
    seen: Any = Steps(store, page) if page is not None else store
    async with a_world(Path(job.folder), Site(), store=store) as world:
        yield replace(world.ports, store=seen, clock=SystemClock(), owner=owner(), is_dead=is_dead)


async def run_sync(job: Job, page: mmap.mmap) -> None:
    """One run of the one source: `sync` of a website with some news, `ingest` of a folder and `harvest`
    of a portal never seen.
    """
    async with opened(job, page) as ports:
        (source,) = await ports.store.sources()
        await synced(ports, source)


async def run_activate(job: Job, page: mmap.mmap) -> None:
    """A folder that changes as often as it is read: mostly beginnings and ends of runs."""
    async with opened(job, page) as ports:
        while True:
            (source,) = await ports.store.sources()
            if source.active_generation >= job.until:
                await forget(ports, source)
                return
            write_edition(Path(job.folder), source.active_generation + 1)
            await synced(ports, source)


async def forget(ports: Ports, source: Source) -> None:
    """What the next run would do after one was killed between its activation and forgetting history."""
    shown = [one.number for one in await ports.store.generations(source.id) if one.activated_at]
    floor = oldest_kept(shown, active=source.active_generation, keep=ports.keep_generations)
    before = ports.clock.now() - timedelta(seconds=ports.keep_handoffs_s)
    await ports.store.vacuum({source.id: floor}, handoffs_before=before, everything=False)


async def synced(ports: Ports, source: Source) -> None:
    receipt = await sync(ports, source)
    if receipt.status is not RunStatus.COMPLETED:
        raise TransientError(receipt.error or receipt.status)


def write_edition(folder: Path, edition: int) -> None:
    folder.mkdir(exist_ok=True)
    for number in range(6):
        text = f"# Note {number}\n\nEdition {edition if number % 2 else edition // 3} of it.\n"
        path = folder / f"{number}.md"
        if not path.exists() or path.read_text() != text:
            # The time of a change is a validator and is compared as well: no kill may part the two.
            made = folder.with_name(f"{path.name}.new")
            made.write_text(text)
            os.utime(made, (edition, edition))
            made.replace(path)


async def run_rollback(job: Job, page: mmap.mmap) -> None:
    async with opened(job, page) as ports:
        (source,) = await ports.store.sources()
        numbers = sorted(one.number for one in await ports.store.generations(source.id) if one.activated_at)
        for turn in range(ROLLBACKS):
            await history.rollback(ports, source, to_generation=numbers[-1 - turn % 2])
        await history.rollback(ports, source, to_generation=numbers[-2])


async def run_vacuum(job: Job, page: mmap.mmap) -> None:
    async with opened(job, page) as ports:
        await history.vacuum(ports.store, await ports.store.sources(), keep=1)


async def run_migrate(job: Job, page: mmap.mmap) -> None:
    """Opening a store of an old version brings its schema up to date."""
    write_step(page, "migrate")
    await a_store(job.store).close()


async def run_copy(job: Job, page: mmap.mmap) -> None:
    write_step(page, "copy")
    source, target = a_store(job.store), a_store(job.target)
    try:
        ports = CopyPorts(
            source=_side(source), target=_side(target), clock=SystemClock(), owner=owner(), is_dead=is_dead
        )
        await copy_store(ports, max_rows=200, on_event=lambda event: write_step(page, event.kind))
    finally:
        await source.close()
        await target.close()


def _side(store: Any) -> Side:
    copying: Any = PostgresCopying if isinstance(store, PostgresStore) else SqliteCopying
    return Side(name="a store", store=store, copying=copying(store.database))


WORK: dict[str, Callable[[Job, mmap.mmap], Awaitable[None]]] = {
    "sync": run_sync,
    "ingest": run_sync,
    "harvest": run_sync,
    "activate": run_activate,
    "rollback": run_rollback,
    "vacuum": run_vacuum,
    "migrate": run_migrate,
    "copy": run_copy,
}
