"""Columns of tables in catalogues that have them in their lists, and of layers that are asked for them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from rowen.core.run import RunStatus
from rowen.kinds.api.tables.columns import MAX_LISTED, Column, columns_of, layer_of, lines, named
from tests.kinds.api import test_catalogues as catalogues
from tests.kinds.api.test_catalogues import ApiServer, Params, a_portal, metadata
from tests.support.world import World

pytestmark = pytest.mark.anyio

FIELDS = [
    {"name": "OBJECTID", "type": "esriFieldTypeOID", "alias": "OBJECTID"},
    {"name": "NO2_MEAN", "type": "esriFieldTypeDouble", "alias": "Nitrogen dioxide"},
]


async def text_of(world: World, reference: str) -> str:
    source = await world.source("data")
    [document] = await world.store.documents(source.id, references=[reference], text=True)
    return document.text or ""


async def best(world: World, question: str) -> str:
    return (await world.search(question)).hits[0].url.partition("#")[0]


# in the list: no request


async def test_columns_of_socrata_come_with_its_catalogue(tmp_path: Path) -> None:
    def answer(server: ApiServer, path: str, params: Params) -> tuple[int, Any]:
        status, body = catalogues.socrata(server, path, params)
        body["results"][3]["resource"] |= {
            "columns_name": ["Station", "NO2"],
            "columns_field_name": ["station", "no2_ugm3"],
            "columns_datatype": ["text", "number"],
            "columns_description": ["", "Nitrogen dioxide, hourly"],
        }
        return status, body

    async with a_portal(tmp_path, "socrata", answer=answer, number=8) as (world, server):
        receipt = await world.sync("data")
        assert (len(server.asked), receipt.counters.tables_asked) == (1, 0)
        assert (await metadata(world, "so03-0003"))["columns"] == ["NO2", "Station"]
        said = "- Columns: station (Station, text); no2_ugm3 (NO2, number): Nitrogen dioxide, hourly\n"
        assert said in await text_of(world, "so03-0003")
        assert await best(world, "tables with a column for NO2") == "https://data.example.org/d/so03-0003"


async def test_columns_of_opendatasoft_come_with_its_list(tmp_path: Path) -> None:
    async with a_portal(tmp_path, "opendatasoft", answer=catalogues.opendatasoft, number=3) as (world, _):
        await world.sync("data")
        assert (await metadata(world, "op00-0000"))["columns"] == ["Jahr"]
        assert "- Columns: jahr (Jahr, int)\n" in await text_of(world, "op00-0000")


@pytest.mark.parametrize(
    "schema",
    [
        {"schema": {"fields": [{"name": "no2", "type": "number", "description": "Nitrogen dioxide"}]}},
        {
            "tableSchema": {
                "columns": [{"name": "no2", "datatype": "number", "dc:description": "Nitrogen dioxide"}]
            }
        },
        {
            "csvw:tableSchema": {
                "columns": [
                    {"name": "no2", "datatype": {"base": "number"}, "dc:description": "Nitrogen dioxide"}
                ]
            }
        },
    ],
)
async def test_schemas_of_files_in_a_catalogue_are_read(tmp_path: Path, schema: dict[str, Any]) -> None:
    file = {"title": "Air", "downloadURL": "https://x.example.org/air.csv", "mediaType": "text/csv", **schema}
    async with a_portal(tmp_path, "dcat", path="/data.json") as (world, server):
        server.set(
            "/data.json", catalogues.data_json(1, distribution=[file]), content_type="application/json"
        )
        await world.sync("data")
        assert "- Columns of Air: no2 (number): Nitrogen dioxide\n" in await text_of(world, "us-0")
        assert (await metadata(world, "us-0"))["columns"] == ["no2"]


async def test_a_data_package_is_one_dataset_with_the_columns_of_its_tables(tmp_path: Path) -> None:
    package = {
        "name": "air-quality",
        "title": "Air quality",
        "description": "Measured at street level.",
        "licenses": [{"name": "CC-BY-4.0", "title": "Attribution"}],
        "contributors": [{"title": "The City"}],
        "keywords": ["air"],
        "resources": [
            {
                "name": "hourly",
                "path": "data/hourly.csv",
                "format": "csv",
                "schema": {"fields": [{"name": "no2", "type": "number", "title": "Nitrogen dioxide"}]},
            },
            {"name": "inline", "data": [[1]]},
        ],
    }
    async with a_portal(tmp_path, "dcat", path="/datapackage.json") as (world, server):
        server.set("/datapackage.json", json.dumps(package), content_type="application/json")
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, 1)
        found = await metadata(world, "air-quality")
        assert (found["publisher"], found["license"], found["columns"]) == (
            "The City",
            "Attribution",
            ["Nitrogen dioxide"],
        )
        assert found["resources"][0]["url"] == f"{server.url}/data/hourly.csv"
        assert "- Columns of hourly: no2 (Nitrogen dioxide, number)\n" in await text_of(world, "air-quality")


# asked for: layers of feature services


def hub(fields: Any, *, status: int = 200, listed: bool = False) -> Any:
    """An ArcGIS Hub whose datasets are layers, described by `fields` on the same server."""

    def answer(server: ApiServer, path: str, params: Params) -> tuple[int, Any]:
        if "/FeatureServer/" in path:
            assert params == {"f": "json"}
            return status, fields
        code, body = catalogues.arcgis(server, path, params)
        for feature in body.get("features", [body]):
            about = feature.get("properties", {})
            about["url"] = f"{server.url}/api/{about.get('id')}/FeatureServer/0"
            about["modified"] = server.items.get(str(about.get("id")), {}).get("modified", 1)
            if listed:
                about["fields"] = fields["fields"]
        return code, body

    return answer


def layers(server: ApiServer) -> Counter[str]:
    return Counter(path for path, _ in server.asked if "/FeatureServer/" in path)


async def test_layers_of_a_hub_are_asked_once_and_again_when_they_changed(tmp_path: Path) -> None:
    answer = hub({"name": "Layer", "fields": FIELDS})
    async with a_portal(tmp_path, "arcgis", answer=answer, number=4) as (world, server):
        receipt = await world.sync("data")
        assert (receipt.counters.tables_asked, set(layers(server).values())) == (4, {1})
        assert "- Columns: OBJECTID (OID); NO2_MEAN (Nitrogen dioxide, Double)\n" in await text_of(
            world, "ar00-0000"
        )
        assert len(await world.found("nitrogen")) == 4
        for full in (False, True):
            receipt = await world.sync("data", full=full)
            assert (layers(server), receipt.counters.changed) == (Counter(), 0)
        server.items["ar00-0000"]["modified"] = 2
        receipt = await world.sync("data")
        # It was touched, and has the columns it had.
        assert (sum(layers(server).values()), receipt.counters.changed) == (1, 0)


async def test_a_hub_that_lists_its_fields_is_asked_nothing_more(tmp_path: Path) -> None:
    answer = hub({"fields": FIELDS}, listed=True)
    async with a_portal(tmp_path, "arcgis", answer=answer, number=2) as (world, server):
        await world.sync("data")
        assert (layers(server), len(await world.found("nitrogen"))) == (Counter(), 2)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, {"error": {"code": 499, "message": "Token Required"}}),
        (200, {"layers": []}),
        (200, []),
        (404, {"message": "no such layer"}),
        (403, {"message": "forbidden"}),
    ],
)
async def test_a_layer_that_says_no_fields_is_stored_without_them(
    tmp_path: Path, status: int, body: Any
) -> None:
    async with a_portal(tmp_path, "arcgis", answer=hub(body, status=status), number=2) as (world, server):
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, 2)
        assert receipt.counters.ignored == {"table_refused": 2}
        assert (await world.sync("data")).counters.unchanged == 2
        assert not layers(server)


async def test_layers_that_were_left_out_are_asked_by_later_runs_and_counted_once(tmp_path: Path) -> None:
    answer = hub({"fields": FIELDS})
    async with a_portal(tmp_path, "arcgis", answer=answer, number=5, columns=2) as (world, _):
        receipt = await world.sync("data")
        assert receipt.counters.left_out == {"columns_not_asked": 3}
        counts = []
        for _ in range(3):
            receipt = await world.sync("data")
            counters = receipt.counters
            counts.append((counters.tables_asked, counters.metadata_updated, counters.unchanged))
        assert counts == [(2, 2, 5), (1, 1, 5), (0, 0, 5)]
        assert len(await world.found("nitrogen")) == 5


# reading


def test_columns_are_read_in_the_ways_that_portals_write_them() -> None:
    assert columns_of({"name": ["a", "b"], "label": ["A"], "type": None}) == (
        Column("a", label="A"),
        Column("b"),
    )
    assert columns_of([{"id": "x", "type": "text", "info": {"type_override": "numeric"}}]) == (
        Column("x", "numeric"),
    )
    assert columns_of({"columns": [{"titles": {"de": "Jahr", "en": "Year"}}]}, "de") == (Column("Jahr"),)
    assert columns_of(["no2", "", None, 7, {}]) == (Column("no2"),)
    assert columns_of("not a schema") == columns_of(None) == columns_of({"url": "x"}) == ()


def test_a_long_table_is_written_in_lines_and_named_as_far_as_can_be_filtered() -> None:
    many = columns_of([f"column number {one}" for one in range(3000)])
    written = list(lines("Wide", many))
    assert sum(number for _, number in written) == 3000
    assert all(line.startswith("Columns of Wide: ") and len(line) < 1200 for line, _ in written)
    assert len(named([many])["columns"]) == MAX_LISTED
    assert named([many])["columns_left_out"] == 1000
    assert named([()]) == {}


def test_a_service_without_a_layer_is_not_asked() -> None:
    def table(url: Any) -> Any:
        return layer_of({"properties": {"url": url}})

    assert table("https://x.example/FeatureServer/3/").url == "https://x.example/FeatureServer/3?f=json"
    assert [table(url) for url in ("https://x.example/FeatureServer", "ftp://x/FeatureServer/0", None)] == [
        None,
        None,
        None,
    ]
