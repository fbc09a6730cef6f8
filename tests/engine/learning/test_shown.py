"""Which pages readers were shown is told to the store behind the searches."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime
from typing import cast

import pytest

from rowen.core.search.shown import EVERY_SEARCHES, MOST_WAITING, Shown
from rowen.engine.learning.shown import ShownPages
from rowen.errors import StoreBusy
from rowen.ports.store.learning.rates import Rates
from tests.support.fakes import FakeClock

pytestmark = pytest.mark.anyio


class BusyStore:
    """Takes counts when it is let."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.free = asyncio.Event()
        self.taken: list[dict[int, int]] = []
        self.error: Exception | None = None

    async def add_shown(self, counts: Mapping[int, int], *, now: datetime) -> None:
        self.begun.set()
        await self.free.wait()
        if self.error:
            raise self.error
        self.taken.append(dict(counts))


def searches(shown: ShownPages, store: BusyStore, number: int, *documents: int) -> None:
    for _ in range(number):
        shown.count(cast("Rates", store), FakeClock(), documents)


async def settled() -> None:
    """Every task that can go on has gone on."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_a_search_does_not_wait_for_a_store_that_is_busy() -> None:
    shown, store = ShownPages(), BusyStore()
    searches(shown, store, EVERY_SEARCHES, 1)
    await settled()
    assert store.begun.is_set()
    assert store.taken == []
    store.free.set()
    await settled()
    assert store.taken == [{1: EVERY_SEARCHES}]


async def test_later_counts_wait_for_those_on_their_way() -> None:
    shown, store = ShownPages(), BusyStore()
    searches(shown, store, EVERY_SEARCHES, 1)
    searches(shown, store, 3 * EVERY_SEARCHES, 2)
    store.free.set()
    await settled()
    assert store.taken == [{1: EVERY_SEARCHES}]
    searches(shown, store, 1, 2)
    await settled()
    assert store.taken[1:] == [{2: 3 * EVERY_SEARCHES + 1}], "in one batch, and none was lost"


async def test_a_store_that_stays_busy_costs_counts_and_nothing_else() -> None:
    shown, store = ShownPages(), BusyStore()
    store.error = StoreBusy("store: locked")
    store.free.set()
    searches(shown, store, EVERY_SEARCHES, 1)
    await settled()
    store.error = None
    searches(shown, store, EVERY_SEARCHES, 2)
    await settled()
    assert store.taken == [{2: EVERY_SEARCHES}]


async def test_the_end_of_a_process_does_not_wait_for_counts() -> None:
    shown, store = ShownPages(), BusyStore()
    searches(shown, store, EVERY_SEARCHES, 1)
    await settled()
    async with asyncio.timeout(5):
        await shown.close()
    assert store.taken == []


def test_counts_that_wait_for_long_stay_few() -> None:
    shown = Shown()
    for number in range(MOST_WAITING + 10):
        assert shown.count([number], 0.0, taken=False) is None
    counts = shown.count([0, MOST_WAITING + 20], 0.0)
    assert counts is not None
    assert len(counts) == MOST_WAITING
    assert counts[0] == 2
