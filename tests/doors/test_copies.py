"""Every door shows a dataset that is on several portals once, with the others listed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doors.conftest import Rowen
from tests.doors.mcp.test_tools import call, said
from tests.doors.rest.conftest import serving
from tests.doors.web.conftest import browsing
from tests.support.gate import StillClock
from tests.support.portals.mirrored import PORTALS, a_mirror, mirrored

FIELDS = {"document_id", "source", "version", "url", "title", "by"}


def test_the_command_line_names_them_in_lines_and_in_json(rowen: Rowen) -> None:
    with mirrored() as portals:
        for name, (kind, location) in portals.locations.items():
            assert rowen("add", location, "--name", name, "--kind", kind).code == 0
        assert rowen("sync").code == 0
        hits = rowen("search", "air quality", "--mode", "keyword", "--json").json["hits"]
        (air,) = [hit for hit in hits if hit["title"] == "Air quality"]
        assert {air["source"], *(one["source"] for one in air["copies"])} == set(PORTALS)
        assert all(set(one) == FIELDS and one["by"] for one in air["copies"])
        shown = rowen("search", "air quality", "--mode", "keyword").out
        for one in air["copies"]:
            assert f"same dataset in {one['source']}: {one['url']}" in shown
        # No address stands there twice.
        assert "same text at" not in shown


@pytest.mark.anyio
async def test_rest_and_the_page_list_them(tmp_path: Path) -> None:
    async with a_mirror(tmp_path, clock=StillClock()) as (world, _):
        async with serving(world) as api:
            hits = (await api.get("/api/v1/search?q=air+quality&mode=keyword")).json["hits"]
            (air,) = [hit for hit in hits if hit["title"] == "Air quality"]
            assert {air["source"], *(one["source"] for one in air["copies"])} == set(PORTALS)
            assert all(set(one) == FIELDS for one in air["copies"])
            for one in air["copies"]:
                assert (await api.get(f"/api/v1/documents/{one['document_id']}")).status == 200
            (alone,) = (await api.get("/api/v1/search?q=budget&mode=keyword&source=nation")).json["hits"][:1]
            assert alone["copies"] == []
        async with browsing(world) as person:
            page = await person.get("/search?q=air+quality")
            assert "same dataset in" in page.words
            for one in air["copies"]:
                assert f'title="{one["url"]}">{one["source"]}</a>' in page.text
            (best, *_) = (await person.get("/search.json?q=air+quality")).json["hits"]
            assert {one["source"] for one in best["copies"]} == {one["source"] for one in air["copies"]}
            assert (await person.get(best["copies"][0]["address"])).status == 200


@pytest.mark.anyio
async def test_an_assistant_is_told_of_them(tmp_path: Path) -> None:
    async with a_mirror(tmp_path) as (world, _):
        result = await call(world, "search_docs", query="air quality")
        (air,) = [hit for hit in result.structured_content["hits"] if hit["title"] == "Air quality"]
        (line,) = [one for one in said(result).splitlines() if "same dataset in" in one][:1]
        for one in air["copies"]:
            assert f"{one['source']} {one['url']}" in line
        assert len(air["copies"]) == 2
