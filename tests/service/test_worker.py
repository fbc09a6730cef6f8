"""Workers: runs whose ingestion others do, and sources that run by ticket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from rowen.adapters.store.sqlite.jobs import SqliteDispatcher
from rowen.adapters.store.sqlite.store import SqliteStore
from rowen.adapters.system import SystemClock
from rowen.core.handoff import RETRY_BASE_S, HandoffStatus
from rowen.core.lease import Lease
from rowen.core.rules.schedule import Failure
from rowen.core.run import RunStatus
from rowen.engine import ingest_by_workers, leases
from rowen.engine.leases import acquire, upstream_lease, worker_lease_name, workers
from rowen.engine.ports import Ports
from rowen.engine.run import sync
from rowen.errors import Conflict, EmbedderUnavailable
from rowen.managing import sources
from rowen.ports.dispatcher import INGEST, RETRY, Done, Later, Ticket
from rowen.service import serve as orchestrate
from rowen.service import worker as working
from rowen.service.cancelling import cancel_source
from rowen.service.worker import SYNC, Worker, sync_payload, work
from rowen.sinks.announcer import Announcer
from tests.support.fakes import FakeClock, FakeEmbedder
from tests.support.site import Site
from tests.support.waiting import until
from tests.support.world import World, a_site_of, a_world

pytestmark = pytest.mark.anyio


def as_process(world: World, owner: str, **changes: Any) -> Ports:
    """The same store for another process, with an embedder whose work can be told from others'."""
    store = world.store
    assert isinstance(store, SqliteStore)
    clock = changes.pop("clock", SystemClock())
    dispatcher = SqliteDispatcher(store.database, clock, owner=owner, held_s=2)
    return replace(world.ports, owner=owner, clock=clock, dispatcher=lambda: dispatcher, **changes)


@asynccontextmanager
async def a_worker(ports: Ports, *, concurrency: int = 1) -> AsyncIterator[asyncio.Task[None]]:
    stop = asyncio.Event()
    task = asyncio.create_task(work(ports, concurrency=concurrency, stop=stop))

    async def working() -> bool:
        return any(lease.owner == ports.owner for lease in await workers(ports))

    await until(working)
    try:
        yield task
    finally:
        stop.set()
        await asyncio.wait_for(asyncio.gather(task, return_exceptions=True), 120)


@pytest.fixture
def site() -> Any:
    with a_site_of(150) as running:
        yield running


async def test_a_run_whose_ingestion_workers_do_shows_what_a_run_alone_shows(
    tmp_path: Path, site: Site
) -> None:
    async with a_world(tmp_path, site) as world:
        source = await world.add()
        hand = FakeEmbedder()
        async with a_worker(as_process(world, "worker", embedder=lambda: hand)):
            receipt = await sync(as_process(world, "runner"), source)
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, 150)
        assert len(await world.pages()) == 150
        assert (len(hand.embedded), world.embedder.embedded) == (receipt.counters.embeddings_computed, [])
        assert len(set(hand.embedded)) == len(hand.embedded)
        assert await world.found("harvest")

        site.set("/p3.html", "<main><h1>Page three</h1><p>Told anew.</p></main>")
        async with a_worker(as_process(world, "worker", embedder=lambda: hand)):
            receipt = await sync(as_process(world, "runner"), await world.source())
        assert (receipt.counters.updated, receipt.counters.unchanged) == (1, 149)


async def test_a_worker_whose_lease_is_gone_takes_it_again_and_is_counted_on(
    tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "HEARTBEAT_S", 0.01)
    taken = 0

    async def counted(ports: Ports, name: str) -> Lease | None:
        nonlocal taken
        taken += 1
        return await acquire(ports, name)

    monkeypatch.setattr(working, "acquire", counted)
    async with a_world(tmp_path, site) as world:
        ports = as_process(world, "worker")
        async with a_worker(ports):
            # As a backup does that is restored, or another worker that starts after this one slept for days.
            await ports.store.forget_leases("worker:", before=ports.clock.now() + timedelta(days=1))

            async def known_again() -> bool:
                return taken > 1 and [one.owner for one in await workers(ports)] == [ports.owner]

            await until(known_again)
        assert await workers(ports) == []


async def test_a_run_whose_workers_vanish_does_the_work_itself(tmp_path: Path, site: Site) -> None:
    async with a_world(tmp_path, site) as world:
        source = await world.add()
        clock = FakeClock()
        ghost = as_process(world, "ghost", clock=clock)
        assert await acquire(ghost, worker_lease_name("ghost")) is not None
        receipt = await sync(as_process(world, "runner", clock=clock), source)
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, 150)
        assert ingest_by_workers.PATIENCE_S <= clock.monotonic() < 2 * ingest_by_workers.PATIENCE_S, (
            "waited for once"
        )
        assert await ghost.dispatcher().outstanding(INGEST) == [], "nobody needs its tickets any more"
        assert len(await world.pages()) == 150


