"""How long history is kept: by number and by time, whichever keeps more."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from rowen.engine.run import sync
from tests.support.site import Site, html
from tests.support.world import World, a_world

pytestmark = pytest.mark.anyio

DAY = 86_400


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    with Site({"/": html("Home", "barley")}) as site:
        async with a_world(tmp_path, site) as world:
            yield world


async def kept(world: World) -> list[int]:
    return [one.number for one in await world.store.generations((await world.source()).id)]


async def change(world: World, number: int) -> None:
    world.clock.advance(10 * DAY)
    world.site.set("/", html("Home", f"barley {number}"))
    assert (await world.sync()).good


async def test_a_run_keeps_what_readers_saw_within_the_time_of_the_source(world: World) -> None:
    await world.add(keep="35d")
    for number in range(1, 9):
        await change(world, number)
    # It is day 80; 35 days ago readers saw the fourth, from day 40 to day 50.
    assert await kept(world) == [4, 5, 6, 7, 8]


async def test_the_number_keeps_more_when_nothing_changed_for_long(world: World) -> None:
    await world.add(keep="1d")
    for number in range(1, 6):
        await change(world, number)
    assert await kept(world) == [3, 4, 5]


async def test_a_time_for_all_sources_holds_where_a_source_says_nothing(world: World) -> None:
    await world.add()
    ports = replace(world.ports, keep_s=25 * DAY, keep_generations=1)
    for number in range(1, 6):
        world.clock.advance(10 * DAY)
        world.site.set("/", html("Home", f"barley {number}"))
        assert (await sync(ports, await world.source())).good
    assert await kept(world) == [2, 3, 4, 5]
