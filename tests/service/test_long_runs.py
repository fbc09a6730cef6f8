"""A source that takes long: the others go on beside it where they may, or the log says what they wait for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest

from rowen.engine.receipt import Receipt
from rowen.service.attempts import RunResult
from rowen.service.held_up import LONG_S
from rowen.service.serve import serve
from tests.support.gate import DEADLINE_S, Gate
from tests.support.site import Site, html
from tests.support.world import World, a_world

pytestmark = pytest.mark.anyio

HOUR_S = 3600.0


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    with Site({"/": html("Home", "barley"), "/slow": html("Slow", "rye")}) as site:
        async with a_world(tmp_path, site) as made:
            yield made


async def held_up(world: World) -> Gate:
    """A source whose run does not end, and another that is due often."""
    gate = Gate()
    await world.add("slow", path="/slow", max_depth=0)
    quick = await world.add("quick", max_depth=0)
    await world.store.set_schedule(quick.id, HOUR_S)
    world.site.set("/slow", html("Slow", "rye"), delay=gate)
    return gate


async def next_result(world: World, results: AsyncIterator[RunResult]) -> RunResult:
    """The next result, however much time it takes until there is one."""
    waiting = asyncio.ensure_future(anext(results))
    async with asyncio.timeout(DEADLINE_S):
        while not waiting.done():
            await moved(world, 20)
    return await waiting


async def moved(world: World, seconds: float) -> None:
    """Time passes in steps in which every lease is renewed."""
    for _ in range(int(seconds / 10)):
        world.clock.advance(10)
        # What the time has woken comes first.
        await world.store.sources()


async def test_what_became_due_during_a_long_run_waited_for_its_end(world: World) -> None:
    gate = await held_up(world)
    ports = replace(world.ports, max_parallel_runs=2)
    async with aclosing(serve(ports, default_every_s=24 * HOUR_S)) as results:
        ended = [await next_result(world, results) for _ in range(3)]
        assert [result.source.label for result in ended] == ["quick"] * 3
        gate.set()
        last = await next_result(world, results)
    assert isinstance(last, Receipt)
    assert (last.source.label, last.good) == ("slow", True)
    assert len(world.site.asked_for("/slow")) == 1, "not begun a second time"


async def test_a_source_that_is_under_way_is_not_begun_again_for_a_request(world: World) -> None:
    gate = await held_up(world)
    slow = await world.source("slow")
    wake = asyncio.Event()
    ports = replace(world.ports, max_parallel_runs=3)
    async with aclosing(serve(ports, default_every_s=24 * HOUR_S, wake=wake)) as results:
        await next_result(world, results)
        await world.store.request_sync(slow.id, only=None, reason="hook", now=world.clock.now())
        wake.set()
        assert (await next_result(world, results)).source.label == "quick"
        assert len(await world.store.runs(slow.id, limit=9)) == 1
        gate.set()
        ended = [await next_result(world, results) for _ in range(2)]
    assert [result.source.label for result in ended] == ["slow"] * 2, "the request is carried out after it"
    assert await world.store.sync_requests() == []


async def test_ending_the_service_ends_a_run_that_outlasted_its_round(world: World) -> None:
    await held_up(world)
    ports = replace(world.ports, max_parallel_runs=2)
    async with aclosing(serve(ports, default_every_s=24 * HOUR_S)) as results:
        for _ in range(2):
            await next_result(world, results)
    slow = await world.source("slow")
    (run,) = await world.store.runs(slow.id, limit=9)
    assert run.status == "cancelled"
    assert await world.store.leases_like("run:") == []


async def test_nothing_said_for_which_run_the_others_waited(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    gate = await held_up(world)
    await world.store.request_sync(
        (await world.source("slow")).id, only=None, reason="hook", now=world.clock.now()
    )
    async with aclosing(serve(world.ports, default_every_s=24 * HOUR_S)) as results:
        waiting = asyncio.ensure_future(anext(results))
        try:
            await gate.reached()
            begun_at = world.clock.now()
            async with asyncio.timeout(DEADLINE_S):
                while "sources_wait" not in caplog.text:
                    await moved(world, 10)
            assert (world.clock.now() - begun_at).total_seconds() >= LONG_S
            assert "sources_wait due=1 for='the sync of slow, started 1" in caplog.text
            await moved(world, 300)
            assert caplog.text.count("sources_wait") == 1, "not in every minute"
        finally:
            gate.set()
            await asyncio.wait({waiting})
        assert waiting.result().source.label == "slow"
