"""A small edition of `benchmarks/freshness.py`: fixed seeds, so each figure is always the same."""

from __future__ import annotations

from random import Random

import pytest
from benchmarks.worlds import Optimum, Schedule, Uniform, World, simulate, worlds

WORLDS = {world.name: world for world in worlds(60, 16, seed=1)}


@pytest.mark.parametrize("world", WORLDS.values(), ids=lambda world: world.name.replace(" ", "-"))
def test_the_schedule_is_near_the_optimum_and_not_below_uniform(world: World) -> None:
    learnt = simulate(world, Schedule(world), Random(1))
    fresh, expected = learnt.at_last()
    assert fresh >= 0.97 * simulate(world, Optimum(world), Random(1)).at_last()[0]
    assert fresh >= simulate(world, Uniform(), Random(1)).at_last()[0] - 0.002
    assert expected == pytest.approx(fresh, abs=0.03)
    assert learnt.longest <= 3.05
