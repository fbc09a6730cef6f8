"""Clocks that are wrong for a while: no change is missed, no source waits, and `doctor` says so."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from rowen import registers
from rowen.adapters.store.sqlite.jobs import SqliteDispatcher
from rowen.adapters.store.sqlite.store import SqliteStore
from rowen.core.exchange.sink import Sink
from rowen.core.run import Mode, RunStatus
from rowen.engine.leases import workers
from rowen.engine.receipt import Receipt
from rowen.engine.run import sync
from rowen.managing import sources
from rowen.service.serve import serve
from rowen.sinks.announce import PAUSE, waits_until
from rowen.sinks.declared import fingerprint
from tests.support.ckan_server import CkanServer, datasets
from tests.support.world import World, a_world

pytestmark = pytest.mark.anyio

DAY, YEAR = timedelta(days=1), timedelta(days=365)
START = datetime(2024, 1, 1, tzinfo=UTC)
"""Where the clock of a world begins."""


@pytest.fixture
def portal() -> CkanServer:
    return CkanServer(datasets(3))


@pytest.fixture
async def world(tmp_path: Path, portal: CkanServer) -> AsyncIterator[World]:
    with portal:
        async with a_world(tmp_path, portal) as made:
            await sources.add(made.ports, portal.portal, name="data", kind="ckan", check=False)
            yield made


async def test_a_clock_that_was_ahead_for_one_run_delays_no_run_and_loses_no_change(
    world: World, portal: CkanServer
) -> None:
    world.clock.jump(START + YEAR)
    assert (await world.sync("data")).status is RunStatus.COMPLETED
    world.clock.jump(START + DAY)
    portal.edit("id-000001", modified=START + DAY / 2, notes="Measured again.")
    (result,) = [one async for one in serve(world.ports, default_every_s=3600.0, once=True)]
    assert isinstance(result, Receipt)
    assert result.source.label == "data", "it is due, though its last run lies in the future"
    assert result.counters.updated == 1
    assert result.mode is Mode.INCREMENTAL
    source = await world.source("data")
    assert source.watermark == source.last_run_at == START + DAY
    assert not await world.store.times_ahead(now=world.clock.now())


async def test_where_our_clock_is_ahead_the_watermark_is_what_the_servers_clock_says(world: World) -> None:
    world.clock.jump(datetime(2090, 1, 1, tzinfo=UTC))
    await world.sync("data")
    watermark = (await world.source("data")).watermark
    assert watermark is not None
    assert watermark.year < 2090


async def test_a_source_that_was_added_in_the_future_is_asked_for_everything(
    world: World, portal: CkanServer
) -> None:
    await world.sync("data")
    world.clock.jump(START - YEAR)
    portal.edit("id-000001", modified=START - 2 * YEAR, notes="Measured again.")
    receipt = await world.sync("data")
    assert (receipt.mode, receipt.counters.updated) == (Mode.FULL, 1)


async def test_a_worker_whose_lease_ends_in_a_year_is_not_waited_for(world: World) -> None:
    await world.store.acquire_lease("worker:gone", "gone", now=START + YEAR, ttl_s=60)
    assert await workers(world.ports) == []


async def test_a_clock_that_is_set_back_during_a_run_takes_nothing_from_it(world: World) -> None:
    source = await world.source("data")
    receipt = await sync(world.ports, source, on_event=lambda event: world.clock.jump(START - YEAR))
    assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, 3)
    assert (await world.sync("data")).status is RunStatus.COMPLETED


async def test_a_listing_that_was_read_in_the_future_is_read_again(world: World, portal: CkanServer) -> None:
    await world.sync("data")
    world.clock.jump(START + YEAR)
    await world.sync("data")
    world.clock.jump(START + DAY / 24)
    portal.remove("id-000001")
    assert (await world.sync("data")).counters.deleted == 1


async def test_a_ticket_that_a_clock_ahead_put_off_or_holds_is_taken(world: World) -> None:
    assert isinstance(world.store, SqliteStore)
    gone, here = (SqliteDispatcher(world.store.database, world.clock, owner=name) for name in "ab")
    world.clock.jump(START + YEAR)
    await gone.submit("work", [{}, {}])
    (held,) = await gone._claim(["work"], 1)
    world.clock.jump(START)
    assert held.id in [one.id for one in await here._claim(["work"], 2)]
    assert await here._claim(["work"], 2) == [], "now they are held by a clock that is right"


@pytest.mark.parametrize("failures", [0, 9])
def test_a_sink_that_a_clock_ahead_paused_or_let_rest_is_tried(failures: int) -> None:
    until = (START + YEAR).isoformat()
    pause = {"until": until, "settings": fingerprint({})} if not failures else None
    sink = Sink(name="s", kind="webhook", state={PAUSE: pause}, failures=failures, last_run_at=START + YEAR)
    assert waits_until(registers.sinks(), sink, START + YEAR - DAY / 1440) is not None, "by that clock"
    assert waits_until(registers.sinks(), sink, START) is None
