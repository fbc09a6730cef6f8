"""Many sources, hands off: which source runs, and what one's failure means for the others."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from rowen.core.exchange.sink import Sink, sink_lease_name
from rowen.core.feed import START
from rowen.core.handoff import HandoffStatus
from rowen.core.lease import HEARTBEAT_S, Lease
from rowen.core.run import RunStatus
from rowen.core.source import Source, Status
from rowen.engine.leases import orchestrator_lease, run_slot
from rowen.engine.ports import Ports
from rowen.engine.receipt import Receipt
from rowen.engine.register import Register
from rowen.engine.run import sync
from rowen.engine.sink_kind import Sent, SinkKind
from rowen.errors import Conflict, LeaseLost, StoreBusy
from rowen.managing import sources
from rowen.managing.pausing import resume
from rowen.service.attempts import NotRun, RunResult, run_source
from rowen.service.serve import serve
from tests.support.fakes import FakeClock
from tests.support.site import Site, html
from tests.support.world import World, a_page, a_world

pytestmark = pytest.mark.anyio

DAY_S = 86_400.0


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    with Site({"/": html("Home", "barley")}) as site:
        async with a_world(tmp_path, site) as made:
            yield made


async def once(world: World) -> list[RunResult]:
    return [result async for result in serve(world.ports, default_every_s=DAY_S, once=True)]


def labels(results: list[RunResult]) -> list[str]:
    return [result.source.label for result in results]


async def test_what_is_due_runs_and_what_is_not_waits(world: World) -> None:
    await world.add("daily")
    hourly = await world.add("hourly")
    await world.store.set_schedule(hourly.id, 3600.0)
    assert sorted(labels(await once(world))) == ["daily", "hourly"]
    assert await once(world) == []
    world.clock.advance(2 * 3600)
    assert labels(await once(world)) == ["hourly"]
    world.clock.advance(DAY_S * 1.2)
    assert sorted(labels(await once(world))) == ["daily", "hourly"]


async def test_a_paused_source_is_left_alone_until_it_is_resumed(world: World) -> None:
    source = await world.add()
    await world.store.set_paused(source.id, True)
    assert await once(world) == []
    await world.store.set_paused(source.id, False)
    assert labels(await once(world)) == ["docs"]


async def test_a_transient_failure_is_tried_three_times_and_the_next_source_goes_on(world: World) -> None:
    with Site({"/": html("Other", "rye")}) as other:
        await world.add("a-broken")
        await sources.add(world.ports, other.url, name="b-fine")
        world.site.everything_answers(500)
        broken, fine = await once(world)
        assert isinstance(broken, Receipt)
        assert isinstance(fine, Receipt)
        assert (broken.status, fine.status) == (RunStatus.FAILED, RunStatus.COMPLETED)
        source = await world.source("a-broken")
        assert len(await world.store.runs(source.id, limit=9)) == 3
        assert (source.status, source.consecutive_failures) == (Status.ERROR, 3)


async def test_an_upstream_that_limits_us_is_paused_for_as_long_as_it_says_and_others_go_on(
    world: World,
) -> None:
    with Site({"/": html("Other", "rye")}, host="127.0.0.2") as other:
        first, second = await world.add("first"), await world.add("second", path="/#x")
        await sources.add(world.ports, other.url, name="third")
        world.site.set("/", "no", status=429, headers={"Retry-After": "7200"})
        results = await once(world)
        by_label = {result.source.label: result for result in results}
        limited = by_label[min(labels(results)[:1])]
        assert isinstance(limited, Receipt)
        assert limited.stop_reason == "rate_limited"
        assert isinstance(by_label["third"], Receipt)
        assert by_label["third"].good
        passed = [result for result in results if isinstance(result, NotRun)]
        assert {result.source.id for result in passed} < {first.id, second.id}
        assert passed[0].until is not None
        assert abs(passed[0].until - world.clock.now() - timedelta(hours=2)) < timedelta(minutes=1)

        world.site.set("/", html("Home", "barley"))
        world.clock.advance(7200 - 60)
        assert isinstance(await run_source(world.ports, await world.source("first")), NotRun)
        world.clock.advance(61)
        result = await run_source(world.ports, await world.source("first"))
        assert isinstance(result, Receipt)
        assert result.good


async def test_an_upstream_that_does_not_say_is_paused_for_six_hours(world: World) -> None:
    await world.add()
    world.site.set("/", "no", status=429)
    await once(world)
    (pause,) = (await world.store.pauses(now=world.clock.now())).values()
    assert abs(pause.until - world.clock.now() - timedelta(hours=6)) < timedelta(minutes=1)


async def test_a_source_that_is_refused_stops_alone_until_somebody_resumes_it(world: World) -> None:
    source = await world.add()
    world.site.set("/", "who are you", status=401)
    (result,) = await once(world)
    assert isinstance(result, Receipt)
    assert result.hint
    assert len(await world.store.runs(source.id, limit=9)) == 1, "credentials do not mend themselves"
    world.clock.advance(DAY_S * 30)
    assert await once(world) == []
    world.site.set("/", html("Home", "barley"))
    await world.store.set_paused(source.id, False)
    (result,) = await once(world)
    assert isinstance(result, Receipt)
    assert result.good


async def test_a_second_orchestrator_says_who_looks_after_the_store(world: World) -> None:
    async with orchestrator_lease(world.ports):
        other = replace(world.ports, owner="other")
        with pytest.raises(Conflict, match="another `rowen serve` looks after this store: `test`"):
            async for _ in serve(other, default_every_s=DAY_S, once=True):
                pass


async def test_one_run_at_a_time_unless_more_are_allowed(world: World) -> None:
    source = await world.add()
    async with run_slot(world.ports, source):
        other = replace(world.ports, owner="other")
        with pytest.raises(Conflict, match="another run is under way: a sync that has just begun"):
            await sync(other, source)
        parallel = replace(other, max_parallel_runs=2)
        assert (await sync(parallel, source)).status is RunStatus.COMPLETED


async def test_two_owners_racing_for_a_lease_a_thousand_times_are_never_two(world: World) -> None:
    holding: list[str] = []
    held = 0

    async def race(owner: str) -> None:
        nonlocal held
        for _ in range(500):
            lease = await world.store.acquire_lease("race", owner, now=world.clock.now(), ttl_s=60)
            if lease is None:
                continue
            holding.append(owner)
            assert len(holding) == 1
            held += 1
            await asyncio.sleep(0)
            holding.remove(owner)
            await world.store.release_lease(lease)

    await asyncio.gather(race("one"), race("other"))
    assert held > 100


async def test_it_goes_on_by_itself_and_notices_what_is_due(world: World) -> None:
    await world.add()
    naps: list[float] = []

    class Patient(FakeClock):
        async def sleep(self, seconds: float) -> None:
            naps.append(seconds)
            self.advance(seconds)
            await asyncio.sleep(0)

    ports = replace(world.ports, clock=Patient(world.clock.now()))
    results: list[RunResult] = []
    async with aclosing(serve(ports, default_every_s=600.0)) as serving:
        async for result in serving:
            results.append(result)
            world.site.set("/", html("Home", f"edition {len(results)}", links=["/a"]))
            world.site.set("/a", a_page("/a", "x"))
            if len(results) == 4:
                break
    assert all(isinstance(result, Receipt) and result.good for result in results)
    assert max(naps) <= 60.0


class Restless(FakeClock):
    """Every wait passes at once."""

    async def sleep(self, seconds: float) -> None:
        self.advance(seconds)
        await asyncio.sleep(0)


class Trouble:
    """The store, with one method that does something else."""

    def __init__(self, store: Any, **methods: Any) -> None:
        self._store, self._methods = store, methods

    def __getattr__(self, name: str) -> Any:
        return self._methods.get(name) or getattr(self._store, name)


class OneRound(FakeClock):
    """Ends the loop where it would wait for its next round."""

    class Over(Exception):
        pass

    async def sleep(self, seconds: float) -> None:
        if seconds == HEARTBEAT_S:
            await super().sleep(seconds)
        raise self.Over


class Counted:
    """The store, with the name of each method that is called."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        self.calls.append(name)
        return getattr(self._store, name)


