"""How runs end, row by row as in docs/outcomes.md: what each outcome changes, on every database."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from re import fullmatch

import pytest

from rowen.core.exchange.alarm import What, verdict
from rowen.core.lease import source_lease_name
from rowen.core.rules.schedule import due_at
from rowen.core.source import Source, Status
from rowen.engine.receipt import Receipt
from rowen.engine.run import sync
from rowen.managing import sources
from rowen.ports.store.store import Store
from tests.support.site import Site
from tests.support.world import World, a_page, a_site_of, a_world

pytestmark = pytest.mark.anyio

PAGES = 25
HOUR_S = 3600.0


@pytest.fixture
async def world(tmp_path: Path, store: Store) -> AsyncIterator[World]:
    """A source with a good run, then a failed one: it has an error, and one failure in a row."""
    with a_site_of(PAGES) as site:
        async with a_world(tmp_path, site) as made:
            world = World(replace(made.ports, store=store), site, made.clock, made.embedder, {})
            await sources.add(world.ports, site.url, name="docs")
            await world.sync()
            world.clock.advance(HOUR_S)
            site.everything_answers(500)
            await world.sync()
            site.everything_answers(None)
            world.clock.advance(HOUR_S)
            yield world


@dataclass(frozen=True)
class Row:
    outcome: str
    prepare: Callable[[Site], None]
    words: str | None = None
    """A pattern."""
    succeeds: bool = False
    state: Status = Status.SUCCESS
    failures: int = 0
    error: str | None = None
    watermark: bool = False
    alarm: What | None = What.RECOVERED


def _change(site: Site) -> None:
    site.set("/p1.html", a_page("/p1.html", "other words"))


def _one_fails(site: Site) -> None:
    _change(site)
    site.set("/p2.html", "no", status=500)


def _limits(site: Site) -> None:
    _change(site)
    for number in range(2, PAGES):
        site.set(f"/p{number}.html", "no", status=429, headers={"Retry-After": "7200"})


def _most_are_gone(site: Site) -> None:
    for number in range(2, PAGES):
        site.set(f"/p{number}.html", "no", status=404)


ROWS = [
    Row("completed", _change, succeeds=True, watermark=True),
    Row("partial", _one_fails, words="partial: 1 item failed"),
    Row(
        "partial",
        _limits,
        words="partial: [0-9] items? failed, broken off, the upstream limits us",
        state=Status.ERROR,
        failures=2,
        error="asked too often",
        alarm=What.ERROR,
    ),
    Row(
        "held",
        _most_are_gone,
        words="held",
        state=Status.ERROR,
        failures=2,
        error="not shown",
        alarm=What.HELD,
    ),
    Row(
        "failed",
        lambda site: site.everything_answers(500),
        words=r"failed: \d+ items failed",
        state=Status.ERROR,
        failures=2,
        error="500",
        alarm=What.ERROR,
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.outcome}-{row.state.value}")
async def test_a_run_that_ends_so_changes_this(world: World, row: Row) -> None:
    before = await world.source()
    row.prepare(world.site)
    receipt = await world.sync()
    after = await world.source()
    assert after.result is not None
    assert (after.result.state, after.result.words) == (row.outcome, receipt.result.words)
    assert fullmatch(row.words or "", receipt.result.words or ""), receipt.result.words
    assert (after.last_success_at != before.last_success_at) == row.succeeds
    assert (after.status, after.consecutive_failures) == (row.state, row.failures)
    assert (row.error or "") in (after.last_error or "")
    assert (after.last_error is None) == (row.error is None)
    assert (after.watermark != before.watermark) == row.watermark
    assert verdict(receipt.status, receipt.failure) is row.alarm
    assert _waits(world, after) >= timedelta(hours=20), "after its interval"


async def test_a_run_that_ends_at_its_own_limit_is_a_success_that_says_capped(world: World) -> None:
    await sources.add(world.ports, world.site.url, name="small", settings={"max_pages": "20"})
    for _ in range(2):
        world.clock.advance(HOUR_S)
        receipt = await world.sync("small")
        after = await world.source("small")
        assert after.result is not None
        assert after.result.words == receipt.result.words == "capped: stopped at `max_pages`, 5 left out"
        assert (after.status, after.last_success_at) == (Status.SUCCESS, world.clock.now())
        assert after.watermark == after.last_run_at


async def test_a_cancelled_run_changes_nothing_but_that_it_was_cancelled(world: World) -> None:
    for cancelled_from in (Status.ERROR, Status.SUCCESS):
        before = await world.source()
        assert before.status is cancelled_from
        world.clock.advance(1)
        await _cancelled(world)
        after = await world.source()
        assert after.result is not None
        assert after.result.words == "cancelled"
        changed = {"last_run_at", "last_result"}
        assert [name for name in Source.__slots__ if getattr(after, name) != getattr(before, name)] == [
            name for name in Source.__slots__ if name in changed
        ]
        assert _waits(world, after) <= timedelta(minutes=15), "due again soon"
        await world.sync()
        world.clock.advance(HOUR_S)


async def test_a_lost_run_is_an_error_that_is_due_again_soon(world: World) -> None:
    before = await world.source()
    lease = await world.store.acquire_lease(
        source_lease_name(before.id), "lost", now=world.clock.now(), ttl_s=60
    )
    assert lease is not None
    await world.store.begin_run(lease, before.id, full=False, now=world.clock.now())
    await world.store.close_lost_run(lease, before.id, now=world.clock.now())
    after = await world.source()
    assert after.result is not None
    assert (after.result.words, after.status) == ("interrupted", Status.ERROR)
    assert (after.consecutive_failures, after.last_success_at) == (2, before.last_success_at)
    assert _waits(world, after) <= timedelta(minutes=15)


def _waits(world: World, source: Source) -> timedelta:
    return due_at(source, world.clock.now(), default_every_s=86_400.0) - world.clock.now()


async def _cancelled(world: World) -> None:
    gate, begun = threading.Event(), asyncio.Event()
    world.site.set("/p20.html", a_page("/p20.html", "slow"), delay=gate)
    source = await world.source()
    running: asyncio.Task[Receipt] = asyncio.create_task(
        sync(world.ports, source, on_event=lambda event: begun.set() if event.kind == "item" else None)
    )
    await asyncio.wait_for(begun.wait(), 60)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    gate.set()
