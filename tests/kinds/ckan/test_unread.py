"""A record that is the stored one is not read again, as long as it would be read as before."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from rowen.managing import edit, sources
from rowen.reading import history
from tests.support.ckan_server import CkanServer, datasets
from tests.support.world import World, a_world

pytestmark = pytest.mark.anyio

ALL = 40


@asynccontextmanager
async def a_portal(folder: Path) -> AsyncIterator[tuple[World, CkanServer]]:
    with CkanServer(datasets(ALL)) as portal:
        async with a_world(folder, portal) as world:
            await sources.add(world.ports, portal.url, name="data", kind="ckan", check=False)
            assert (await world.sync("data")).counters.parses == ALL
            yield world, portal


async def test_a_full_sync_reads_the_records_that_differ(tmp_path: Path) -> None:
    async with a_portal(tmp_path) as (world, portal):
        portal.edit("id-000003", modified=world.clock.now(), notes="Measured again.")
        counters = (await world.sync("data", full=True)).counters
        assert (counters.updated, counters.parses, counters.same_body) == (1, 1, ALL - 1)
        assert (await world.sync("data", full=True)).counters.same_body == ALL


async def test_a_record_that_was_only_touched_is_read_and_is_no_new_version(tmp_path: Path) -> None:
    async with a_portal(tmp_path) as (world, portal):
        portal.edit("id-000003", modified=world.clock.now())
        counters = (await world.sync("data", full=True)).counters
        assert (counters.changed, counters.unchanged, counters.same_body) == (0, ALL, ALL - 1)


async def test_other_settings_have_every_record_read_again(tmp_path: Path) -> None:
    async with a_portal(tmp_path) as (world, _):
        planned = await edit.plan(world.ports, await world.source("data"), {"language": "de"})
        await edit.carry_out(world.ports, planned)
        assert (await world.sync("data")).counters.same_body == 0
        assert (await world.sync("data", full=True)).counters.same_body == ALL


async def test_another_version_of_rowen_reads_every_record_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with a_portal(tmp_path) as (world, _):
        monkeypatch.setattr("rowen.kinds.api.receiver.version", lambda name: "99.0.0")
        assert (await world.sync("data", full=True)).counters.same_body == 0
        assert (await world.sync("data", full=True)).counters.same_body == ALL


async def test_after_a_rollback_every_record_is_read_again(tmp_path: Path) -> None:
    async with a_portal(tmp_path) as (world, portal):
        portal.edit("id-000003", modified=world.clock.now(), notes="Measured again.")
        await world.sync("data")
        await history.rollback(world.ports, await world.source("data"))
        receipt = await world.sync("data")
        assert receipt.counters.updated == 1
        assert await world.found("again") == ["/dataset/dataset-3"]