async def calls_of_a_round(world: World) -> list[str]:
    store: Any = Counted(world.store)
    ports = replace(world.ports, store=store, clock=OneRound(world.clock.now()))
    with pytest.raises(OneRound.Over):
        async for _ in serve(ports, default_every_s=DAY_S):
            raise AssertionError("nothing is due")
    return sorted(store.calls)


async def test_a_round_over_many_idle_sources_asks_the_store_no_more_often_than_over_a_few(
    world: World,
) -> None:
    rounds = []
    for count in (2, 20):
        for number in range(len(await world.store.sources()), count):
            source = await world.add(f"source-{number}", path=f"/#{number}")
            # Not due: one has run lately, the next is paused.
            await sync(world.ports, source)
            await world.store.set_paused(source.id, number % 2 == 0)
        await world.store.remove_sink("feed")
        end = await world.store.feed_end()
        await world.store.save_sink("feed", kind="webhook", settings={"url": "http://x/"}, cursor=end)
        rounds.append(await calls_of_a_round(world))
    assert rounds[0] == rounds[1]
    assert rounds[0].count("sources") <= 2, "the loop reads the sources once, and the sinks once"


async def calls_of_a_burst(world: World, number: int) -> dict[str, int]:
    """Everything is due at once: how often the store is asked for all of something."""
    for source in await world.store.sources():
        await world.store.remove_source(source.id, now=world.clock.now())
    for one in range(number):
        source = await world.add(f"source-{one}", path=f"/#{one}")
        if one % 2:
            await world.store.request_sync(source.id, only=None, reason="hook", now=world.clock.now())
    store: Any = Counted(world.store)

    async def send(ports: Ports, sink: Sink, lease: Lease, *, force: bool) -> Sent:
        return Sent(sent=1, cursor=await ports.store.feed_end())

    kind = SinkKind(send=send, check=lambda ports, entry: {})
    ports = replace(world.ports, store=store, sinks=Register("sink", {"quick": lambda: kind}))
    results = [result async for result in serve(ports, default_every_s=DAY_S, once=True)]
    assert len(results) == number
    return {name: store.calls.count(name) for name in ("sources", "sync_requests")}


