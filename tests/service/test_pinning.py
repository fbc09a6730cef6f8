"""A pinned source stays at its generation: nothing runs it until it is resumed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rowen.core.rules.standing import CLI
from rowen.doors import states
from rowen.errors import Conflict
from rowen.managing import pausing
from rowen.reading import history
from rowen.service.serve import serve
from tests.support.site import Site, html
from tests.support.world import World, a_world

pytestmark = pytest.mark.anyio


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    with Site({"/": html("Home", "barley")}) as site:
        async with a_world(tmp_path, site) as made:
            await made.add()
            await made.sync()
            site.set("/", html("Home", "rye"))
            await made.sync()
            yield made


async def results(world: World) -> list[object]:
    return [one async for one in serve(world.ports, default_every_s=60.0, once=True)]


async def test_a_pinned_source_is_not_run_by_serve_or_by_name(world: World) -> None:
    shown = await history.rollback(world.ports, await world.source(), pin=True, by=CLI)
    assert shown == 1
    world.clock.advance(7 * 86_400)
    assert await results(world) == []
    with pytest.raises(Conflict, match="pinned to generation 1"):
        await world.sync()
    assert await world.found("barley") == ["/"]
    status = await states.status_of(world.ports, await world.source())
    assert (status.standing.state, status.next_run) == ("paused", None)


async def test_what_lies_beyond_a_pin_is_kept_and_can_be_shown_again(world: World) -> None:
    await history.rollback(world.ports, await world.source(), pin=True)
    assert await history.rollback(world.ports, await world.source(), to_generation=2) == 2
    assert await world.found("rye") == ["/"]
    assert (await world.source()).is_pinned
    shown = await history.generations(world.store, await world.source())
    assert [[one.cause for one in each.activations] for each in shown] == [
        ["rollback", "run"],
        ["rollback", "run"],
    ]


async def test_a_resumed_source_goes_forward_again(world: World) -> None:
    await history.rollback(world.ports, await world.source(), pin=True)
    await pausing.resume(world.store, await world.source())
    receipt = await world.sync()
    assert (receipt.generation, receipt.counters.updated) == (3, 1)
    assert await world.found("rye") == ["/"]


async def test_the_visible_generation_can_be_pinned_without_moving(world: World) -> None:
    await pausing.pin(world.store, world.clock, await world.source(), by=CLI)
    with pytest.raises(Conflict):
        await world.sync()
    await pausing.unpin(world.store, await world.source())
    assert (await world.sync()).generation == 2
