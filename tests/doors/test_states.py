"""The states of all sources: what they cost to ask, and how they add up."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowen.core.rules.standing import State
from rowen.doors import states
from tests.support.site import Site, html
from tests.support.world import World, a_world

pytestmark = pytest.mark.anyio


async def reads_for(world: World, *, sections: bool) -> int:
    database, count = world.store._db, 0  # type: ignore[attr-defined]
    read = database.read

    async def counted(work: object) -> object:
        nonlocal count
        count += 1
        return await read(work)

    database.read = counted
    try:
        await states.statuses(world.ports, sections=sections)
    finally:
        database.read = read
    return count


async def test_the_front_page_asks_the_store_as_often_for_one_source_as_for_many(tmp_path: Path) -> None:
    with Site({"/": html("Home", "barley")}) as site:
        async with a_world(tmp_path, site) as world:
            await world.add("one")
            await world.sync("one")
            few = await reads_for(world, sections=False)
            for number in range(5):
                await world.add(f"more-{number}")
                await world.sync(f"more-{number}")
            assert await reads_for(world, sections=False) == few
            assert await reads_for(world, sections=True) > few


async def test_a_source_that_lacks_an_item_is_partial_and_one_without_a_run_is_not_up_to_date(
    tmp_path: Path,
) -> None:
    with Site({"/": html("Home", "barley", links=["/a"]), "/a": html("A", "a")}) as site:
        async with a_world(tmp_path, site) as world:
            await world.add("never")
            await world.add("partial")
            await world.sync("partial")
            site.set("/a", "no", status=500)
            await world.sync("partial")
            found = await states.statuses(world.ports, sections=False)
            assert {one.source.name: one.standing.state for one in found} == {
                "never": State.NEVER_RUN,
                "partial": State.PARTIAL,
            }
            partial = next(one for one in found if one.source.name == "partial")
            assert partial.documents == 2
            assert partial.standing.says == "1 item failed: server failed; kept as before"
