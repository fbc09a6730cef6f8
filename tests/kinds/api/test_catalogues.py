"""Catalogues of open-data portals: DCAT, Socrata, Opendatasoft and ArcGIS Hub, answering as documented."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from aiohttp import web

from rowen.core import params as parameters
from rowen.core.run import Mode, RunStatus, StopReason
from rowen.core.source import Status
from rowen.errors import BadLocation, UserError
from rowen.kinds.api.kind import KINDS
from rowen.kinds.api.settings import CATALOGUE, duration_s
from rowen.managing import sources
from rowen.reading import history
from tests.support.site import Site
from tests.support.world import World, a_world

pytestmark = pytest.mark.anyio

Params = dict[str, str]


class ApiServer(Site):
    """Pages of the site, and below `/api/` what `answer` returns."""

    def __init__(self) -> None:
        super().__init__()
        self.items: dict[str, dict[str, Any]] = {}
        self.answer: Callable[[ApiServer, str, Params], tuple[int, Any]] | None = None
        self.before: Callable[[int], None] | None = None
        self.hidden: set[str] = set()
        """Not listed, though they are there."""
        self.asked: list[tuple[str, Params]] = []

    def clear_log(self) -> None:
        super().clear_log()
        self.asked.clear()

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        parts = urlsplit(request.raw_path)
        if self.answer is None or not parts.path.startswith("/api/"):
            return await super()._answer(request)
        params = {key: values[-1] for key, values in parse_qs(parts.query).items()}
        self.asked.append((parts.path, params))
        if self.before is not None:
            self.before(len(self.asked))
        status, body = self.answer(self, unquote(parts.path), params)
        return web.json_response(body, status=status)


@asynccontextmanager
async def a_portal(
    folder: Path, kind: str, *, path: str = "", answer: Any = None, number: int = 0, **settings: object
) -> AsyncIterator[tuple[World, ApiServer]]:
    with ApiServer() as server:
        server.answer = answer
        server.items = {f"{kind[:2]}{n:02}-{n:04}": {"n": n} for n in range(number)}
        async with a_world(folder, server) as world:
            given = {key: str(value) for key, value in settings.items()}
            await sources.add(
                world.ports, server.url + path, name="data", kind=kind, settings=given, check=False
            )
            yield world, server


async def visible(world: World) -> set[str]:
    source = await world.source("data")
    return set(await world.store.known(source.id))


async def metadata(world: World, reference: str) -> dict[str, Any]:
    source = await world.source("data")
    return (await world.store.metadata(source.id))[reference]


def with_pages_of(monkeypatch: pytest.MonkeyPatch, kind: str, size: int) -> None:
    preset = KINDS[kind].preset
    monkeypatch.setattr(
        KINDS[kind], "preset", replace(preset, settings={**preset.settings, "page_size": str(size)})
    )


# Socrata


def socrata(server: ApiServer, path: str, params: Params) -> tuple[int, Any]:
    assert path == "/api/catalog/v1"
    assert params["domains"] == "127.0.0.1"
    ids = sorted(server.items)
    if "ids" in params:
        ids = [one for one in ids if one == params["ids"]]
    total = len(ids)
    if "scroll_id" in params:
        ids = [one for one in ids if one > params["scroll_id"]]
    start, limit = int(params.get("offset", 0)), int(params.get("limit", 100))
    if start + limit > 10_000:
        return 400, {"error": "offset + limit must be <= 10000"}
    results = [
        {
            "resource": {
                "id": one,
                "name": f"Table {server.items[one]['n']}",
                "description": "Rows <em>and</em> columns",
                "attribution": "City Hall",
                "type": "dataset",
                "updatedAt": "2024-01-01T00:00:00.000Z",
                "createdAt": "2020-01-01T00:00:00.000Z",
                "columns_name": ["Year", "Sum"],
            },
            "classification": {"categories": ["finance"], "tags": [], "domain_category": "Money",
                               "domain_tags": ["budget", "tax"]},
            "metadata": {"domain": "data.example.org", "license": "Public Domain"},
            "permalink": f"https://data.example.org/d/{one}",
            "link": f"https://data.example.org/Money/x/{one}",
        }
        for one in ids[start : start + limit]
    ]  # fmt: skip
    return 200, {"results": results, "resultSetSize": total, "timings": {"serviceMillis": 3}}


async def test_socrata_is_scrolled_by_the_last_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert KINDS["socrata"].preset.settings["page_size"] == "1000"
    with_pages_of(monkeypatch, "socrata", 100)
    async with a_portal(tmp_path, "socrata", answer=socrata, number=250) as (world, server):
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created, len(server.asked)) == (RunStatus.COMPLETED, 250, 3)
        first = sorted(server.items)[0]
        assert await metadata(world, first) == {
            "publisher": "City Hall",
            "organization": "data.example.org",
            "license": "Public Domain",
            "category": "Money",
            "type": "dataset",
            "created": "2020-01-01T00:00:00.000Z",
            "tags": ["budget", "tax"],
            "themes": ["finance"],
            "columns": ["Sum", "Year"],
        }
        del server.items[first]
        receipt = await world.sync("data")
        assert (receipt.counters.deleted, receipt.counters.unchanged) == (1, 249)


async def test_socrata_loses_nothing_when_datasets_go_between_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_pages_of(monkeypatch, "socrata", 100)
    async with a_portal(tmp_path, "socrata", answer=socrata, number=250) as (world, server):
        goes = sorted(server.items)[:40]

        def between(number: int) -> None:
            if number == 2:
                for one in goes:
                    del server.items[one]

        server.before = between
        await world.sync("data")
        assert set(server.items) <= await visible(world)


# Opendatasoft


def opendatasoft(server: ApiServer, path: str, params: Params) -> tuple[int, Any]:
    base = "/api/explore/v2.1/catalog/datasets"
    ids = sorted(set(server.items) - server.hidden)

    def one(reference: str) -> dict[str, Any]:
        return {
            "dataset_id": reference,
            "dataset_uid": "da_" + reference,
            "has_records": True,
            "features": ["analyze"],
            "fields": [{"name": "jahr", "label": "Jahr", "type": "int"}],
            "metas": {
                "default": {
                    "title": f"Tabelle {server.items[reference]['n']}",
                    "description": "<p>Zeilen und Spalten</p>",
                    "theme": ["Verkehr"],
                    "keyword": ["Bus", "Bahn"],
                    "license": "CC BY 4.0",
                    "language": "de",
                    "modified": "2024-01-01T00:00:00+00:00",
                    "publisher": "Stadt",
                    "records_count": 5,
                },
            },
        }

    if path != base:
        reference = path.removeprefix(base + "/")
        missing = {"message": "Unknown dataset", "error_code": "NotFound"}
        return (200, one(reference)) if reference in server.items else (404, missing)
    start, limit = int(params.get("offset", 0)), int(params.get("limit", 10))
    if limit > 100 or start + limit > 10_000:
        return 400, {
            "error_code": "InvalidRESTParameterError",
            "message": "Invalid value for limit API parameter",
        }
    return 200, {"total_count": len(ids), "results": [one(ref) for ref in ids[start : start + limit]]}


async def test_opendatasoft_is_read_by_pages_of_a_hundred(tmp_path: Path) -> None:
    async with a_portal(tmp_path, "opendatasoft", answer=opendatasoft, number=250) as (world, server):
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created, len(server.asked)) == (RunStatus.COMPLETED, 250, 3)
        found = await metadata(world, "op00-0000")
        assert (found["publisher"], found["tags"], found["themes"]) == ("Stadt", ["Bahn", "Bus"], ["Verkehr"])
        assert len(await world.found("Zeilen")) == 100
        del server.items["op00-0000"]
        receipt = await world.sync("data")
        assert (receipt.counters.deleted, receipt.counters.unchanged) == (1, 249)
        assert receipt.counters.embeddings_computed == 0


async def test_a_removal_between_pages_by_offset_is_made_good_and_deletes_nothing_else(
    tmp_path: Path,
) -> None:
    async with a_portal(tmp_path, "opendatasoft", answer=opendatasoft, number=250) as (world, server):
        await world.sync("data")

        def between(number: int) -> None:
            if number == 2:
                server.before = None
                for one in sorted(server.items)[:5]:
                    del server.items[one]

        server.before = between
        receipt = await world.sync("data")
        # A dataset that slipped through is asked for before it is deleted.
        assert (receipt.counters.failed, receipt.counters.ignored["not_listed_but_there"]) == (0, 0)
        assert set(server.items) <= await visible(world)
        server.before = None
        await world.sync("data")
        assert await visible(world) == set(server.items)


async def test_what_is_not_listed_and_still_there_is_kept(tmp_path: Path) -> None:
    async with a_portal(tmp_path, "opendatasoft", answer=opendatasoft, number=30) as (world, server):
        await world.sync("data")
        server.hidden = {"op00-0000"}
        receipt = await world.sync("data")
        assert (receipt.counters.deleted, len(await visible(world))) == (0, 30)


async def test_beyond_the_window_nothing_is_believed_to_be_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = KINDS["opendatasoft"]
    assert kind.preset.catalogue is not None
    small = replace(
        kind.preset,
        settings={name: text for name, text in kind.preset.settings.items() if name != "param.where"},
        catalogue=replace(kind.preset.catalogue, offset_end=150, sliced=False),
    )
    monkeypatch.setattr(kind, "preset", small)
    async with a_portal(tmp_path, "opendatasoft", answer=opendatasoft, number=250) as (world, server):
        receipt = await world.sync("data")
        assert receipt.counters.created == 150
        assert [params["limit"] for _, params in server.asked] == ["100", "50"]
        assert "150 of 250" in (receipt.hint or "")
        # How many are missing, and why, is said; it is no error of the source.
        assert (receipt.status, receipt.stop_reason) == (RunStatus.PARTIAL, StopReason.SERVICE_WINDOW)
        assert (receipt.counters.left_out, receipt.error) == ({"beyond_pages": 100}, None)
        assert "100 are missing" in (receipt.hint or "")
        assert (await world.source("data")).status is Status.SUCCESS
        del server.items["op00-0000"]
        assert (await world.sync("data")).counters.deleted == 0


def opendatasoft_by_date(server: ApiServer, path: str, params: Params) -> tuple[int, Any]:
    """Datasets changed on one day each; `where` is the filter of a slice, and no page is behind 60."""
    if int(params.get("offset", 0)) + int(params.get("limit", 10)) > 60:
        return 400, {"error_code": "InvalidRESTParameterError", "message": "Invalid value for offset"}
    everything = dict(server.items)
    if "where" in params:
        low, high = re.findall(r"date'([0-9-]+)'", params["where"])
        server.items = {
            one: item for one, item in everything.items() if "day" in item and low <= item["day"] < high
        }
    try:
        return opendatasoft(server, path, params)
    finally:
        server.items = everything


def with_a_short_window(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = KINDS["opendatasoft"]
    assert kind.preset.catalogue is not None
    small = replace(kind.preset, catalogue=replace(kind.preset.catalogue, offset_end=60))
    monkeypatch.setattr(kind, "preset", small)
    with_pages_of(monkeypatch, "opendatasoft", 20)


async def test_a_list_behind_the_window_is_read_in_stretches_of_time_complete_and_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_a_short_window(monkeypatch)
    async with a_portal(tmp_path, "opendatasoft", answer=opendatasoft_by_date, number=340) as (
        world,
        server,
    ):
        for number, item in enumerate(server.items.values()):
            item["day"] = (date(2015, 1, 1) + timedelta(days=number * 10)).isoformat()
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, 340)
        assert (receipt.counters.left_out, receipt.hint) == ({}, None)
        assert await visible(world) == set(server.items)
        assert len(server.asked) < 2.5 * 17
        del server.items["op00-0000"]
        receipt = await world.sync("data")
        assert (receipt.counters.deleted, receipt.counters.unchanged) == (1, 339)


async def test_datasets_that_no_stretch_of_time_has_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_a_short_window(monkeypatch)
    async with a_portal(tmp_path, "opendatasoft", answer=opendatasoft_by_date, number=180) as (world, server):
        for number, item in enumerate(list(server.items.values())[27:]):
            item["day"] = (date(2015, 1, 1) + timedelta(days=number * 10)).isoformat()
        receipt = await world.sync("data")
        # Of those without a date only the ones on the first page are met.
        met = {one for one, item in server.items.items() if "day" in item} | set(sorted(server.items)[:20])
        assert (receipt.status, await visible(world)) == (RunStatus.PARTIAL, met)
        assert receipt.counters.left_out == {"beyond_pages": 180 - len(met)}


@pytest.mark.parametrize("refuses", [True, False])
async def test_a_portal_that_takes_no_stretches_is_read_as_far_as_it_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refuses: bool
) -> None:
    with_a_short_window(monkeypatch)

    def answer(server: ApiServer, path: str, params: Params) -> tuple[int, Any]:
        if refuses and "where" in params:
            return 400, {"error_code": "ODSQLError"}
        return opendatasoft(server, path, params)

    async with a_portal(tmp_path, "opendatasoft", answer=answer, number=180) as (world, _):
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created) == (RunStatus.PARTIAL, 60)
        assert receipt.counters.left_out == {"beyond_pages": 120}


# ArcGIS Hub


def arcgis(server: ApiServer, path: str, params: Params) -> tuple[int, Any]:
    base = "/api/search/v1/collections/dataset/items"

    def one(reference: str) -> dict[str, Any]:
        number = server.items[reference]["n"]
        return {
            "id": reference,
            "type": "Feature",
            "geometry": None,
            "properties": {
                "id": reference,
                "title": f"Layer {number}",
                "snippet": "short",
                "description": "<div>Polygons of <span>parcels</span></div>",
                "owner": "gis_admin",
                "orgName": "County",
                "type": "Feature Service",
                "tags": ["parcels"],
                "created": 1611934478000,
                "modified": 1671554653000,
                "url": "https://services.example.org/FeatureServer",
            },
            "links": [],
        }

    ids = list(server.items)
    if path != base:
        reference = path.removeprefix(base + "/")
        return (200, one(reference)) if reference in server.items else (404, {"message": "Not Found"})
    start, limit = int(params.get("startindex", 1)), int(params.get("limit", 10))
    page = ids[start - 1 : start - 1 + limit]
    links = [{"rel": "self", "href": f"{server.url}{base}?limit={limit}&startindex={start}"}]
    if start - 1 + limit < len(ids):
        following = f"{server.url}{base}?limit={limit}&startindex={start + limit}"
        links.append({"rel": "next", "type": "application/geo+json", "href": following})
    return 200, {
        "type": "FeatureCollection",
        "features": [one(ref) for ref in page],
        "timestamp": "2024-01-01T00:00:00Z",
        "numberMatched": len(ids),
        "numberReturned": len(page),
        "links": links,
    }


async def test_arcgis_hub_is_read_by_its_links(tmp_path: Path) -> None:
    async with a_portal(tmp_path, "arcgis", answer=arcgis, number=230) as (world, server):
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created, len(server.asked)) == (RunStatus.COMPLETED, 230, 3)
        found = await metadata(world, "ar00-0000")
        assert (found["organization"], found["tags"]) == ("County", ["parcels"])
        assert "/datasets/ar00-0000" in await world.found("parcels")
        server.items["ar00-0000"]["n"] = 999
        receipt = await world.sync("data")
        assert (receipt.counters.updated, receipt.counters.unchanged) == (1, 229)
        del server.items["ar00-0000"]
        assert (await world.sync("data")).counters.deleted == 1


async def test_an_empty_catalogue_wipes_nothing(tmp_path: Path) -> None:
    async with a_portal(tmp_path, "arcgis", answer=arcgis, number=30) as (world, server):
        await world.sync("data")
        server.items.clear()
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.deleted) == (RunStatus.FAILED, 0)
        assert len(await visible(world)) == 30


async def test_a_hub_site_that_lists_the_whole_world_is_refused(tmp_path: Path) -> None:
    def answer(server: ApiServer, path: str, params: Params) -> tuple[int, Any]:
        status, body = arcgis(server, path, params)
        return status, {**body, "numberMatched": 412_345}

    async with a_portal(tmp_path, "arcgis", answer=answer, number=230) as (world, server):
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created, len(server.asked)) == (RunStatus.FAILED, 0, 1)
        assert "412,345 datasets" in (receipt.error or "")
        with pytest.raises(BadLocation, match="not those of one portal") as caught:
            await sources.add(world.ports, server.url, name="again", kind="arcgis")
        assert "catalogue" in (caught.value.hint or "")


async def test_a_hub_that_refuses_pages_behind_its_window_says_how_many_are_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_pages_of(monkeypatch, "arcgis", 20)

    def answer(server: ApiServer, path: str, params: Params) -> tuple[int, Any]:
        if int(params.get("startindex", 1)) > 240:
            return 400, {"message": "Result window is too large"}
        return arcgis(server, path, params)

    async with a_portal(tmp_path, "arcgis", answer=answer, number=300) as (world, server):
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created) == (RunStatus.PARTIAL, 240)
        assert (receipt.counters.left_out, receipt.error) == ({"beyond_pages": 60}, None)
        assert "1.1.json" in (receipt.hint or "")
        del server.items["ar00-0000"]
        assert (await world.sync("data")).counters.deleted == 0


# DCAT


def data_json(number: int, **changes: Any) -> str:
    return json.dumps(
        {
            "@context": "https://project-open-data.cio.gov/v1.1/schema/catalog.jsonld",
            "@type": "dcat:Catalog",
            "conformsTo": "https://project-open-data.cio.gov/v1.1/schema",
            "dataset": [
                {
                    "@type": "dcat:Dataset",
                    "identifier": f"us-{n}",
                    "title": f"Records {n}",
                    "description": "What the <b>bureau</b> knows.",
                    "keyword": ["bureau", "records"],
                    "modified": "2024-01-01",
                    "publisher": {"@type": "org:Organization", "name": "Bureau of Records"},
                    "contactPoint": {"fn": "Jane", "hasEmail": "mailto:jane@example.org"},
                    "accessLevel": "public",
                    "license": "https://creativecommons.org/publicdomain/zero/1.0/",
                    "landingPage": f"https://bureau.example.org/{n}",
                    "distribution": [
                        {
                            "title": "As a table",
                            "downloadURL": "https://x.example.org/a.csv",
                            "mediaType": "text/csv",
                        }
                    ],
                    **changes,
                }
                for n in range(number)
            ],
        }
    )


async def test_a_data_json_is_taken_whole_and_asked_for_conditionally(tmp_path: Path) -> None:
    async with a_portal(tmp_path, "dcat") as (world, server):
        server.set("/data.json", data_json(70), content_type="application/json")
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, 70)
        assert await metadata(world, "us-3") == {
            "publisher": "Bureau of Records",
            "license": "https://creativecommons.org/publicdomain/zero/1.0/",
            "access": "public",
            "tags": ["bureau", "records"],
            "formats": ["CSV"],
            "resources": [{"name": "As a table", "url": "https://x.example.org/a.csv", "format": "CSV"}],
        }
        receipt = await world.sync("data")
        assert (receipt.status, receipt.mode) == (RunStatus.COMPLETED, Mode.INCREMENTAL)
        assert [asked.status for asked in server.requests] == [304]
        server.set("/data.json", data_json(69, accessLevel="restricted"), content_type="application/json")
        receipt = await world.sync("data")
        assert (receipt.counters.metadata_updated, receipt.counters.deleted) == (69, 1)
        assert receipt.counters.embeddings_computed == 0


async def test_after_a_rollback_a_catalogue_is_asked_for_unconditionally(tmp_path: Path) -> None:
    async with a_portal(tmp_path, "dcat") as (world, server):
        server.set("/data.json", data_json(30), content_type="application/json")
        await world.sync("data")
        server.set("/data.json", data_json(31), content_type="application/json")
        await world.sync("data")
        await history.rollback(world.ports, await world.source("data"))
        receipt = await world.sync("data")
        assert (receipt.counters.created, len(await visible(world))) == (1, 31)


JSON_LD = {
    "@context": {"dcat": "http://www.w3.org/ns/dcat#", "dct": "http://purl.org/dc/terms/"},
    "@graph": [
        {"@id": "https://p.example.org/", "@type": "dcat:Catalog", "dcat:dataset": [{"@id": "https://p.example.org/1"}]},
        {
            "@id": "https://p.example.org/1",
            "@type": "dcat:Dataset",
            "dct:identifier": "one",
            "dct:title": [
                {"@language": "de", "@value": "Luftgüte"},
                {"@language": "en", "@value": "Air quality"},
            ],
            "dct:description": {"@language": "de", "@value": "Stündliche Messungen"},
            "dcat:keyword": [{"@language": "de", "@value": "Luft"}, {"@language": "en", "@value": "air"}],
            "dct:publisher": {"@id": "_:b1"},
            "dcat:distribution": [{"@id": "https://p.example.org/1/csv"}],
        },
        {"@id": "_:b1", "@type": "foaf:Agent", "foaf:name": "Umweltamt"},
        {
            "@id": "https://p.example.org/1/csv",
            "@type": "dcat:Distribution",
            "dct:title": "Tabelle",
            "dcat:downloadURL": {"@id": "https://p.example.org/1.csv"},
            "dct:format": "CSV",
            "dct:license": {"@id": "http://dcat-ap.de/def/licenses/cc-by"},
        },
    ],
}  # fmt: skip

RDF_XML = """<?xml version="1.0" encoding="utf-8"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:dct="http://purl.org/dc/terms/"
  xmlns:dcat="http://www.w3.org/ns/dcat#" xmlns:foaf="http://xmlns.com/foaf/0.1/"
  xmlns:hydra="http://www.w3.org/ns/hydra/core#">
  <hydra:PagedCollection rdf:about="PAGE">
    <hydra:totalItems rdf:datatype="http://www.w3.org/2001/XMLSchema#integer">2</hydra:totalItems>
    NEXT
  </hydra:PagedCollection>
  <dcat:Catalog rdf:about="https://p.example.org/">
    <dcat:dataset>
      <dcat:Dataset rdf:about="https://p.example.org/NUMBER">
        <dct:identifier>NAME</dct:identifier>
        <dct:title xml:lang="de">Wasser NUMBER</dct:title>
        <dct:title xml:lang="en">Water NUMBER</dct:title>
        <dct:description xml:lang="en">Levels by the hour</dct:description>
        <dct:publisher rdf:nodeID="agent"/>
        <dcat:keyword xml:lang="en">water</dcat:keyword>
        <dcat:distribution>
          <dcat:Distribution>
            <dcat:downloadURL rdf:resource="https://p.example.org/NUMBER.xml"/>
            <dct:format>XML</dct:format>
          </dcat:Distribution>
        </dcat:distribution>
      </dcat:Dataset>
    </dcat:dataset>
  </dcat:Catalog>
  <foaf:Agent rdf:nodeID="agent"><foaf:name>Water board</foaf:name></foaf:Agent>
