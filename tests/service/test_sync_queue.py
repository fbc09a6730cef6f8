"""One queue for all syncs: never two runs of a source, a result for every caller, and a good end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from rowen.adapters.exports import LocalExports
from rowen.core.feed import START, these
from rowen.core.lease import source_lease_name
from rowen.core.run import Event, Mode, Run, RunStatus
from rowen.core.source import Source
from rowen.engine.leases import SLOT_LOOK_S, run_slot
from rowen.engine.ports import Ports
from rowen.engine.receipt import Receipt
from rowen.engine.run import sync
from rowen.errors import NotFound
from rowen.managing import sources
from rowen.ports.store.notes import Pause
from rowen.reading import history
from rowen.service import sync_job
from rowen.service.attempts import RunResult, UpstreamPaused
from rowen.service.feed_wait import POLL_S
from rowen.service.serve import serve
from rowen.service.sync_job import Stopping, Watch
from rowen.service.sync_queue import Begun, SyncQueue
from tests.support.gate import DEADLINE_S, Gate, StillClock, until
from tests.support.site import Site, html
from tests.support.world import World, a_world

pytestmark = pytest.mark.anyio


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    with Site({"/": html("Home", "barley", links=["/a"]), "/a": html("A", "rye")}) as site:
        async with a_world(tmp_path, site, clock=StillClock()) as made:
            yield made


@pytest.fixture
async def queue(world: World) -> AsyncIterator[SyncQueue]:
    async with SyncQueue(world.ports) as opened:
        yield opened


def elsewhere(world: World) -> Ports:
    return replace(world.ports, owner="another process")


async def runs(world: World, source: Source) -> list[Run]:
    return await world.store.runs(source.id, limit=99)


def hold(world: World, path: str = "/") -> Gate:
    gate = Gate()
    world.site.set(path, html("Home", "held back"), delay=gate)
    return gate


async def test_two_hundred_calls_at_once_are_one_run_and_all_get_its_receipt(
    world: World, queue: SyncQueue
) -> None:
    source = await world.add()
    answers = await asyncio.gather(*(queue.sync(source) for _ in range(200)))
    (run,) = await runs(world, source)
    assert {answer.run_ids for answer in answers} == {(run.id,)}
    assert all(answer.ended is answers[0].ended for answer in answers)
    assert isinstance(answers[0].ended, Receipt)
    assert answers[0].ended.counters.created == 2


async def test_a_call_that_comes_while_a_run_is_under_way_joins_it(world: World, queue: SyncQueue) -> None:
    source = await world.add()
    gate = hold(world)
    first = asyncio.create_task(queue.sync(source))
    await gate.reached()
    second = asyncio.create_task(queue.sync(source))
    gate.set()
    assert (await first).run_ids == (await second).run_ids
    assert len(await runs(world, source)) == 1


async def test_a_full_sync_is_not_answered_with_a_run_that_asked_for_less(
    world: World, queue: SyncQueue
) -> None:
    source = await world.add()
    await queue.sync(source)
    gate = hold(world)
    small = asyncio.create_task(queue.sync(source))
    await gate.reached()
    full = [asyncio.create_task(queue.sync(source, full=True)) for _ in range(3)]
    gate.set()
    assert (await small).run_ids == (2,)
    assert {(await one).run_ids for one in full} == {(3,)}
    assert [run.mode for run in await runs(world, source)] == [Mode.FULL, Mode.INCREMENTAL, Mode.FULL]


async def test_calls_that_wait_become_one_that_does_what_all_of_them_ask(
    world: World, queue: SyncQueue
) -> None:
    source = await world.add()
    gate = hold(world)
    first = asyncio.create_task(queue.sync(source, only=["x"]))
    await gate.reached()
    waiting = [asyncio.create_task(queue.sync(source, only=[name])) for name in ("y", "z", "y")]
    everything = asyncio.create_task(queue.sync(source))
    gate.set()
    assert {(await one).run_ids for one in (*waiting, everything)} == {(2,)}
    assert (await first).run_ids == (1,)


async def test_other_sources_wait_for_a_slot(world: World, queue: SyncQueue) -> None:
    one = await world.add("one")
    other = await world.add("other", path="/a")
    gate = hold(world)
    first = asyncio.create_task(queue.sync(one))
    await gate.reached()
    assert (await queue.begin(other)).run_id is None
    second = asyncio.create_task(queue.sync(other))
    gate.set()
    await asyncio.gather(first, second)
    assert len(await runs(world, other)) == 1


async def test_as_many_sources_run_at_a_time_as_are_allowed(world: World) -> None:
    one = await world.add("one")
    other = await world.add("other", path="/a")
    async with SyncQueue(replace(world.ports, max_parallel_runs=2)) as queue:
        gate = hold(world)
        first = asyncio.create_task(queue.sync(one))
        await gate.reached()
        answer = await queue.sync(other)
        assert isinstance(answer.ended, Receipt)
        assert answer.ended.good
        assert not first.done()
        gate.set()
        await first


async def test_a_run_of_another_process_is_waited_for_and_answers(world: World, queue: SyncQueue) -> None:
    source = await world.add()
    gate = hold(world)
    theirs = asyncio.create_task(sync(elsewhere(world), source))
    await gate.reached()
    heard: asyncio.Queue[int] = asyncio.Queue()
    ours = asyncio.create_task(queue.sync(source, on_run=heard.put_nowait))
    (run,) = await runs(world, source)
    assert await asyncio.wait_for(heard.get(), DEADLINE_S) == run.id
    gate.set()
    answer = await ours
    assert isinstance(answer.ended, Run)
    assert (answer.ended.id, answer.ended.status) == (run.id, RunStatus.COMPLETED)
    assert (await theirs).run_id == run.id
    assert len(await runs(world, source)) == 1


async def test_a_process_that_died_in_its_run_is_not_waited_for(world: World, queue: SyncQueue) -> None:
    source = await world.add()
    lease = await world.store.acquire_lease(
        source_lease_name(source.id), "another process", now=world.clock.now(), ttl_s=60
    )
    assert lease is not None
    await world.store.begin_run(lease, source.id, full=True, now=world.clock.now())
    heard = asyncio.Event()
    ours = asyncio.create_task(queue.sync(source, on_run=lambda run_id: heard.set()))
    await asyncio.wait_for(heard.wait(), DEADLINE_S)
    world.clock.advance(61)
    answer = await ours
    assert isinstance(answer.ended, Receipt)
    assert [run.status for run in await runs(world, source)] == [RunStatus.COMPLETED, RunStatus.LOST]


async def test_when_other_processes_have_taken_all_slots_a_call_waits(world: World, queue: SyncQueue) -> None:
    source = await world.add()
    async with run_slot(elsewhere(world), source):
        ours = asyncio.create_task(queue.sync(source))
        await world.clock.asleep(SLOT_LOOK_S / 5, SLOT_LOOK_S)
        assert not ours.done()
    answer = await asyncio.wait_for(ours, DEADLINE_S)
    assert isinstance(answer.ended, Receipt)
    assert answer.ended.good


async def test_a_caller_that_is_cancelled_does_not_cancel_the_job(world: World, queue: SyncQueue) -> None:
    source = await world.add()
    gate = hold(world)
    leaving = asyncio.create_task(queue.sync(source))
    staying = asyncio.create_task(queue.sync(source))
    await gate.reached()
    leaving.cancel()
    gate.set()
    answer = await staying
    assert isinstance(answer.ended, Receipt)
    assert answer.ended.status is RunStatus.COMPLETED


async def test_a_source_that_is_removed_meanwhile_is_reported_as_such(world: World, queue: SyncQueue) -> None:
    one, other = await world.add("one"), await world.add("other", path="/a")
    gate = hold(world)
    first = asyncio.create_task(queue.sync(one))
    await gate.reached()
    waiting = asyncio.create_task(queue.sync(other))
    await asyncio.sleep(0)
    await sources.remove(world.ports, other)
    gate.set()
    await first
    with pytest.raises(NotFound):
        await waiting


async def test_at_the_end_callers_are_answered_and_the_run_is_put_in_order(world: World) -> None:
    source = await world.add()
    queue = SyncQueue(world.ports)
    gate = hold(world)
    waiting = asyncio.create_task(queue.sync(source))
    following = asyncio.create_task(queue.feed_wait.read(START, limit=9, wait_s=3600))
    await gate.reached()
    with queue.watch(1) as watch:
        assert watch is not None
        await queue.stop()
        assert watch.over
    with pytest.raises(Stopping):
        await waiting
    assert await following == []
    (run,) = await runs(world, source)
    assert run.status is RunStatus.CANCELLED
    with pytest.raises(Stopping):
        await queue.sync(source)
    with queue.watch(1) as watch:
        assert watch is None
    gate.set()


@pytest.mark.usefixtures("patient_begin")
async def test_a_run_can_be_watched_to_its_end(world: World, queue: SyncQueue) -> None:
    source = await world.add()
    gate = hold(world)
    run_id = (await queue.begin(source)).run_id
    assert run_id is not None
    await gate.reached()
    with queue.watch(run_id) as watch:
        assert watch is not None
        gate.set()
        seen: list[Event] = []
        while not watch.over:
            await asyncio.wait_for(watch.news(), DEADLINE_S)
            seen += watch.take()
    assert [event.kind for event in seen] == ["item", "finished"]
    assert seen[-1].run_id == run_id
    with queue.watch(run_id) as nothing:
        assert nothing is None


def test_a_slow_watcher_loses_items_and_never_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sync_job, "MAX_UNREAD", 2)
    watch = Watch()
    for number in range(5):
        watch.put(Event("docs", "item", reference=str(number)))
    watch.close()
    assert [event.reference for event in watch.take()] == ["0", "1"]
    assert (watch.lost, watch.over) == (3, True)


async def test_an_upstream_is_not_asked_while_it_is_paused(world: World, queue: SyncQueue) -> None:
    source = await world.add()
    until = world.clock.now() + timedelta(hours=2)
    await world.store.pause_upstream(Pause(upstream=source.upstream, until=until, reason="429"))
    with pytest.raises(UpstreamPaused) as caught:
        await queue.sync(source)
    assert caught.value.retry_after_s == 7200
    assert (await queue.begin(source)).run_id is None
    assert await runs(world, source) == []
    assert len(await world.store.sync_requests()) == 1, "for when the pause ends"
    assert (await queue.sync(source, force=True)).ended.status is RunStatus.COMPLETED
    assert await world.store.pauses(now=world.clock.now()) == {}, "it answered"


async def looked_after(world: World, queue: SyncQueue) -> list[RunResult]:
    serving = serve(world.ports, default_every_s=3600, once=True, run=queue.run_source)
    return [result async for result in serving]


async def test_callers_join_the_run_that_the_loop_has_begun(world: World, queue: SyncQueue) -> None:
    source = await world.add()
    gate = hold(world)
    looking = asyncio.create_task(looked_after(world, queue))
    await gate.reached()
    by_hand = asyncio.create_task(queue.sync(source))
    await asyncio.sleep(0)
    gate.set()
    (result,) = await looking
    assert isinstance(result, Receipt)
    assert (await by_hand).ended is result
    assert len(await runs(world, source)) == 1


async def test_a_request_that_came_during_the_run_of_a_caller_gets_its_own(
    world: World, queue: SyncQueue
) -> None:
    source = await world.add()
    gate = hold(world)
    by_hand = asyncio.create_task(queue.sync(source))
    await gate.reached()
    await world.store.request_sync(source.id, only=None, reason="push", now=world.clock.now())
    looking = asyncio.create_task(looked_after(world, queue))
    await until(lambda: queue.waiting == 1)
    gate.set()
    (result,) = await looking
    assert isinstance(result, Receipt)
    assert result.run_id > (await by_hand).run_ids[-1]
    assert await world.store.sync_requests() == []


async def test_after_a_run_the_sinks_get_what_readers_see(world: World, tmp_path: Path) -> None:
    source = await world.add()
    file = tmp_path / "out.jsonl"
    ports = replace(world.ports, exports=LocalExports)
    await world.store.save_sink("file", kind="export", settings={"file": str(file)}, cursor=START)
    async with SyncQueue(ports) as queue:
        await queue.sync(source)
        await until(file.exists)
    assert len(file.read_text().splitlines()) == 2


async def test_a_reader_that_waits_for_the_feed_is_woken_by_a_run_here(
    world: World, queue: SyncQueue
) -> None:
    source = await world.add()
    following = asyncio.create_task(queue.feed_wait.read(START, limit=9, wait_s=3600))
    await asyncio.sleep(0)
    await queue.sync(source)
    items = await asyncio.wait_for(following, DEADLINE_S)
    assert {item.change for item in items} == {"added"}


async def test_what_another_process_shows_is_noticed_too(world: World, queue: SyncQueue) -> None:
    source = await world.add()
    await queue.sync(source)
    world.site.set("/a", html("A", "oats"))
    await queue.sync(source)
    end = await world.store.feed_end()
    following = asyncio.create_task(queue.feed_wait.read(end, these([source]), limit=9, wait_s=3600))
    await history.rollback(elsewhere(world), source)
    (item,) = await asyncio.wait_for(following, DEADLINE_S)
    assert item.change == "changed"


async def test_waiting_ends_when_its_time_is_over(world: World, queue: SyncQueue) -> None:
    following = asyncio.create_task(queue.feed_wait.read(START, limit=9, wait_s=20))
    await world.clock.asleep(POLL_S, POLL_S)
    assert not following.done()
    world.clock.advance(21)
    assert await asyncio.wait_for(following, DEADLINE_S) == []


async def test_a_request_without_a_waiting_caller_is_not_lost_when_the_process_ends(world: World) -> None:
    source = await world.add()
    async with SyncQueue(world.ports) as first:
        gate = hold(world)
        await first.begin(source, full=True)
        await gate.reached()
        gate.set()
        await first.stop()
    (request,) = await world.store.sync_requests()
    assert (request.source_id, request.full, request.only) == (source.id, True, None)
    async with SyncQueue(world.ports) as next_:
        await looked_after(world, next_)
    assert await world.store.sync_requests() == []
    assert (await runs(world, source))[0].status is RunStatus.COMPLETED


async def no_requests(world: World) -> None:
    async with asyncio.timeout(DEADLINE_S):
        while await world.store.sync_requests():  # noqa: ASYNC110
            await asyncio.sleep(0.001)


@pytest.mark.usefixtures("patient_begin")
async def test_a_request_that_was_carried_out_is_not_carried_out_again(
    world: World, queue: SyncQueue
) -> None:
    source = await world.add()
    gate = hold(world)
    begun = await asyncio.gather(*(queue.begin(source) for _ in range(20)))
    await gate.reached()
    (under_way,) = queue._jobs[source.id]
    looking = asyncio.create_task(looked_after(world, queue))
    await until(lambda: len(under_way._listeners) == 21)
    gate.set()
    await looking
    await no_requests(world)
    assert {one.run_id for one in begun} == {1}
    assert len(await runs(world, source)) == 1


async def test_a_hook_that_joined_a_callers_request_gets_a_run_that_begins_after_it(
    world: World, queue: SyncQueue
) -> None:
    source = await world.add()
    gate = hold(world)
    first = asyncio.create_task(queue.sync(source))
    await gate.reached()
    await world.store.request_sync(source.id, only=["/a"], reason="push", now=world.clock.now())
    begun = await queue.begin(source)
    assert begun == Begun(run_id=None, after_run=1)
    gate.set()
    await first
    assert (await queue.sync(source)).run_ids == (2,)
    await no_requests(world)
