"""Cancelling: a run here or elsewhere, a sync that waits, twice, or when nothing runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest

from rowen.adapters.store.postgres.store import PostgresStore
from rowen.core.lease import HEARTBEAT_S, source_lease_name
from rowen.core.run import RunStatus
from rowen.core.source import Source, Status
from rowen.engine.leases import run_slot
from rowen.engine.receipt import Receipt
from rowen.engine.run import sync
from rowen.engine.tasks import CANCEL, Cancels, Dropped
from rowen.ports.store.store import Store
from rowen.service.attempts import LOOK_S, NEXT_ATTEMPT, RETRY_BASE_S, run_source, sync_now
from rowen.service.cancelling import Outcome, cancel_run, cancel_source
from rowen.service.sync_queue import SyncQueue
from tests.support.gate import DEADLINE_S, Gate, StillClock, until
from tests.support.postgres import Server
from tests.support.site import Site, html
from tests.support.stores import a_postgres_schema, a_sqlite_store
from tests.support.world import World, a_world

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["postgres", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "sqlite":
        yield a_sqlite_store(tmp_path / "rowen.db")
        return
    server: Server = request.getfixturevalue("postgres")
    with a_postgres_schema(server) as schema:
        yield PostgresStore(server.url, schema=schema)


@pytest.fixture
async def world(tmp_path: Path, store: Store) -> AsyncIterator[World]:
    with Site({"/": html("Home", "barley", links=["/a"]), "/a": html("A", "rye")}) as site:
        async with a_world(tmp_path, site, clock=StillClock(), store=store) as made:
            yield made


class Held(StillClock):
    """The wait before the next attempt ends when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.reached, self.over = asyncio.Event(), asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        if seconds == RETRY_BASE_S:
            self.reached.set()
            await self.over.wait()
        else:
            await super().sleep(seconds)


def held(world: World) -> Gate:
    gate = Gate()
    world.site.set("/a", html("A", "late"), delay=gate)
    return gate


async def test_a_run_of_this_process_ends_at_once_and_nothing_is_lost(world: World) -> None:
    source = await world.add()
    await world.sync()
    world.site.set("/", html("Home", "oats", links=["/a"]))
    gate = held(world)
    async with SyncQueue(world.ports) as queue:
        waiting = asyncio.create_task(queue.sync(source))
        await gate.reached()
        done = await cancel_source(world.ports, source, queue=queue)
        ended = (await waiting).ended
    gate.set()
    assert done.outcome is Outcome.CANCELLED
    assert isinstance(ended, Receipt)
    assert (ended.status, ended.stop_reason, ended.failure) == (RunStatus.CANCELLED, "cancelled", None)
    assert done.run is not None
    assert done.run.id == ended.run_id
    again = await cancel_run(world.ports, source, done.run)
    assert again.outcome is Outcome.CANCELLED
    now = await world.source()
    assert (now.status, now.active_generation) == (Status.SUCCESS, 1)
    assert await world.store.notes_like(CANCEL) == {}
    world.site.set("/a", html("A", "late"))
    receipt = await sync(world.ports, now)
    assert (receipt.status, receipt.counters.updated) == (RunStatus.COMPLETED, 2)


async def test_a_run_of_another_process_ends_at_its_heartbeat(world: World) -> None:
    source = await world.add()
    gate = held(world)
    elsewhere = replace(world.ports, owner="another process", cancels=Cancels())
    running = asyncio.create_task(sync(elsewhere, source))
    await gate.reached()
    told = await cancel_source(world.ports, source, wait_s=0)
    assert told.outcome is Outcome.REQUESTED
    assert not running.done()
    cancelling = asyncio.create_task(cancel_source(world.ports, source, wait_s=60))
    await until(lambda: running.done() or world.clock.advance(HEARTBEAT_S / 100) is not None)
    gate.set()
    assert (await running).status is RunStatus.CANCELLED
    assert (await cancelling).outcome in (Outcome.CANCELLED, Outcome.NOTHING)


async def test_a_sync_that_waits_is_dropped_and_its_caller_is_told(world: World) -> None:
    first, second = await world.add("first"), await world.add("second", path="/#x")
    gate = held(world)
    async with SyncQueue(world.ports) as queue:
        running = asyncio.create_task(queue.sync(first))
        await gate.reached()
        waiting = asyncio.create_task(queue.sync(second))
        await until(lambda: queue.waiting == 1)
        await world.store.request_sync(second.id, only=None, reason="push", now=world.clock.now())
        done = await cancel_source(world.ports, second, queue=queue)
        with pytest.raises(Dropped, match="`second`: the sync was cancelled before it began"):
            await waiting
        assert (done.outcome, done.dropped, done.run) == (Outcome.DROPPED, 1, None)
        assert await world.store.sync_requests() == []
        gate.set()
        await running
    assert await world.store.runs(second.id, limit=9) == []
    assert (await cancel_source(world.ports, second)).outcome is Outcome.NOTHING


