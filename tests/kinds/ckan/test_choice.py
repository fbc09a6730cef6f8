"""Choosing what is harvested of a portal: sent with the request, looked at again, and changed in place."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from rowen.core.run import Mode, RunStatus
from rowen.core.source import Edited
from rowen.errors import ConfigError
from rowen.managing import edit, sources
from tests.support.ckan_server import CkanServer, a_dataset
from tests.support.world import World, a_world

pytestmark = pytest.mark.anyio

BERN = '{"type": "Polygon", "coordinates": [[[7.3, 46.9], [7.5, 46.9], [7.5, 47.0], [7.3, 46.9]]]}'
KINDS: list[dict[str, Any]] = [
    {
        "organization": {"name": "bafu", "title": "Environment"},
        "tags": [{"name": "air"}],
        "groups": [{"name": "nature", "title": "Nature and climate"}],
        "extras": [{"key": "spatial", "value": BERN}],
    },
    {
        "organization": {"name": "astra", "title": "Roads"},
        "tags": [{"name": "traffic"}],
        "resources": [{"name": "Map", "format": "SHP", "url": "https://example.org/m"}],
        "type": "showcase",
    },
    {
        "organization": {"name": "bfs", "title": "Statistics"},
        "theme": ["Economy"],
        "notes": "Wages by canton.",
    },
]
ALL = 60
"""Twenty of each kind."""


def rows() -> list[dict[str, Any]]:
    return [a_dataset(number, **KINDS[number % 3]) for number in range(ALL)]


def ids(*kinds: int) -> set[str]:
    return {f"id-{number:06}" for number in range(ALL) if number % 3 in kinds}


@asynccontextmanager
async def a_portal(folder: Path, **settings: str) -> AsyncIterator[tuple[World, CkanServer]]:
    with CkanServer(rows()) as portal:
        portal.quirks.rows_max = 10
        async with a_world(folder, portal) as world:
            await sources.add(world.ports, portal.url, name="data", kind="ckan", settings=settings)
            yield world, portal


async def visible(world: World) -> set[str]:
    return set(await world.store.known((await world.source("data")).id))


CHOICES = [
    ({"organizations": "bafu"}, (0,)),
    ({"organizations": "bafu,bfs"}, (0, 2)),
    ({"groups": "nature"}, (0,)),
    ({"tags": "air,traffic"}, (0, 1)),
    ({"formats": "shp"}, (1,)),
    ({"types": "showcase"}, (1,)),
    ({"query": "wages"}, (2,)),
    ({"organizations": "bfs", "formats": "csv"}, (2,)),
]


@pytest.mark.parametrize(("settings", "kinds"), CHOICES)
async def test_what_is_chosen_is_asked_for_and_nothing_else_comes(
    tmp_path: Path, settings: dict[str, str], kinds: tuple[int, ...]
) -> None:
    async with a_portal(tmp_path, **settings) as (world, portal):
        receipt = await world.sync("data")
        assert receipt.status is RunStatus.COMPLETED
        assert await visible(world) == ids(*kinds)
        assert portal.count() == len(ids(*kinds)) // 10
        again = await world.sync("data")
        assert (again.counters.changed, portal.count()) == (0, 1)


@pytest.mark.parametrize(
    ("settings", "kinds"), [*CHOICES[:6], ({"themes": "economy"}, (2,)), ({"bbox": "7,46,8,48"}, (0,))]
)
async def test_what_a_portal_cannot_filter_is_left_out_after_it_came(
    tmp_path: Path, settings: dict[str, str], kinds: tuple[int, ...]
) -> None:
    async with a_portal(tmp_path, **settings) as (world, portal):
        portal.quirks.ignores_choice = True
        receipt = await world.sync("data")
        assert await visible(world) == ids(*kinds)
        assert receipt.counters.ignored["not_chosen"] == ALL - len(ids(*kinds))


async def test_a_portal_that_is_read_by_names_is_chosen_from_as_well(tmp_path: Path) -> None:
    async with a_portal(tmp_path, query="wages") as (world, portal):
        portal.quirks.refuses_search = 403
        await world.sync("data")
        assert await visible(world) == ids(2)


async def test_an_edit_takes_in_what_is_chosen_now_and_drops_the_rest(tmp_path: Path) -> None:
    async with a_portal(tmp_path, organizations="bafu,bfs,astra", max_deleted_share="0.5") as (world, _):
        await world.sync("data")
        assert await visible(world) == ids(0, 1, 2)
        planned = await edit.plan(world.ports, await world.source("data"), {"organizations": "bafu,bfs"})
        assert planned.edited is Edited.READ
        await edit.carry_out(world.ports, planned)
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.deleted) == (RunStatus.COMPLETED, 20)
        assert await visible(world) == ids(0, 2)
        assert receipt.counters.embeddings_computed == 0
        await edit.carry_out(
            world.ports, await edit.plan(world.ports, await world.source("data"), {"organizations": "astra"})
        )
        receipt = await world.sync("data")
        assert receipt.held_generation is not None, "it would take most of what readers see"
        assert await visible(world) == ids(0, 2)


async def test_a_credential_that_was_taken_away_made_the_next_sync_list_everything(tmp_path: Path) -> None:
    async with a_portal(tmp_path) as (world, _):
        await world.sync("data")
        before = await world.source("data")
        for token, unset in (({"bearer": "${TOKEN}"}, []), ({}, ["bearer"])):
            planned = await edit.plan(world.ports, await world.source("data"), token, unset=unset)
            assert (planned.changed, planned.edited) == (("bearer",), None)
            edited = await edit.carry_out(world.ports, planned)
            assert (edited.key != before.key, edited.watermark) == (bool(token), before.watermark)
        receipt = await world.sync("data")
        assert (receipt.mode, receipt.counters.changed) == (Mode.INCREMENTAL, 0)


async def test_another_account_does_not_undo_what_an_edit_before_it_has_asked_for(tmp_path: Path) -> None:
    async with a_portal(tmp_path, organizations="bafu") as (world, _):
        await world.sync("data")
        for given, unset in (
            ({"organizations": "bafu,bfs"}, []),
            ({"bearer": "${TOKEN}"}, []),
            ({}, ["bearer"]),
        ):
            planned = await edit.plan(world.ports, await world.source("data"), given, unset=unset)
            edited = await edit.carry_out(world.ports, planned)
            assert (edited.edited, edited.watermark) == (Edited.READ, None)
        await world.sync("data")
        assert await visible(world) == ids(0, 2)


async def test_a_dataset_that_no_longer_fits_goes(tmp_path: Path) -> None:
    async with a_portal(tmp_path, tags="air") as (world, portal):
        await world.sync("data")
        portal.edit("id-000003", modified=world.clock.now(), tags=[{"name": "water"}])
        portal.clear_log()
        receipt = await world.sync("data", full=True)
        assert receipt.counters.deleted == 1
        assert await visible(world) == ids(0) - {"id-000003"}


@pytest.mark.parametrize("bbox", ["1,2,3", "a,b,c,d", "10,0,5,1"])
async def test_an_area_that_is_none_is_refused(tmp_path: Path, bbox: str) -> None:
    with pytest.raises(ConfigError, match="west,south,east,north"):
        async with a_portal(tmp_path, bbox=bbox):
            pass
