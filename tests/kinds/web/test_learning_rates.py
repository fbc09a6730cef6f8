"""Runs of a site learn how fast its pages change."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.site import Site, html
from tests.support.world import World, a_page, a_world

pytestmark = pytest.mark.anyio

DAY_S = 86_400


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    pages = {f"/{name}.html": a_page(f"/{name}.html", name) for name in "abcd"}
    pages["/"] = html("Home", "Welcome to barley.", links=list(pages))
    with Site(pages) as site:
        async with a_world(tmp_path, site) as made:
            await made.add()
            yield made


async def test_a_page_that_changes_every_day_has_a_higher_rate_than_its_neighbours(world: World) -> None:
    await world.sync()
    source = await world.source()
    for day in range(5):
        world.clock.advance(DAY_S)
        world.site.set("/b.html", a_page("/b.html", f"rye of day {day}"))
        await world.sync()
    ids = {one.reference.rpartition("/")[2]: one.id for one in await world.store.documents(source.id)}
    proofs = await world.store.proofs(list(ids.values()))
    rates = {name: proofs[ids[name]].rate or 0.0 for name in ("a.html", "b.html")}
    assert rates["b.html"] > 2 * rates["a.html"] > 0.0


async def test_rates_are_learnt_from_the_second_look_on_and_once_a_day(world: World) -> None:
    await world.sync()
    source = await world.source()
    learnt_at = []
    for hours in (24, 24, 1, 24):
        world.clock.advance(hours * 3600)
        await world.sync()
        learnt_at.append(await world.store.rates_learnt_at(source.id))
    first, second, soon, third = learnt_at
    assert first is None, "after the first look again there was nothing to learn from yet"
    assert second is not None
    assert third is not None
    assert soon == second < third


async def test_minutes_without_a_change_say_nothing_about_days(world: World) -> None:
    for _ in range(5):
        await world.sync()
        world.clock.advance(60)
    source = await world.source()
    assert await world.store.rates_learnt_at(source.id) is None
    (document, *_) = await world.store.documents(source.id)
    proof = (await world.store.proofs([document.id]))[document.id]
    assert proof.p_fresh(world.clock.now()) is None