async def test_a_sync_that_waits_for_another_process_is_dropped_too(world: World) -> None:
    source = await world.add()
    async with SyncQueue(world.ports) as queue:
        async with run_slot(replace(world.ports, owner="another process"), source):
            waiting = asyncio.create_task(queue.sync(source))
            await until(lambda: bool(queue._between))
            assert (await cancel_source(world.ports, source, queue=queue)).outcome is Outcome.DROPPED
            with pytest.raises(Dropped, match="`docs`: the sync was cancelled before it began"):
                await waiting
        assert not queue._between
    assert await world.store.runs(source.id, limit=9) == []


class HeldCall:
    """A store of which one method waits, before it is carried out, until it is let go; with `begin` only its
    calls whose first argument begins so.
    """

    def __init__(self, store: Store, method: str, begin: str | None = None) -> None:
        self._store, self._method, self._begin = store, method, begin
        self.reached, self.go = asyncio.Event(), asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        return partial(self._held, found) if name == self._method else found

    async def _held(self, call: Any, *args: Any, **kwargs: Any) -> Any:
        if self._begin is None or args[0].startswith(self._begin):
            self.reached.set()
            await self.go.wait()
        return await call(*args, **kwargs)


async def _waits(world: World, source: Source) -> asyncio.Task[Receipt]:
    """A `rowen sync` in another terminal, that waits because a run of another source is under way."""
    elsewhere = replace(world.ports, owner="another process", cancels=Cancels())
    seen = asyncio.Event()
    waiting = asyncio.create_task(sync_now(elsewhere, source, on_wait=lambda words: seen.set()))
    await asyncio.wait_for(seen.wait(), DEADLINE_S)
    return waiting


async def test_a_sync_that_waits_for_its_turn_in_another_process_is_dropped(world: World) -> None:
    source = await world.add()
    now = world.clock.now()
    busy = await world.store.acquire_lease("run:0", "a third process", now=now, ttl_s=60)
    assert busy is not None
    waiting = await _waits(world, source)
    done = await cancel_source(world.ports, source)
    assert (done.outcome, done.dropped) == (Outcome.DROPPED, 1)
    with pytest.raises(Dropped, match="source `docs`: the sync was cancelled before it began"):
        await asyncio.wait_for(waiting, DEADLINE_S)
    assert (await cancel_source(world.ports, source)).outcome is Outcome.NOTHING
    assert await world.store.notes_like("drop:") == {}
    assert await world.store.leases_like("waiting:") == []
    # What was dropped once is no order for later syncs.
    await world.store.release_lease(busy)
    assert (await sync_now(world.ports, source)).status is RunStatus.COMPLETED


async def test_a_sync_whose_turn_comes_while_it_is_cancelled_does_not_run(world: World) -> None:
    source = await world.add()
    busy = await world.store.acquire_lease("run:0", "a third process", now=world.clock.now(), ttl_s=60)
    assert busy is not None
    waiting = await _waits(world, source)
    await world.store.save_note(f"drop:waiting:{source.id}:another process", True)
    await world.store.release_lease(busy)
    with pytest.raises(Dropped):
        await asyncio.wait_for(waiting, DEADLINE_S)
    assert await world.store.runs(source.id, limit=9) == []
    assert await world.store.lease("run:0") is None


@pytest.mark.parametrize("here", [True, False], ids=["here", "elsewhere"])
async def test_a_run_that_is_about_to_begin_is_waited_for_and_cancelled(world: World, here: bool) -> None:
    source = await world.add()
    gate = held(world)
    store = HeldCall(world.store, "begin_run")
    ports = replace(world.ports, store=cast("Store", store))
    async with SyncQueue(ports) as queue:
        running = asyncio.create_task(queue.sync(source))
        await store.reached.wait()
        cancelling = asyncio.create_task(cancel_source(world.ports, source, queue=queue if here else None))
        await world.clock.asleep(LOOK_S, LOOK_S)
        assert not cancelling.done()
        store.go.set()
        done = await cancelling
        gate.set()
        ended = (await running).ended
    assert (done.outcome, ended.status) == (Outcome.CANCELLED, RunStatus.CANCELLED)


async def test_a_run_that_is_cancelled_before_it_asks_for_anything_asks_for_nothing(world: World) -> None:
    source = await world.add()
    store = HeldCall(world.store, "known")
    running = asyncio.create_task(sync(replace(world.ports, store=cast("Store", store)), source))
    await store.reached.wait()
    cancelling = asyncio.create_task(cancel_source(world.ports, source))
    await has_note(world.store, CANCEL)
    store.go.set()
    assert (await running).status is RunStatus.CANCELLED
    assert (await cancelling).outcome is Outcome.CANCELLED
    assert await world.store.notes_like(CANCEL) == {}


async def test_a_run_whose_look_for_cancellation_is_late_asks_for_nothing_before_it(world: World) -> None:
    source = await world.add()
    store = HeldCall(world.store, "note", CANCEL)
    running = asyncio.create_task(sync(replace(world.ports, store=cast("Store", store)), source))
    await store.reached.wait()
    cancelling = asyncio.create_task(cancel_source(world.ports, source))
    await has_note(world.store, CANCEL)
    assert world.site.requests == []
    store.go.set()
    assert (await running).status is RunStatus.CANCELLED
    assert (await cancelling).outcome is Outcome.CANCELLED
    assert world.site.requests == []


