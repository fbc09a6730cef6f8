"""The same dataset on several portals is one hit with the others listed, over runs, removals and limits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rowen.adapters.store.sqlite.transaction import SqliteTransaction
from rowen.core.search.hit import Filters
from rowen.managing import sources
from rowen.reading import history
from tests.support.ckan_server import CkanServer, a_dataset
from tests.support.portals.mirrored import NOISE, PORTALS, a_mirror, ckan_row, dcat_row
from tests.support.world import World, a_world

pytestmark = pytest.mark.anyio


async def shown(world: World, query: str, **options: Any) -> dict[str, dict[str, str]]:
    """For each hit, by source and title, its copies with what tells them."""
    answer = await world.search(query, **options)
    return {f"{hit.source}: {hit.title}": {one.source: one.by for one in hit.copies} for hit in answer.hits}


async def groups(world: World, query: str, **options: Any) -> list[tuple[str, list[str]]]:
    """The titles of hits and who has them, whoever of them is shown."""
    answer = await world.search(query, **options)
    return sorted(
        (hit.title, sorted((hit.source, *(one.source for one in hit.copies)))) for hit in answer.hits
    )


async def test_a_dataset_on_three_portals_is_one_hit_with_the_others_listed(tmp_path: Path) -> None:
    async with a_mirror(tmp_path) as (world, _):
        assert await groups(world, "sensors", limit=50) == [
            ("Air quality", ["city", "nation", "state"]),
            ("Budget of sensors", ["nation"]),
            ("Noise", ["city", "state"]),
            ("Trees", ["city"]),
            ("Trees", ["state"]),
        ]
        found = await shown(world, "air quality sensors")
        (air,) = [copies for name, copies in found.items() if name.endswith("Air quality")]
        assert set(air.values()) <= {"identifier", "page", "files"}
        hit = (await world.search("air quality")).hits[0]
        assert all(one.document_id and one.url and one.title == "Air quality" for one in hit.copies)


async def test_it_is_the_same_over_runs_and_an_unchanged_refresh_writes_nothing_for_it(
    tmp_path: Path,
) -> None:
    async with a_mirror(tmp_path) as (world, _):
        before = await groups(world, "sensors", limit=50)
        for name in PORTALS:
            rows = world.store.rows_written()  # type: ignore[attr-defined]
            receipt = await world.sync(name)
            assert receipt.counters.changed == 0
            assert world.store.rows_written() - rows <= 9  # type: ignore[attr-defined]
        for name in PORTALS:
            await world.sync(name, full=True)
        assert await groups(world, "sensors", limit=50) == before


async def test_a_copy_that_vanishes_changes_or_whose_source_goes_is_unlinked(tmp_path: Path) -> None:
    async with a_mirror(tmp_path) as (world, portals):
        portals.list_nation(
            dcat_row("N-18-2024", "Budget of sensors", f"{portals.city.url}/dataset/noise", [])
        )
        await world.sync("nation")
        assert ("Air quality", ["city", "state"]) in await groups(world, "sensors", limit=50)
        changed = ckan_row("state-000002", "noise-city", "Noise", ["https://state.example/f/own-noise.csv"])
        portals.state.put(changed)
        await world.sync("state", full=True)
        found = await groups(world, "sensors", limit=50)
        assert ("Noise", ["city"]) in found and ("Noise", ["state"]) in found
        await history.rollback(world.ports, await world.source("state"))
        assert ("Noise", ["city", "state"]) in await groups(world, "sensors", limit=50)
        await sources.remove(world.ports, await world.source("state"))
        found = await groups(world, "sensors", limit=50)
        assert ("Air quality", ["city"]) in found and ("Noise", ["city"]) in found
        assert all("state" not in having for _, having in found)


async def test_a_search_in_some_sources_tells_of_no_others(tmp_path: Path) -> None:
    async with a_mirror(tmp_path) as (world, _):
        some = frozenset({(await world.source(name)).id for name in ("city", "nation")})
        assert await groups(world, "air quality", filters=Filters(source_ids=some), limit=1) == [
            ("Air quality", ["city", "nation"])
        ]


async def test_copies_take_no_place_of_other_hits(tmp_path: Path) -> None:
    async with a_mirror(tmp_path) as (world, _):
        everything = await groups(world, "sensors", limit=50)
        for limit in range(1, 6):
            assert len(await groups(world, "sensors", limit=limit)) == min(limit, len(everything))


async def test_datasets_of_one_portal_that_share_a_page_are_not_merged(tmp_path: Path) -> None:
    page = "https://agency.example/topics/water"
    rows = [ckan_row(f"w-{year}-00", f"water-{year}", "Water sensors", [], url=page) for year in (2020, 2021)]
    with CkanServer(rows) as one, CkanServer([{**rows[0], "id": "x-2020-00"}]) as other:
        async with a_world(tmp_path, one) as world:
            for name, portal in (("one", one), ("other", other)):
                await sources.add(world.ports, portal.url, name=name, kind="ckan", check=False)
                await world.sync(name)
            assert all(not hit.copies for hit in (await world.search("water sensors")).hits)


async def test_what_hundreds_of_datasets_share_costs_no_more_and_merges_none(tmp_path: Path) -> None:
    file = "https://agency.example/guide.pdf"

    def rows(portal: str) -> list[dict[str, Any]]:
        resources = [{"id": "r", "name": "Guide", "url": file}]
        return [
            a_dataset(n, id=f"{portal}-{n:06}", title=f"Sensor {n}", resources=resources) for n in range(300)
        ]

    with CkanServer(rows("one")) as one, CkanServer(rows("two")) as two:
        async with a_world(tmp_path, one) as world:
            for name, portal in (("one", one), ("two", two)):
                await sources.add(world.ports, portal.url, name=name, kind="ckan", check=False)
                await world.sync(name)
            answer = await world.search("sensor guide", limit=20)
            assert all(not hit.copies for hit in answer.hits)
            alike = await world.store.datasets_alike([hit.document_id for hit in answer.hits])
            assert len(alike) <= 20


async def test_an_identifier_links_a_copy_with_another_title_and_text(tmp_path: Path) -> None:
    async with a_mirror(tmp_path) as (world, portals):
        row = ckan_row("state-000009", "laerm", "Lärm", [], extras=[{"key": "identifier", "value": NOISE}])
        portals.state.remove("state-000002")
        portals.state.put(row)
        await world.sync("state", full=True)
        assert (await shown(world, "lärm"))["state: Lärm"] == {"city": "identifier"}


async def test_portals_that_share_nothing_cost_three_statements(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements: list[str] = []
    rows = SqliteTransaction.rows

    def counted(self: SqliteTransaction, name: str, /, **values: Any) -> Any:
        statements.append(name)
        return rows(self, name, **values)

    async with a_mirror(tmp_path) as (world, _):
        for name in ("state", "nation"):
            await sources.remove(world.ports, await world.source(name))
        monkeypatch.setattr(SqliteTransaction, "rows", counted)
        assert len((await world.search("sensors", limit=2)).hits) == 2
        own = ["keys_of_documents", "holders_of_keys", "documents_with_records"]
        assert [name for name in statements if name in (*own, "keys_of_records")] == own
