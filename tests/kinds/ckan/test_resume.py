"""A first harvest that was killed goes on behind what it had stored, while the portal still says the same."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from rowen.core.run import RunStatus
from rowen.engine.ingest import BATCH
from rowen.managing import sources
from tests.support.ckan_server import START, CkanServer, a_dataset, datasets
from tests.support.world import World, a_world

pytestmark = pytest.mark.anyio

ALL, PAGE, KILLED_AT = 400, 10, 31


@asynccontextmanager
async def a_killed_harvest(folder: Path) -> AsyncIterator[tuple[World, CkanServer]]:
    """A portal of 40 pages whose first run ended at its 31st."""
    with CkanServer(datasets(ALL)) as portal:
        portal.quirks.rows_max = PAGE
        async with a_world(folder, portal) as world:
            await sources.add(world.ports, portal.url, name="data", kind="ckan", check=False)
            loop, reached = asyncio.get_running_loop(), asyncio.Event()

            def tell(search: int) -> None:
                if search == KILLED_AT:
                    loop.call_soon_threadsafe(reached.set)

            portal.before_search = tell
            run = asyncio.ensure_future(world.sync("data"))
            await asyncio.wait_for(reached.wait(), 60)
            run.cancel()
            await asyncio.gather(run, return_exceptions=True)
            portal.before_search = None
            yield world, portal


async def stored(world: World) -> int:
    return len(await world.store.leftovers((await world.source("data")).id))


async def test_pages_that_are_stored_are_not_asked_for_again(tmp_path: Path) -> None:
    async with a_killed_harvest(tmp_path) as (world, portal):
        before, embedded = await stored(world), len(world.embedder.embedded)
        assert 0 < before < ALL
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, ALL)
        # One question whether it still holds, then the pages behind.
        pages = -(-(ALL - before) // PAGE)
        assert portal.count() == receipt.counters.requests == 1 + pages
        assert len(set(world.embedder.embedded)) == ALL
        assert receipt.counters.embeddings_computed <= ALL - embedded + 2 * BATCH
        assert set(await world.store.known((await world.source("data")).id)) == set(portal.ids())
        again = await world.sync("data")
        assert (again.counters.changed, portal.count()) == (0, 1)


@pytest.mark.parametrize("change", ["newer", "more", "fewer"])
async def test_everything_is_listed_when_the_stored_part_is_not_as_it_was(
    tmp_path: Path, change: str
) -> None:
    async with a_killed_harvest(tmp_path) as (world, portal):
        match change:
            case "newer":
                portal.edit("id-000005", modified=START + timedelta(days=9), notes="Measured again.")
            case "more":
                portal.put(a_dataset(5, id="id-000005-new", title="Another", notes="Measured again."))
            case "fewer":
                portal.remove("id-000005")
        receipt = await world.sync("data")
        assert receipt.status is RunStatus.COMPLETED
        assert portal.count() >= ALL // PAGE
        assert set(await world.store.known((await world.source("data")).id)) == set(portal.ids())
        assert len(await world.found("again")) == (change != "fewer")


async def test_a_full_sync_reads_everything_again(tmp_path: Path) -> None:
    async with a_killed_harvest(tmp_path) as (world, portal):
        receipt = await world.sync("data", full=True)
        assert (receipt.counters.created, portal.count()) == (ALL, ALL // PAGE)


@pytest.mark.parametrize("quirk", ["ignores_id_filter", "misreads_id_filter"])
async def test_a_portal_without_a_filter_by_id_is_listed_whole(tmp_path: Path, quirk: str) -> None:
    async with a_killed_harvest(tmp_path) as (world, portal):
        setattr(portal.quirks, quirk, True)
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, ALL)