async def has_note(store: Store, begin: str) -> None:
    async with asyncio.timeout(DEADLINE_S):
        while not await store.notes_like(begin):  # noqa: ASYNC110
            await asyncio.sleep(0.001)


@pytest.mark.usefixtures("patient_begin")
async def test_a_source_that_waits_between_two_attempts_makes_no_other(world: World) -> None:
    source = await world.add()
    world.site.set("/", html("Home", "x"), status=503)
    waiting = Held()
    ports = replace(world.ports, clock=waiting)
    async with SyncQueue(ports) as queue:
        begun = await queue.begin(source)
        await waiting.reached.wait()
        done = await cancel_source(ports, source, queue=queue)
        assert (done.outcome, done.run) == (Outcome.DROPPED, None)
        await until(lambda: not queue._all_jobs())
    (run,) = await world.store.runs(source.id, limit=9)
    assert (run.id, run.status) == (begun.run_id, RunStatus.FAILED)
    assert await world.store.sync_requests() == []
    assert await world.store.notes_like(CANCEL) == await world.store.notes_like(NEXT_ATTEMPT) == {}


async def test_a_wait_that_ends_by_itself_while_it_is_cancelled_is_told_as_it_ended(world: World) -> None:
    source = await world.add()
    world.site.set("/", html("Home", "x"), status=503)
    waiting = Held()
    running = asyncio.create_task(run_source(replace(world.ports, clock=waiting, cancels=Cancels()), source))
    await waiting.reached.wait()
    store = HeldNote(world.store, NEXT_ATTEMPT, look=2)
    cancelling = asyncio.create_task(
        cancel_source(replace(world.ports, store=cast("Store", store)), source, wait_s=0)
    )
    await store.reached.wait()
    waiting.over.set()
    assert isinstance(await running, Receipt)
    store.go.set()
    assert (await cancelling).outcome is Outcome.DROPPED
    assert len(await world.store.runs(source.id, limit=9)) == 1
    assert await world.store.notes_like(CANCEL) == await world.store.notes_like(NEXT_ATTEMPT) == {}


class HeldNote(HeldCall):
    """The same for the nth look at a note."""

    def __init__(self, store: Store, begin: str, *, look: int) -> None:
        super().__init__(store, "note")
        self._begin, self._left = begin, look

    async def _held(self, call: Any, *args: Any, **kwargs: Any) -> Any:
        self._left -= args[0].startswith(self._begin)
        return await (super()._held if self._left == 0 else _called)(call, *args, **kwargs)


async def _called(call: Any, *args: Any, **kwargs: Any) -> Any:
    return await call(*args, **kwargs)


class SlowLook:
    """A busy store: a look at the wait between two attempts takes a while, one at its cancelling longer."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def note(self, name: str) -> Any:
        turns = {NEXT_ATTEMPT: 10, CANCEL: 50}
        for _ in range(next((turns[begin] for begin in turns if name.startswith(begin)), 0)):
            await self._store.note("something else")
        return await self._store.note(name)


async def test_a_wait_that_is_cancelled_on_a_busy_store_makes_no_other_attempt(world: World) -> None:
    source = await world.add()
    world.site.set("/", html("Home", "x"), status=503)
    waiting = Held()
    ports = replace(world.ports, clock=waiting, store=cast("Store", SlowLook(world.store)))
    async with SyncQueue(ports) as queue:
        await queue.begin(source)
        await waiting.reached.wait()
        assert (await cancel_source(ports, source, queue=queue)).outcome is Outcome.DROPPED
        await until(lambda: not queue._all_jobs())
    assert len(await world.store.runs(source.id, limit=9)) == 1


async def test_a_wait_of_another_process_ends_without_an_attempt(world: World) -> None:
    source = await world.add()
    world.site.set("/", html("Home", "x"), status=503)
    waiting = Held()
    elsewhere = replace(world.ports, owner="another process", cancels=Cancels(), clock=waiting)
    running = asyncio.create_task(run_source(elsewhere, source))
    await waiting.reached.wait()
    assert (await cancel_source(world.ports, source, wait_s=0)).outcome is Outcome.DROPPED
    waiting.over.set()
    result = await running
    assert isinstance(result, Receipt)
    assert result.status is RunStatus.FAILED
    assert len(await world.store.runs(source.id, limit=9)) == 1
    assert (await cancel_source(world.ports, source)).outcome is Outcome.NOTHING


async def test_a_run_whose_process_is_gone_is_closed_as_lost(world: World) -> None:
    source = await world.add()
    now = world.clock.now()
    lease = await world.store.acquire_lease(source_lease_name(source.id), "dead", now=now, ttl_s=60)
    assert lease is not None
    await world.store.begin_run(lease, source.id, full=False, now=now)
    world.clock.advance(61)
    done = await cancel_source(world.ports, source)
    assert done.outcome is Outcome.ENDED
    assert done.run is not None
    assert done.run.status is RunStatus.LOST