async def test_what_the_last_worker_had_begun_when_it_died_is_taken_up_too(
    tmp_path: Path, site: Site
) -> None:
    async with a_world(tmp_path, site) as world:
        source = await world.add()
        clock = FakeClock()
        assert await acquire(as_process(world, "ghost", clock=clock), worker_lease_name("ghost")) is not None
        store = world.store

        class Begun:
            """A worker begins every batch as soon as it is handed off, and dies."""

            def __getattr__(self, name: str) -> Any:
                return getattr(store, name)

            async def stage(self, lease: Lease, *args: Any, **options: Any) -> Any:
                staged = await store.stage(lease, *args, **options)
                await store.start_handoffs(lease, [one.handoff_id for one in staged], now=clock.now())
                return staged

        runner: Any = replace(as_process(world, "runner", clock=clock), store=Begun())
        receipt = await sync(runner, source)
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, 150)


@pytest.mark.torture
async def test_sources_that_are_due_are_handed_to_workers_and_run_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Both sites are on this machine, so one of the two workers may find the other one there.
    monkeypatch.setattr("rowen.service.worker.BUSY_S", 0.01)
    with a_site_of(4) as one, a_site_of(6) as other:
        async with a_world(tmp_path, one) as world:
            await world.add("one")
            await sources.add(world.ports, other.url + "/", name="other")
            leader = as_process(world, "leader")

            async def led() -> None:
                async for _ in orchestrate.serve(leader, default_every_s=3600, wake=asyncio.Event()):
                    raise AssertionError("the leader runs nothing itself")

            async def done() -> bool:
                return await _runs(world) == 2 and not await leader.dispatcher().outstanding(SYNC)

            async with a_worker(as_process(world, "w1")), a_worker(as_process(world, "w2")):
                leading = asyncio.create_task(led())
                await until(done)
                leading.cancel()
                await asyncio.gather(leading, return_exceptions=True)
            assert await _runs(world) == 2
            assert {s.status.value for s in await world.store.sources()} == {"SUCCESS"}


async def test_a_host_has_one_visitor_at_a_time(tmp_path: Path, site: Site) -> None:
    async with a_world(tmp_path, site) as world:
        one, other = as_process(world, "one"), as_process(world, "other")
        async with upstream_lease(one, "docs.example.org"):
            with pytest.raises(Conflict, match="being asked by another"):
                async with upstream_lease(other, "docs.example.org"):
                    pass
            async with upstream_lease(other, "elsewhere.example.org"):
                pass
        async with upstream_lease(other, "docs.example.org"):
            pass


async def test_a_ticket_of_a_run_that_is_over_costs_nothing(tmp_path: Path, site: Site) -> None:
    async with a_world(tmp_path, site) as world:
        source = await world.add()
        receipt = await world.sync()
        ports = as_process(world, "worker")
        payload = {"run": receipt.run_id, "lease": "x", "token": 1, "owner": "gone", "handoffs": [1, 2]}
        for one in (payload, {**payload, "run": 10**6}):
            assert await _handled(ports, Ticket(id=1, task=INGEST, payload=one)) == Done()
        assert await world.store.shares(receipt.run_id) == []
        assert await _handled(ports, Ticket(id=2, task=SYNC, payload=sync_payload(source.id + 1))) == Done()


async def test_a_ticket_is_not_run_after_its_request_was_cancelled(tmp_path: Path, site: Site) -> None:
    async with a_world(tmp_path, site) as world:
        source = await world.add()
        ports = as_process(world, "worker")
        now = ports.clock.now()
        await world.store.request_sync(source.id, only=None, reason="push", now=now)
        waiting = await orchestrate._waiting(world.store, [source], now, 3600)
        await orchestrate._hand_out(ports.dispatcher(), waiting)
        (payload,) = await ports.dispatcher().outstanding(SYNC)
        assert (await cancel_source(ports, source)).dropped == 1
        ticket = Ticket(id=1, task=SYNC, payload=payload)
        assert await _handled(ports, ticket) == Done()
        assert await world.store.runs(source.id, limit=9) == []
        # A request that comes later is carried out.
        await world.store.request_sync(source.id, only=None, reason="push", now=now)
        assert await _handled(ports, ticket) == Done()
        assert len(await world.store.runs(source.id, limit=9)) == 1