async def test_many_sources_due_at_once_are_not_read_again_for_each_run(world: World) -> None:
    await world.store.save_sink("feed", kind="quick", settings={}, cursor=START)
    assert await calls_of_a_burst(world, 10) == await calls_of_a_burst(world, 4)


async def test_a_sink_that_hangs_holds_up_no_source(world: World) -> None:
    entered = asyncio.Event()

    async def send(ports: Ports, sink: Sink, lease: Lease, *, force: bool) -> Sent:
        entered.set()
        await asyncio.Event().wait()
        raise AssertionError

    hanging = SinkKind(send=send, check=lambda ports, entry: {})
    ports = replace(world.ports, sinks=Register("sink", {"hanging": lambda: hanging}))
    await world.store.save_sink("slow", kind="hanging", settings={}, cursor=START)
    for name in ("a", "b", "c"):
        await world.add(name, path=f"/#{name}")
    async with aclosing(serve(ports, default_every_s=DAY_S)) as serving:
        first = await anext(serving)
        assert sorted([first.source.label, *[(await anext(serving)).source.label for _ in "bc"]]) == [
            "a",
            "b",
            "c",
        ]
        await asyncio.wait_for(entered.wait(), 60)
        assert await world.store.lease(sink_lease_name("slow")) is not None
    lease = await world.store.lease(sink_lease_name("slow"))
    assert lease is None or lease.expires_at <= world.clock.now(), "another process may send at once"


async def some_results(ports: Ports, number: int) -> list[RunResult]:
    results: list[RunResult] = []
    async with aclosing(serve(ports, default_every_s=600.0)) as serving:
        async for result in serving:
            results.append(result)
            if len(results) == number:
                break
    return results


async def test_a_source_that_is_removed_during_its_run_does_not_end_the_others(world: World) -> None:
    gone = await world.add("gone")
    await world.add("other")
    world.site.everything_answers(500)
    clock = Restless(world.clock.now())

    async def removed_at_the_first_wait(seconds: float) -> None:
        if any(source.id == gone.id for source in await world.store.sources()):
            await world.store.remove_source(gone.id, now=world.clock.now())
        clock.advance(seconds)

    clock.sleep = removed_at_the_first_wait  # type: ignore[method-assign]
    # Whichever comes first, and wherever it was waiting.
    results = await some_results(replace(world.ports, clock=clock), 2)
    assert "other" in labels(results)