</rdf:RDF>"""


async def test_json_ld_is_read_by_its_shape(tmp_path: Path) -> None:
    async with a_portal(tmp_path, "dcat", path="/catalog.jsonld", language="de") as (world, server):
        server.set("/catalog.jsonld", json.dumps(JSON_LD), content_type="application/ld+json")
        receipt = await world.sync("data")
        assert receipt.counters.created == 1
        assert await metadata(world, "one") == {
            "publisher": "Umweltamt",
            "license": "http://dcat-ap.de/def/licenses/cc-by",
            "tags": ["Luft"],
            "languages": ["de", "en"],
            "formats": ["CSV"],
            "resources": [{"name": "Tabelle", "url": "https://p.example.org/1.csv", "format": "CSV"}],
        }
        (hit,) = (await world.search("Messungen", limit=5)).hits
        assert (hit.title, hit.url.partition("#")[0]) == ("Luftgüte", "https://p.example.org/1")


async def test_a_paged_catalogue_in_rdf_is_followed_to_its_end(tmp_path: Path) -> None:
    async with a_portal(tmp_path, "dcat", path="/catalog.rdf") as (world, server):
        link = f'<hydra:nextPage rdf:resource="{server.url}/catalog.rdf?page=2"/>'
        first = RDF_XML.replace("NUMBER", "1").replace("NAME", "w1").replace("NEXT", link)
        second = RDF_XML.replace("NUMBER", "2").replace("NAME", "w2").replace("NEXT", "")
        server.set("/catalog.rdf", first, content_type="application/rdf+xml")
        server.set("/catalog.rdf?page=2", second, content_type="application/rdf+xml")
        receipt = await world.sync("data")
        assert (receipt.status, await visible(world)) == (RunStatus.COMPLETED, {"w1", "w2"})
        assert (await metadata(world, "w2"))["publisher"] == "Water board"
        assert (await world.sync("data")).counters.unchanged == 2
        # A page that is missing proves nothing about its datasets.
        server.remove("/catalog.rdf?page=2")
        server.set("/catalog.rdf?page=2", "", status=404)
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.deleted) == (RunStatus.PARTIAL, 0)


async def test_broken_turtle_and_web_pages_are_refused_with_a_hint(tmp_path: Path) -> None:
    async with a_portal(tmp_path, "dcat", path="/catalog.ttl") as (world, server):
        server.set("/catalog.ttl", "@prefix dcat: <http://www.w3.org/ns/dcat#> .", content_type="text/turtle")
        receipt = await world.sync("data")
        assert (receipt.status, "no catalogue" in (receipt.error or "")) == (RunStatus.FAILED, True)
        assert "JSON-LD" in (receipt.hint or "")
        server.set("/catalog.ttl", "<https://a.example/1> a", content_type="text/turtle")
        assert "broken Turtle" in ((await world.sync("data")).error or "")
        server.set("/catalog.ttl", "<html><body>Hello</body></html>")
        assert "a web page" in ((await world.sync("data")).error or "")


async def test_one_bad_dataset_of_a_catalogue_fails_alone(tmp_path: Path) -> None:
    async with a_portal(tmp_path, "dcat") as (world, server):
        catalogue = json.loads(data_json(3))
        catalogue["dataset"][1] = {"keyword": ["without a name"]}
        catalogue["dataset"][2]["title"] = None
        server.set("/data.json", json.dumps(catalogue), content_type="application/json")
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created, receipt.counters.failed) == (
            RunStatus.PARTIAL,
            2,
            1,
        )


@pytest.mark.parametrize(
    ("kind", "answer"), [("socrata", socrata), ("opendatasoft", opendatasoft), ("arcgis", arcgis)]
)
async def test_adding_asks_how_much_there_is(tmp_path: Path, kind: str, answer: Any) -> None:
    async with a_portal(tmp_path, kind, answer=answer, number=120) as (world, server):
        added = await sources.add(world.ports, server.url, name="again", kind=kind)
        titles = {"socrata": "Table 0", "opendatasoft": "Tabelle 0", "arcgis": "Layer 0"}
        assert added.findings == (
            f"a list with 120 datasets: kind `{kind}`",
            f"the first is `{titles[kind]}`",
        )
        with pytest.raises(BadLocation, match="404 from the API"):
            await sources.add(world.ports, server.url + "/nowhere", name="x", kind=kind)


async def test_pages_become_smaller_when_the_api_has_trouble(tmp_path: Path) -> None:
    def slow(server: ApiServer, path: str, params: Params) -> tuple[int, Any]:
        return (502, {}) if int(params.get("limit", 0)) > 30 else opendatasoft(server, path, params)

    async with a_portal(tmp_path, "opendatasoft", answer=slow, number=90) as (world, _):
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, 90)


# trouble


async def test_an_outage_keeps_everything(tmp_path: Path) -> None:
    async with a_portal(tmp_path, "arcgis", answer=arcgis, number=30) as (world, server):
        await world.sync("data")
        server.answer = lambda server, path, params: (503, {})
        receipt = await world.sync("data")
        assert (receipt.status, len(await visible(world))) == (RunStatus.FAILED, 30)


async def test_a_web_page_where_json_was_expected_is_an_error(tmp_path: Path) -> None:
    async with a_portal(tmp_path, "arcgis") as (world, server):
        server.set("/api/search/v1/collections/dataset/items", "<html><body>Sorry</body></html>")
        receipt = await world.sync("data")
        assert "answers with a web page" in (receipt.error or "")


async def test_pages_that_lead_in_a_circle_end(tmp_path: Path) -> None:
    def circle(server: ApiServer, path: str, params: Params) -> tuple[int, Any]:
        status, answer = arcgis(server, path, {"limit": "10", "startindex": "1"})
        return status, answer

    async with a_portal(tmp_path, "arcgis", answer=circle, number=30) as (world, server):
        receipt = await world.sync("data")
        assert (receipt.counters.created, receipt.counters.deleted) == (10, 0)
        assert "10 of 30" in (receipt.hint or "")
        assert len(server.asked) <= 6


async def test_a_server_that_ignores_where_to_go_on_proves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_pages_of(monkeypatch, "socrata", 100)

    def ignorant(server: ApiServer, path: str, params: Params) -> tuple[int, Any]:
        return socrata(server, path, {key: value for key, value in params.items() if key != "scroll_id"})

    async with a_portal(tmp_path, "socrata", answer=ignorant, number=120) as (world, _):
        receipt = await world.sync("data")
        assert (receipt.counters.created, "100 of 120" in (receipt.hint or "")) == (100, True)


async def test_a_catalogue_can_be_counted(tmp_path: Path) -> None:
    async with a_portal(tmp_path, "socrata", answer=socrata, number=1200) as (world, server):
        source = await world.source("data")
        settings = parameters.complete(CATALOGUE, source.params)
        assert (await KINDS["socrata"].count(world.ports, source, settings), len(server.asked)) == (1200, 1)


# settings


@pytest.mark.parametrize(
    ("text", "seconds"), [("7d", 604_800), ("12h", 43_200), ("90m", 5_400), ("30s", 30), ("2", 172_800)]
)
def test_times_are_typed_with_their_unit(text: str, seconds: float) -> None:
    assert duration_s(text) == seconds


@pytest.mark.parametrize("text", ["", "d", "-1d", "soon", "nan", "inf"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        duration_s(text)


async def test_wrong_settings_and_addresses_are_refused_before_a_request_is_sent(tmp_path: Path) -> None:
    async with a_portal(tmp_path, "socrata", answer=socrata) as (world, server):
        for location, settings, said in [
            (server.url, {"language": "d e"}, "expected a language"),
            (server.url, {"url_template": "https://x.org"}, "expected an address"),
            ("http://", {}, "not an http or https address"),
        ]:
            with pytest.raises(UserError, match=said):
                await sources.add(world.ports, location, name="x", kind="socrata", settings=settings)
        assert server.asked == []


async def test_addresses_are_completed(tmp_path: Path) -> None:
    async with a_portal(tmp_path, "socrata") as (world, _):
        for kind, typed, location in [
            ("dcat", "data.example.org", "https://data.example.org/data.json"),
            ("dcat", "https://data.example.org/catalog?page=1", "https://data.example.org/catalog?page=1"),
            ("socrata", "https://data.example.org/api/catalog/v1?q=x", "https://data.example.org"),
            ("arcgis", "https://hub.example.org/", "https://hub.example.org"),
        ]:
            added = await sources.add(world.ports, typed, name=f"x{len(typed)}{kind}", kind=kind, check=False)
            assert added.source.location == location


def a_catalogue(*datasets: tuple[str, str], following: str | None = None) -> str:
    graph: list[dict[str, Any]] = [
        {
            "@id": f"https://data.example/{name}",
            "@type": "dcat:Dataset",
            "dct:identifier": name,
            "dct:title": title,
        }
        for name, title in datasets
    ]
    if following:
        graph.append({"@id": "x", "@type": "hydra:PagedCollection", "hydra:next": {"@id": following}})
    return json.dumps({"@graph": graph})


async def test_validators_of_one_page_do_not_speak_for_the_others(tmp_path: Path) -> None:
    with Site() as site:
        first = a_catalogue(("one", "First"), following=f"{site.url}/catalog?page=2")
        kind = {"content_type": "application/ld+json"}
        site.set("/catalog", first, last_modified="Thu, 01 Jan 2026 00:00:00 GMT", etag=False, **kind)
        site.set("/catalog?page=2", a_catalogue(("two", "Second")), etag=False, **kind)
        async with a_world(tmp_path, site) as world:
            await sources.add(world.ports, f"{site.url}/catalog", name="data", kind="dcat")
            await world.sync("data")
            assert len(await world.pages("data")) == 2
            site.set("/catalog?page=2", a_catalogue(("two", "Quite another")), etag=False, **kind)
            assert (await world.sync("data")).counters.updated == 1


async def test_a_catalogue_that_goes_back_after_a_partial_run_is_read_again(tmp_path: Path) -> None:
    def listed(*items: dict[str, Any]) -> str:
        return json.dumps({"conformsTo": "https://project-open-data.cio.gov/v1.1/schema", "dataset": items})

    good = listed({"identifier": "1", "title": "One A"}, {"identifier": "2", "title": "Two"})
    bad = listed(
        {"identifier": "1", "title": "One B"}, {"keyword": ["no name"]}, {"identifier": "2", "title": "Two"}
    )
    with Site() as site:
        site.set("/data.json", good, content_type="application/json", etag='"A"')
        async with a_world(tmp_path, site) as world:
            await sources.add(world.ports, f"{site.url}/data.json", name="data", kind="dcat")
            await world.sync("data")
            site.set("/data.json", bad, content_type="application/json", etag='"B"')
            assert (await world.sync("data")).status is RunStatus.PARTIAL
            site.set("/data.json", good, content_type="application/json", etag='"A"')
            await world.sync("data")
            hits = (await world.search("One")).hits
            assert [hit.title for hit in hits] == ["One A"]


async def test_literals_with_a_language_are_kept_in_each_language(tmp_path: Path) -> None:
    async with a_portal(tmp_path, "dcat", path="/catalog.jsonld", language="de") as (world, server):
        server.set("/catalog.jsonld", json.dumps(JSON_LD), content_type="application/ld+json")
        await world.sync("data")
        (german,) = (await world.search("Luftgüte")).hits
        (english,) = (await world.search("Air quality")).hits
        assert (german.language, english.language) == ("de", "en")
        assert (english.title, english.heading_path) == ("Luftgüte", "Luftgüte › Air quality")
        assert await world.found("quality", language="en") and not await world.found("quality", language="de")


async def test_texts_of_data_json_may_be_literals_with_a_language(tmp_path: Path) -> None:
    dataset = {
        "identifier": "a",
        "title": [{"@language": "nl", "@value": "Regen"}, {"@language": "en", "@value": "Rain"}],
        "description": {"nl": "Neerslag", "en": "Gauges"},
    }
    async with a_portal(tmp_path, "dcat", path="/data.json") as (world, server):
        server.set("/data.json", json.dumps({"dataset": [dataset]}), content_type="application/json")
        await world.sync("data")
        assert [hit.language for hit in (await world.search("Neerslag")).hits] == ["nl"]
        assert [hit.language for hit in (await world.search("Gauges")).hits] == ["en"]