async def test_a_worker_that_is_alone_ingests_what_it_runs_without_waiting_for_itself(tmp_path: Path) -> None:
    with a_site_of(3) as site:
        async with a_world(tmp_path, site) as world:
            source = await world.add()
            clock = FakeClock()
            ports = as_process(world, "worker", clock=clock)
            assert await _handled(ports, Ticket(id=1, task=SYNC, payload=sync_payload(source.id))) == Done()
            assert await world.pages() == {"/", "/p1.html", "/p2.html"}
            assert await ports.dispatcher().outstanding(INGEST) == []
            assert clock.waits == []


async def test_a_source_whose_runs_kill_their_workers_is_not_run_again_for_a_while(
    tmp_path: Path, site: Site
) -> None:
    async with a_world(tmp_path, site) as world:
        source = await world.add()
        clock = FakeClock()
        ports = as_process(world, "worker", clock=clock)
        for number in range(3):
            lease: Lease | None = await acquire(replace(ports, owner=f"dead {number}"), f"source:{source.id}")
            assert lease is not None
            await world.store.begin_run(lease, source.id, full=True, now=ports.clock.now())
            await world.store.close_lost_run(lease, source.id, now=ports.clock.now())
            await world.store.release_lease(lease)
        ticket = Ticket(id=1, task=SYNC, payload=sync_payload(source.id))
        assert await _handled(ports, ticket) == Done()
        assert len(await world.store.runs(source.id, limit=10)) == 3
        clock.advance(3700)
        assert await _handled(ports, ticket) == Done()
        assert (await world.source()).status.value == "SUCCESS"


async def test_runs_that_were_lost_in_the_future_do_not_keep_a_source_from_workers(
    tmp_path: Path, site: Site
) -> None:
    async with a_world(tmp_path, site) as world:
        source = await world.add()
        clock = FakeClock()
        ports, later = as_process(world, "worker", clock=clock), clock.now() + timedelta(days=365)
        for number in range(3):
            lease: Lease | None = await acquire(replace(ports, owner=f"dead {number}"), f"source:{source.id}")
            assert lease is not None
            await world.store.begin_run(lease, source.id, full=True, now=later)
            await world.store.close_lost_run(lease, source.id, now=later)
            await world.store.release_lease(lease)
        assert await _handled(ports, Ticket(id=1, task=SYNC, payload=sync_payload(source.id))) == Done()
        assert (await world.source()).status.value == "SUCCESS"


async def _handled(ports: Ports, ticket: Ticket) -> Any:
    """What the worker answers to one ticket."""
    answers: list[Any] = []

    class Once:
        async def run(self, handlers: Any, *, concurrency: int, stop: asyncio.Event) -> None:
            answers.append(await handlers[ticket.task](ticket))

    await work(replace(ports, dispatcher=Once), concurrency=1, stop=asyncio.Event())
    return answers[0]


async def _runs(world: World) -> int:
    """How many runs have ended."""
    ended = 0
    for source in await world.store.sources():
        ended += sum(run.finished_at is not None for run in await world.store.runs(source.id, limit=10))
    return ended


async def test_a_worker_makes_the_attempts_that_are_due(tmp_path: Path) -> None:
    with a_site_of(3) as site:
        async with a_world(tmp_path, site) as world:
            hand, clock = FakeEmbedder(), FakeClock(SystemClock().now())
            hand.down = True
            source = await world.add()
            async with a_worker(as_process(world, "worker", embedder=lambda: hand)):
                receipt = await sync(as_process(world, "runner"), source)
            assert receipt.counters.skipped == 3
            assert await as_process(world, "runner").dispatcher().outstanding(RETRY) == [
                {"source": source.id}
            ]
            hand.down = False
            ports = as_process(world, "worker", embedder=lambda: hand, clock=clock)
            ticket = Ticket(id=1, task=RETRY, payload={"source": source.id})
            answer = await Worker(ports, Announcer(ports)).retry(ticket)
            assert isinstance(answer, Later), "not due yet"
            clock.advance(RETRY_BASE_S + 1)
            assert await Worker(ports, Announcer(ports)).retry(ticket) == Done()
            assert await world.store.handoff_counts() == {(HandoffStatus.COMPLETED, "ingested"): 3}


async def test_a_run_hears_from_its_workers_that_the_key_is_wrong(tmp_path: Path) -> None:
    with a_site_of(3) as site:
        async with a_world(tmp_path, site) as world:
            hand = FakeEmbedder()

            async def refuse(texts: Sequence[str]) -> list[bytes]:
                raise EmbedderUnavailable("model `fake`: 401", kind="auth", status=401)

            hand.embed = refuse  # type: ignore[method-assign]
            async with a_worker(as_process(world, "worker", embedder=lambda: hand)):
                receipt = await sync(as_process(world, "runner", embedder=lambda: hand), await world.add())
            assert (receipt.failure, receipt.error) == (Failure.FATAL, "model `fake`: 401")
            assert len(await world.found("harvest")) == 3