async def test_a_store_that_is_locked_for_a_while_is_waited_for(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    await world.add()
    locked = 3

    async def sources_or_locked() -> Any:
        nonlocal locked
        locked -= 1
        if locked >= 0:
            raise StoreBusy("store `rowen.db`: locked by another process for more than 5 s")
        return await world.store.sources()

    store: Any = Trouble(world.store, sources=sources_or_locked)
    results = await some_results(replace(world.ports, store=store, clock=Restless(world.clock.now())), 1)
    assert isinstance(results[0], Receipt)
    assert results[0].good
    assert "locked by another process" in caplog.text


async def test_a_run_that_was_taken_over_is_passed_over(world: World) -> None:
    await world.add()

    async def lost(*args: object, **options: object) -> Any:
        raise LeaseLost("lease `source:1`: taken over by another process")

    store: Any = Trouble(world.store, finish_run=lost)
    (result,) = await some_results(replace(world.ports, store=store, clock=Restless(world.clock.now())), 1)
    assert isinstance(result, NotRun)
    assert "taken over" in result.reason


async def test_a_source_that_hangs_does_not_hold_up_the_others_where_more_may_run(world: World) -> None:
    for name in ("one", "two", "three"):
        await world.add(name)
    hangs, under_way, most = asyncio.Event(), set[str](), 0

    async def run(ports: Ports, source: Source, **options: Any) -> RunResult:
        nonlocal most
        under_way.add(source.name)
        most = max(most, len(under_way))
        try:
            if source.name == "one":
                await hangs.wait()
            return await run_source(ports, source, **options)
        finally:
            under_way.discard(source.name)

    ports = replace(world.ports, max_parallel_runs=2)
    ended: list[str] = []
    async for result in serve(ports, default_every_s=DAY_S, once=True, run=run):
        ended += labels([result])
        if len(ended) == 2:
            hangs.set()
    assert (sorted(ended[:2]), ended[2:], most) == (["three", "two"], ["one"], 2)


async def test_a_store_that_is_away_lets_what_is_under_way_end_before_it_is_told(world: World) -> None:
    for name in ("one", "two", "three"):
        await world.add(name)
    failed, begun = asyncio.Event(), []

    async def run(ports: Ports, source: Source, **options: Any) -> RunResult:
        begun.append(source.name)
        if len(begun) == 2:
            failed.set()
            raise StoreBusy("store: cannot be reached")
        await failed.wait()
        return await run_source(ports, source, **options)

    ports, ended = replace(world.ports, max_parallel_runs=2), []
    with pytest.raises(StoreBusy):
        async for result in serve(ports, default_every_s=DAY_S, once=True, run=run):
            ended += labels([result])
    assert (len(begun), ended) == (2, begun[:1])


async def test_a_bug_meets_one_source_and_the_others_go_on(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    await world.add("one")
    await world.add("two")

    async def run(ports: Ports, source: Source, **options: Any) -> RunResult:
        if source.name == "one":
            raise ZeroDivisionError("a bug")
        return await run_source(ports, source, **options)

    results = [result async for result in serve(world.ports, default_every_s=DAY_S, once=True, run=run)]
    assert sorted(labels(results)) == ["one", "two"]
    assert "ZeroDivisionError" in caplog.text


async def test_a_process_suspended_past_its_lease_does_not_lead_beside_another(world: World) -> None:
    await world.add()
    clock = Restless(world.clock.now())
    first = replace(world.ports, owner="first", clock=clock)
    beating = asyncio.Event()

    async def renewed(*args: object, **options: object) -> Any:
        beating.set()
        raise LeaseLost("lease `orchestrator`: taken over by another process")

    store: Any = Trouble(world.store, renew_lease=renewed)
    with pytest.raises(Conflict, match="another `rowen serve`"):
        async for _ in serve(replace(first, store=store), default_every_s=600.0):
            await asyncio.wait_for(beating.wait(), 120)
            lease = await world.store.lease("orchestrator")
            assert lease is not None
            await world.store.release_lease(lease)
            await world.store.acquire_lease("orchestrator", "other", now=clock.now(), ttl_s=10**6)


async def test_an_upstream_that_asks_for_a_pause_for_ever_is_asked_once_a_day(world: World) -> None:
    source = await world.add()
    world.site.set("/", "", status=429, headers={"Retry-After": "99999999999"})
    await run_source(world.ports, source)
    (pause,) = (await world.store.pauses(now=world.clock.now())).values()
    assert pause.until - world.clock.now() <= timedelta(days=1)


async def test_resuming_a_source_lifts_the_pause_of_its_upstream(world: World) -> None:
    source = await world.add()
    world.site.set("/", "", status=429, headers={"Retry-After": "3600"})
    await run_source(world.ports, source)
    assert isinstance(await run_source(world.ports, source), NotRun)
    world.site.set("/", html("Home", "barley"))
    await resume(world.store, source)
    assert isinstance(await run_source(world.ports, source), Receipt)


async def test_a_good_sync_by_hand_lifts_the_pause(world: World) -> None:
    source = await world.add()
    world.site.set("/", "", status=429, headers={"Retry-After": "3600"})
    await run_source(world.ports, source)
    world.site.set("/", html("Home", "barley"))
    assert (await sync(world.ports, source)).good
    assert await world.store.pauses(now=world.clock.now()) == {}


async def test_a_sync_request_whose_run_failed_is_tried_again_later(world: World) -> None:
    source = await world.add()
    await world.sync()
    world.clock.advance(60)
    await world.store.request_sync(source.id, only=None, reason="hook", now=world.clock.now())
    world.site.everything_answers(500)
    assert [result.source.label for result in await once(world)] == ["docs"]
    assert len(await world.store.sync_requests()) == 1
    assert await once(world) == [], "not at once"
    world.site.everything_answers(None)
    world.clock.advance(3600)
    (result,) = await once(world)
    assert isinstance(result, Receipt)
    assert result.good
    assert await world.store.sync_requests() == []


async def test_a_process_that_stands_by_waits_for_a_store_that_is_away(world: World) -> None:
    await world.add()
    away = 2

    async def acquired(*args: Any, **options: Any) -> Any:
        nonlocal away
        away -= 1
        if away >= 0:
            raise StoreBusy("store: cannot be reached")
        return await world.store.acquire_lease(*args, **options)

    store: Any = Trouble(world.store, acquire_lease=acquired)
    ports = replace(world.ports, store=store, clock=Restless(world.clock.now()))
    async with aclosing(serve(ports, default_every_s=600.0, standby=True)) as serving:
        result = await anext(serving)
    assert isinstance(result, Receipt)


async def test_a_process_that_stands_by_says_for_whom_it_waits_and_when_it_takes_over(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    await world.add()
    clock = Restless(world.clock.now())
    await world.store.acquire_lease("orchestrator", "first", now=clock.now(), ttl_s=60)
    with caplog.at_level(logging.INFO, "rowen.serve"):
        async with aclosing(
            serve(replace(world.ports, clock=clock), default_every_s=600.0, standby=True)
        ) as it:
            assert isinstance(await anext(it), Receipt)
    assert caplog.messages[:2] == ["standby_waits owner=first", "standby_takes_over owner_before=first"]


async def test_a_run_whose_store_is_away_at_its_end_ends_a_little_later(world: World) -> None:
    source = await world.add()
    away = 3

    async def finished(*args: Any, **options: Any) -> Any:
        nonlocal away
        away -= 1
        if away >= 0:
            raise StoreBusy("store: cannot be reached")
        return await world.store.finish_run(*args, **options)

    store: Any = Trouble(world.store, finish_run=finished)
    receipt = await sync(replace(world.ports, store=store), source)
    assert receipt.good
    assert (await world.source()).status is Status.SUCCESS


async def test_attempts_at_handoffs_are_made_when_they_are_due_between_the_runs(world: World) -> None:
    world.embedder.down = True
    await world.add()
    async with aclosing(serve(world.ports, default_every_s=DAY_S)) as loop:
        receipt = await anext(loop)
        assert isinstance(receipt, Receipt)
        assert receipt.counters.skipped == 1
        world.embedder.down = False
        waiting = asyncio.ensure_future(anext(loop))
        async with asyncio.timeout(120):
            while not await world.store.handoffs(status=HandoffStatus.COMPLETED):
                world.clock.advance(1)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    (one,) = await world.store.handoffs()
    assert (one.status, one.reason_code, one.attempts) == (HandoffStatus.COMPLETED, "ingested", 2)
    assert len(await world.store.runs((await world.source()).id, limit=9)) == 1
