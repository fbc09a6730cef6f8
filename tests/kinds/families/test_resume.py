"""A first harvest that was killed: nothing is embedded twice, and a list in the order of ids goes on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from rowen.core.run import RunStatus
from rowen.engine.ingest import BATCH
from tests.support.portals.oai_pmh import Archive
from tests.support.portals.repositories import Dataverse
from tests.support.portals.skeleton import Family, Record, Reply, as_json
from tests.support.portals.trying import a_source_of, visible
from tests.support.world import World

pytestmark = pytest.mark.anyio

ALL, PAGE, KILLED_AT = 600, 20, 25


class Socrata(Family):
    """A domain's catalogue in the order of ids, as documented."""

    kind = "socrata"
    most = PAGE

    def answer(self, path: str, params: dict[str, str], base: str) -> Reply:
        if "ids" in params:
            rows = [one for one in self.live.items() if one[0] == params["ids"]]
        else:
            rows = [one for one in self.live.items() if one[0] > params.get("scroll_id", "")][: self.most]
        results = [
            {"resource": {"id": name, "name": one.title, "description": one.text}, "metadata": {}}
            for name, one in rows
        ]
        return as_json({"results": results, "resultSetSize": self.total()})


class LongArchive(Archive):
    most = PAGE


class LongDataverse(Dataverse):
    most = PAGE


@asynccontextmanager
async def a_killed_harvest(family: Family, folder: Path) -> AsyncIterator[World]:
    """The first run of its source ended at a request behind the middle of the list."""
    async with a_source_of(family, folder) as world:
        loop, reached = asyncio.get_running_loop(), asyncio.Event()
        answered = family.reply

        def told(path: str, params: dict[str, str], base: str) -> Reply | None:
            if len(family.asked) + 1 == KILLED_AT:
                loop.call_soon_threadsafe(reached.set)
            return answered(path, params, base)

        family.reply = told  # type: ignore[method-assign]
        run = asyncio.ensure_future(world.sync("data"))
        await asyncio.wait_for(reached.wait(), 60)
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)
        family.reply = answered  # type: ignore[method-assign]
        family.asked.clear()
        yield world


async def stored(world: World) -> int:
    return len(await world.store.leftovers((await world.source("data")).id))


async def test_a_list_in_the_order_of_ids_goes_on_behind_what_is_stored(tmp_path: Path) -> None:
    portal = Socrata(ALL)
    async with a_killed_harvest(portal, tmp_path) as world:
        before, embedded = await stored(world), len(world.embedder.embedded)
        assert 0 < before < ALL
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, ALL)
        # The pages behind, and the empty one that is the end.
        assert len(portal.asked) == -(-(ALL - before) // PAGE) + 1
        assert receipt.counters.embeddings_computed <= ALL - embedded + 2 * BATCH
        assert await visible(world) == set(portal.live)
        portal.asked.clear()
        again = await world.sync("data")
        assert (again.counters.unchanged, len(portal.asked)) == (ALL, ALL // PAGE)


@pytest.mark.parametrize("change", ["more", "fewer"])
async def test_its_beginning_is_read_again_when_its_number_is_not_that_of_what_came(
    tmp_path: Path, change: str
) -> None:
    portal = Socrata(ALL)
    async with a_killed_harvest(portal, tmp_path) as world:
        before = await stored(world)
        if change == "more":
            portal.records["socrata-0150-new"] = Record("Another", "Measured again")
        else:
            portal.records["socrata-0150"].deleted = True
        receipt = await world.sync("data")
        assert receipt.status is RunStatus.COMPLETED
        assert len(portal.asked) > -(-(ALL - before) // PAGE) + 1
        assert set(portal.live) <= await visible(world)
        # What went meanwhile goes with the next list.
        await world.sync("data")
        assert await visible(world) == set(portal.live)


async def test_a_full_sync_begins_anew(tmp_path: Path) -> None:
    portal = Socrata(ALL)
    async with a_killed_harvest(portal, tmp_path) as world:
        receipt = await world.sync("data", full=True)
        assert (receipt.counters.created, len(portal.asked)) == (ALL, ALL // PAGE)


@pytest.mark.parametrize("family", [LongArchive, LongDataverse])
async def test_other_lists_begin_anew_and_embed_nothing_twice(tmp_path: Path, family: type[Family]) -> None:
    portal = family(ALL)
    async with a_killed_harvest(portal, tmp_path) as world:
        embedded = len(world.embedder.embedded)
        assert 0 < embedded < ALL
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, ALL)
        assert receipt.counters.embeddings_computed <= ALL - embedded + 2 * BATCH
        assert len(set(world.embedder.embedded)) == ALL
