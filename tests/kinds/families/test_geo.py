"""STAC by collections and by items, as a service and as a tree of files; versions of CSW; OGC's records."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowen.core.run import RunStatus, StopReason
from rowen.errors import Unfetchable
from rowen.kinds.api.datasets import csw
from tests.support.portals.geo import Csw, OgcRecords, StacApi, StaticStac
from tests.support.portals.trying import a_source_of, metadata, visible

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("family", [StacApi, StaticStac], ids=["service", "files"])
async def test_items_of_stac_are_taken_only_when_they_are_wanted(
    tmp_path: Path, family: type[StacApi]
) -> None:
    portal = family(15)
    async with a_source_of(portal, tmp_path) as world:
        await world.sync("data")
        assert await visible(world) == set(portal.records)
    async with a_source_of(portal, tmp_path / "items", level="items") as world:
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, 30)
        assert "stac-0003/scene-1" in await visible(world)


async def test_a_branch_that_is_missing_leaves_the_rest_and_deletes_nothing(tmp_path: Path) -> None:
    portal = StaticStac(35)
    async with a_source_of(portal, tmp_path) as world:
        await world.sync("data")
        portal.missing = frozenset({"/shelf-1/catalog.json"})
        portal.records["stac-0030"].text = "Another text"
        receipt = await world.sync("data")
        assert (receipt.status, receipt.stop_reason) == (RunStatus.PARTIAL, StopReason.LISTING_CUT)
        assert (receipt.counters.failed, receipt.counters.updated, receipt.counters.deleted) == (1, 1, 0)
        assert len(await visible(world)) == 35


async def test_a_file_without_a_link_to_itself_is_known_by_where_it_was_read(tmp_path: Path) -> None:
    async with a_source_of(StaticStac(2), tmp_path) as world:
        await world.sync("data")
        source = await world.source("data")
        found = await world.store.documents(source.id, references=["stac-0001"])
        assert [one.url.partition("/stac-0001")[2] for one in found] == ["/collection.json"]


async def test_a_service_of_stac_costs_its_pages_and_its_root(tmp_path: Path) -> None:
    portal = StacApi(25)
    async with a_source_of(portal, tmp_path) as world:
        await world.sync("data")
        assert [one[""] for one in portal.asked] == ["", "/collections", "/collections", "/collections"]
        found = await metadata(world, "stac-0000")
        assert (found["publisher"], found["spatial"], found["formats"]) == (
            "Agency",
            "5.9 45.8 10.5 47.8",
            ["PNG"],
        )


async def test_csw_is_asked_in_the_version_that_is_set(tmp_path: Path) -> None:
    portal = Csw(3)
    portal.version = "3.0.0"
    async with a_source_of(portal, tmp_path) as world:
        receipt = await world.sync("data")
        assert (receipt.status, "only 3.0.0" in (receipt.error or "")) == (RunStatus.FAILED, True)
    async with a_source_of(portal, tmp_path / "second", version="3.0.0") as world:
        assert (await world.sync("data")).counters.created == 3
        found = await metadata(world, "csw-0000")
        assert (found["publisher"], found["spatial"]) == ("Survey", "45.8 5.9 47.8 10.5")
        assert found["resources"] == [
            {"name": "Shapes", "url": "https://geo.example/csw-0000.zip", "format": "WWW:DOWNLOAD"}
        ]


async def test_a_full_last_page_of_csw_ends_at_an_exception(tmp_path: Path) -> None:
    portal = Csw(20)
    portal.most = 10
    async with a_source_of(portal, tmp_path) as world:
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created, len(portal.asked)) == (RunStatus.COMPLETED, 20, 3)


async def test_a_service_that_answers_in_another_schema_fails_and_says_so(tmp_path: Path) -> None:
    portal = Csw(3)
    async with a_source_of(portal, tmp_path) as world:
        await world.sync("data")
        portal.schema = "gmd:MD_Metadata"
        receipt = await world.sync("data", full=True)
        assert (receipt.status, "records of `MD_Metadata`" in (receipt.error or "")) == (
            RunStatus.FAILED,
            True,
        )
        assert (receipt.counters.deleted, len(await visible(world))) == (0, 3)


def test_other_exceptions_of_csw_are_errors() -> None:
    text = b"<Exception><ExceptionText>No such type</ExceptionText></Exception>"
    body = b"<ExceptionReport>" + text + b"</ExceptionReport>"
    with pytest.raises(Unfetchable, match="No such type"):
        csw.read(body, content_type="text/xml", url="https://geo.example/csw")


async def test_a_record_of_ogc_has_its_facts(tmp_path: Path) -> None:
    async with a_source_of(OgcRecords(1), tmp_path) as world:
        await world.sync("data")
        found = await metadata(world, "ogc_records-0000")
        assert (found["publisher"], found["themes"], found["language"]) == ("Survey", ["hydrography"], "en")
        assert found["formats"] == ["CSV"]
