"""Columns of tables in CKAN's datastore: asked for once, found by their words, and never in the way."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest

from rowen.core.run import RunStatus
from rowen.core.section import Form
from rowen.core.split import split
from rowen.kinds.api.tables.asked import ASKED, BEHIND
from rowen.managing import sources
from rowen.reading import history
from tests.support.ckan_server import HTML_ERROR, CkanServer, a_dataset, datasets
from tests.support.world import World, a_world

pytestmark = pytest.mark.anyio

NO2 = [
    {"id": "station", "type": "text"},
    {"id": "no2", "type": "numeric", "info": {"label": "NO2", "notes": "Nitrogen dioxide in µg/m³"}},
]


def with_table(number: int, **changes: Any) -> dict[str, Any]:
    resource = {
        "id": f"r{number}",
        "name": "Hourly values",
        "format": "CSV",
        "url": f"https://example.org/{number}.csv",
        "datastore_active": True,
        "last_modified": "2024-01-01T00:00:00",
        **changes,
    }
    return a_dataset(number, resources=[resource])


@asynccontextmanager
async def a_portal(
    folder: Path, rows: list[dict[str, Any]], **settings: object
) -> AsyncIterator[tuple[World, CkanServer]]:
    with CkanServer(rows) as portal:
        async with a_world(folder, portal) as world:
            given = {key: str(value) for key, value in settings.items()}
            await sources.add(world.ports, portal.url, name="data", kind="ckan", settings=given, check=False)
            yield world, portal


def asked(portal: CkanServer) -> list[str]:
    return [one.params["resource_id"] for one in portal.asked if one.action == "datastore_search"]


async def text_of(world: World, reference: str) -> str:
    source = await world.source("data")
    [document] = await world.store.documents(source.id, references=[reference], text=True)
    return document.text or ""


async def record_of(world: World, reference: str) -> dict[str, Any]:
    source = await world.source("data")
    known = (await world.store.known(source.id))[reference]
    found: dict[str, Any] = orjson.loads(await world.store.record(known.document_id) or b"null")
    return found


async def test_a_search_for_a_column_finds_the_table(tmp_path: Path) -> None:
    async with a_portal(tmp_path, [*datasets(20), with_table(20)]) as (world, portal):
        portal.tables["r20"] = NO2
        receipt = await world.sync("data")
        assert receipt.status is RunStatus.COMPLETED
        assert (receipt.counters.created, receipt.counters.tables_asked) == (21, 1)
        assert portal.count() == receipt.counters.requests == 2
        assert [one.params for one in portal.asked if one.action == "datastore_search"] == [
            {"resource_id": "r20", "limit": "0"}
        ]
        for question in ("tables with a column for NO2", "nitrogen dioxide"):
            best = (await world.search(question)).hits[0]
            assert best.url.partition("#")[0] == f"{portal.url}/dataset/dataset-20"
        text = await text_of(world, "id-000020")
        assert "- Columns of Hourly values: station (text); no2 (NO2, numeric): Nitrogen dioxide" in text
        found = (await world.store.metadata((await world.source("data")).id))["id-000020"]
        assert found["columns"] == ["NO2", "station"]
        # Facts are found by words; what the dataset says is embedded, and nothing else.
        assert receipt.counters.embeddings_computed == 21
        assert all(one.form is Form.DETAILS for one in split(text) if "no2" in one.text)


async def test_an_unchanged_refresh_asks_nothing_for_columns(tmp_path: Path) -> None:
    async with a_portal(tmp_path, [with_table(one) for one in range(5)]) as (world, portal):
        portal.tables = {f"r{one}": NO2 for one in range(5)} | {"r3": 404}
        await world.sync("data")
        for full in (False, True):
            receipt = await world.sync("data", full=full)
            assert (asked(portal), receipt.counters.changed) == ([], 0)
        assert receipt.counters.same_body == 5


async def test_only_tables_that_changed_are_asked_again(tmp_path: Path) -> None:
    two = with_table(1)["resources"] + with_table(2)["resources"]
    async with a_portal(tmp_path, [a_dataset(0, resources=two), with_table(3)]) as (world, portal):
        portal.tables = dict.fromkeys(("r1", "r2", "r3"), NO2)
        await world.sync("data")
        portal.edit("id-000000", modified=world.clock.now(), notes="Another text.")
        receipt = await world.sync("data")
        assert (asked(portal), receipt.counters.updated) == ([], 1)
        assert "Columns of" in await text_of(world, "id-000000")
        world.clock.advance(60)
        two[1] = {**two[1], "last_modified": "2024-02-01T00:00:00"}
        portal.tables["r2"] = [*NO2, {"id": "ozone", "type": "numeric"}]
        portal.edit("id-000000", modified=world.clock.now(), resources=two)
        receipt = await world.sync("data")
        # A new column is a fact about the dataset: a new version, and no new text.
        assert (asked(portal), receipt.counters.metadata_updated, receipt.counters.updated) == (["r2"], 1, 0)
        assert receipt.counters.embeddings_computed == 0
        assert await world.found("ozone") == ["/dataset/dataset-0"]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (404, 404),
        (403, 403),
        (HTML_ERROR, "unparseable"),
        ('{"success": true, "result": {"records": []}}', "unparseable"),
        ('{"success": true, "result": {"fields": "id"}}', "unparseable"),
    ],
)
async def test_a_table_that_says_no_columns_leaves_its_dataset_as_it_is(
    tmp_path: Path, answer: int | str, said: int | str
) -> None:
    async with a_portal(tmp_path, [with_table(1), with_table(2)]) as (world, portal):
        portal.tables = {"r1": answer, "r2": NO2}
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.failed) == (RunStatus.COMPLETED, 0)
        assert receipt.counters.ignored == {"table_refused": 1}
        assert (await world.found("measured"), await world.found("no2")) == (
            ["/dataset/dataset-1", "/dataset/dataset-2"],
            ["/dataset/dataset-2"],
        )
        assert (await record_of(world, "id-000001"))[ASKED]["r1"]["refused"] == said
        await world.sync("data", full=True)
        assert asked(portal) == []


async def test_columns_without_names_and_odd_fields_are_left_away(tmp_path: Path) -> None:
    async with a_portal(tmp_path, [with_table(1)]) as (world, portal):
        portal.tables["r1"] = [{"type": "text"}, {"id": ""}, {"id": None}, "stray", 7, {"id": "pm10"}]  # type: ignore[list-item]
        await world.sync("data")
        assert "- Columns of Hourly values: stray; pm10\n" in await text_of(world, "id-000001")


async def test_a_huge_schema_is_indexed_as_far_as_there_is_room_and_the_rest_is_counted(
    tmp_path: Path,
) -> None:
    async with a_portal(tmp_path, [with_table(1)]) as (world, portal):
        portal.tables["r1"] = [
            {"id": f"measure_{one:05}", "type": "numeric", "info": {"notes": "x" * 100}}
            for one in range(5000)
        ]
        receipt = await world.sync("data")
        text = await text_of(world, "id-000001")
        shown = text.count("measure_")
        assert 0 < 5000 - shown == receipt.counters.left_out["not_indexed"]
        assert await world.found("measure_00007") == ["/dataset/dataset-1"]
        found = (await world.store.metadata((await world.source("data")).id))["id-000001"]
        assert (len(found["columns"]), found["columns_left_out"]) == (2000, 3000)
        # The record has all of them, and the dataset's own row as it came.
        record = await record_of(world, "id-000001")
        assert len(record[ASKED]["r1"]["fields"]) == 5001
        assert record["resources"][0]["datastore_active"] is True


async def test_no_more_tables_are_asked_than_set_and_later_runs_go_on(tmp_path: Path) -> None:
    async with a_portal(tmp_path, [with_table(one) for one in range(7)], columns=3) as (world, portal):
        portal.tables = {f"r{one}": NO2 for one in range(7)}
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, 7)
        assert (len(asked(portal)), receipt.counters.left_out) == (3, {"columns_not_asked": 4})
        seen = set(asked(portal))
        counts = []
        for _ in range(4):
            world.clock.advance(300)
            receipt = await world.sync("data")
            counts.append((len(asked(portal)), receipt.counters.metadata_updated, receipt.counters.requests))
            seen |= set(asked(portal))
        # Datasets are not asked for again: one request says that nothing changed, the others are for tables.
        assert counts == [(3, 3, 4), (1, 1, 2), (0, 0, 1), (0, 0, 1)]
        assert seen == set(portal.tables)
        assert len(await world.found("nitrogen")) == 7
        assert (await world.source("data")).metadata.get(BEHIND) is None
        assert receipt.counters.left_out == {}


async def test_with_none_set_no_table_is_asked_and_nothing_is_said_to_be_left_out(tmp_path: Path) -> None:
    async with a_portal(tmp_path, [with_table(1)], columns=0) as (world, portal):
        portal.tables["r1"] = NO2
        receipt = await world.sync("data")
        assert (asked(portal), receipt.counters.left_out, receipt.counters.created) == ([], {}, 1)


async def test_a_datastore_that_is_down_does_not_stop_the_run_and_is_asked_later(tmp_path: Path) -> None:
    async with a_portal(tmp_path, [with_table(one) for one in range(40)], concurrency=1) as (world, portal):
        portal.tables = {f"r{one}": 500 for one in range(40)}
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, 40)
        assert receipt.counters.left_out == {"columns_not_asked": 40}
        assert len(set(asked(portal))) == 5
        portal.tables = {f"r{one}": NO2 for one in range(40)}
        receipt = await world.sync("data")
        assert (len(asked(portal)), receipt.counters.metadata_updated) == (40, 40)
        assert len(await world.found("nitrogen")) == 40


async def test_tables_that_always_fail_are_given_up_after_three_passes(tmp_path: Path) -> None:
    async with a_portal(tmp_path, [with_table(one) for one in range(4)], concurrency=1) as (world, portal):
        portal.tables = {f"r{one}": NO2 for one in range(4)} | {"r2": 500}
        await world.sync("data")
        asks = []
        for _ in range(6):
            await world.sync("data")
            asks.append(set(asked(portal)))
        assert asks[-1] == set()
        assert set().union(*asks) == {"r2"}
        assert (await world.source("data")).metadata.get(BEHIND) is None


async def test_a_schema_that_comes_with_a_resource_costs_no_request(tmp_path: Path) -> None:
    schema = '{"fields": [{"name": "no2", "title": "Nitrogen dioxide", "type": "number"}]}'
    row = with_table(1, datastore_active=False, schema=schema)
    async with a_portal(tmp_path, [row]) as (world, portal):
        receipt = await world.sync("data")
        assert (portal.count(), receipt.counters.tables_asked) == (1, 0)
        assert "Columns of Hourly values: no2 (Nitrogen dioxide, number)" in await text_of(world, "id-000001")


async def test_after_a_rollback_the_columns_of_the_shown_version_are_found(tmp_path: Path) -> None:
    async with a_portal(tmp_path, [with_table(1)]) as (world, portal):
        portal.tables["r1"] = NO2
        await world.sync("data")
        portal.tables["r1"] = [{"id": "ozone", "type": "numeric"}]
        portal.edit("id-000001", modified=world.clock.now(), resources=with_table(1, hash="2")["resources"])
        await world.sync("data")
        assert (await world.found("nitrogen"), await world.found("ozone")) == ([], ["/dataset/dataset-1"])
        await history.rollback(world.ports, await world.source("data"))
        assert (await world.found("nitrogen"), await world.found("ozone")) == (["/dataset/dataset-1"], [])
