"""Simulated weeks of hourly syncs, edits, searches and rollbacks: memory and files stay bounded."""

from __future__ import annotations

import gc
import os
import random
from dataclasses import dataclass
from pathlib import Path

import pytest

from rowen.reading import history
from tests.support.site import Site, html
from tests.support.world import World, a_world
from tests.torture.tally import Tally

pytestmark = pytest.mark.anyio

WEEKS = 6
PAGES = 12
HOUR_S = 3600.0
WAL_BYTES = 16_000_000


@dataclass(frozen=True)
class Use:
    """What a process and its store take up."""

    memory: int
    descriptors: int
    threads: int
    database: int

    @classmethod
    def now(cls, db: Path) -> Use:
        gc.collect()
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return cls(
            memory=pages * os.sysconf("SC_PAGE_SIZE"),
            descriptors=len(list(Path("/proc/self/fd").iterdir())),
            threads=len(list(Path("/proc/self/task").iterdir())),
            database=db.stat().st_size,
        )


def write(site: Site, number: int, hour: int) -> None:
    paragraphs = [f"Page {number} at hour {hour} says thing {n}. " * 4 for n in range(5)]
    site.set(f"/{number}", html(f"Page {number}", *paragraphs))


async def hours(world: World, chance: random.Random, first: int, last: int) -> None:
    for hour in range(first, last):
        world.clock.advance(HOUR_S)
        for number in chance.sample(range(PAGES), chance.choice((0, 1, 1, 2))):
            write(world.site, number, hour)
        assert (await world.sync()).good
        await world.search(f"hour {hour} thing")
        if chance.random() < 0.01:
            await history.rollback(world.ports, await world.source())
        if hour % (24 * 7) == 0:
            await history.vacuum(world.store, await world.store.sources(), keep=3)


async def test_weeks_of_syncs_take_no_more_than_the_first(
    tmp_path: Path, chance: random.Random, tally: Tally
) -> None:
    db = tmp_path / "rowen.db"
    with Site({"/": html("Home", "All of it", links=[f"/{number}" for number in range(PAGES)])}) as site:
        for number in range(PAGES):
            write(site, number, 0)
        async with a_world(tmp_path, site) as world:
            await world.add()
            uses = []
            for week in range(WEEKS):
                await hours(world, chance, week * 168 + 1, (week + 1) * 168 + 1)
                uses.append(Use.now(db))
                wal = db.with_name("rowen.db-wal")
                assert not wal.exists() or wal.stat().st_size < WAL_BYTES
            tally.add("simulated days", "hourly syncs of a site", WEEKS * 7)
            early, late = uses[1], uses[-1]
            assert late.descriptors <= early.descriptors + 2
            assert late.threads <= early.threads + 2
            assert late.memory <= early.memory + 30_000_000, [use.memory for use in uses]
            # What runs did is kept; the texts they replaced are not.
            assert late.database <= 2.5 * early.database, [use.database for use in uses]
