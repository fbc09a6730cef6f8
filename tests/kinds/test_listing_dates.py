"""The dates of a listing are claims: some are checked, liars are not used, and honest ones cost little."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from rowen.core.freshness.claims import Record, Signal, Standing
from rowen.core.run import Mode
from rowen.managing import edit, sources
from rowen.reading.history import rollback
from tests.support.board_server import ApiServer, an_item
from tests.support.ckan_server import CkanServer, datasets
from tests.support.portals.oai_pmh import Archive
from tests.support.portals.trying import a_source_of
from tests.support.world import World, a_world

pytestmark = pytest.mark.anyio

DAY_S = 86_400.0


async def record(world: World, name: str = "data") -> Record:
    return (await world.store.claims((await world.source(name)).id))[Signal.LISTING]


# A list without its texts: each is asked for by itself


@asynccontextmanager
async def a_board(folder: Path, number: int) -> AsyncIterator[tuple[World, ApiServer]]:
    with ApiServer([an_item(one) for one in range(number)]) as api:
        async with a_world(folder, api) as world:
            given = {"path": "/items", "items": "items", "detail": "/items/{id}", "updated": "updated"}
            given |= {"text": "detail.body", "total": "total", "paging": "page", "page_size": "100"}
            given |= {"param.page": "{page}", "param.limit": "{limit}"}
            await sources.add(world.ports, api.url, name="data", kind="rest", settings=given, check=False)
            yield world, api


async def synced(world: World, api: ApiServer) -> int:
    """A day later; returns how many details were asked for."""
    world.clock.advance(DAY_S)
    receipt = await world.sync("data")
    assert receipt.good
    return api.count("detail")


async def test_a_date_that_lies_about_details_is_found_within_three_runs_and_nothing_is_missed_after(
    tmp_path: Path,
) -> None:
    async with a_board(tmp_path, 60) as (world, api):
        await world.sync("data")
        assert await synced(world, api) == 0, "nothing is checked before a date left something out"
        runs = 0
        while (
            not (await world.store.claims((await world.source("data")).id)).get(Signal.LISTING, Record()).lies
        ):
            runs += 1
            # Every text is another one; every date is what it was.
            api.rows = [{**one, "secret": f"edit {runs}"} for one in api.rows]
            world.clock.advance(DAY_S)
            receipt = await world.sync("data")
        assert runs <= 3
        assert receipt.counters.claims_broken > 0
        assert "dates of the listing said that" in (receipt.hint or "")
        assert (await record(world)).standing is Standing.DISTRUSTED
        api.rows = [{**one, "secret": "the last edit"} for one in api.rows]
        assert await synced(world, api) == 60, "no item is left out by its date"
        assert len(await world.found("last")) == 60


async def test_an_honest_date_is_proven_and_costs_a_small_share(tmp_path: Path) -> None:
    async with a_board(tmp_path, 200) as (world, api):
        await world.sync("data")
        await world.sync("data")
        asked = [await synced(world, api) for _ in range(14)]
        assert max(asked) <= 2 * 10
        assert (await record(world)).standing is Standing.TRUSTED
        assert sum(asked[-2:]) <= 2 * 4, "one in a hundred, at least 2, once they are proven"
        assert (await record(world)).lies == 0


async def test_a_run_that_checks_dates_and_finds_nothing_writes_one_row_more(tmp_path: Path) -> None:
    written = []
    for number in (40, 160):
        async with a_board(tmp_path / str(number), number) as (world, api):
            for _ in range(3):
                await synced(world, api)
            before = world.store.rows_written()
            assert await synced(world, api) > 0
            written.append(world.store.rows_written() - before)
    assert written[0] == written[1]


async def test_a_date_that_lied_is_used_again_once_it_has_proven_itself(tmp_path: Path) -> None:
    async with a_board(tmp_path, 60) as (world, api):
        for _ in range(2):
            await synced(world, api)
        api.rows = [{**one, "secret": "edited"} for one in api.rows]
        await synced(world, api)
        asked = [await synced(world, api) for _ in range(6)]
        assert asked[0] == 60
        assert asked[-1] < 10
        assert (await record(world)).standing is Standing.TRUSTED


# A portal whose list has the whole records


@asynccontextmanager
async def a_portal(folder: Path, number: int, **settings: str) -> AsyncIterator[tuple[World, CkanServer]]:
    with CkanServer(datasets(number)) as portal:
        async with a_world(folder, portal) as world:
            await sources.add(
                world.ports, portal.portal, name="data", kind="ckan", settings=settings, check=False
            )
            yield world, portal


def restated(portal: CkanServer, reference: str, **changes: str) -> None:
    """Another record under the same date."""
    portal.put({**portal.row(reference), **changes})


async def test_a_portal_whose_dates_stand_still_is_found_out_and_listed_whole(tmp_path: Path) -> None:
    async with a_portal(tmp_path, 40) as (world, portal):
        await world.sync("data")
        world.clock.advance(DAY_S + 60)
        await world.sync("data")
        runs, lied = 0, 0
        while not lied:
            runs += 1
            for reference in portal.ids():
                restated(portal, reference, notes=f"Edit {runs}")
            world.clock.advance(DAY_S + 60)
            receipt = await world.sync("data")
            lied = receipt.counters.claims_broken
        assert runs <= 3
        assert (receipt.mode, receipt.counters.updated) == (Mode.FULL, 40), "the same run compares everything"
        for reference in portal.ids():
            restated(portal, reference, notes="The last edit")
        world.clock.advance(3600)
        receipt = await world.sync("data")
        assert receipt.counters.updated == 40
        assert portal.count("package_show") == 0, "the list has the records: comparing costs no request"
        assert "lied on" in (receipt.hint or "") or "said that" in (receipt.hint or "")


async def test_an_honest_portal_is_proven_by_a_few_datasets_a_day(tmp_path: Path) -> None:
    async with a_portal(tmp_path, 200) as (world, portal):
        await world.sync("data")
        shown = []
        for number in range(12):
            portal.edit(portal.ids()[number], modified=world.clock.now() + timedelta(hours=1), notes="New")
            world.clock.advance(DAY_S + 60)
            receipt = await world.sync("data")
            assert receipt.counters.updated == 1
            shown.append(portal.count("package_show"))
        assert max(shown) <= 10
        assert (await record(world)).standing is Standing.TRUSTED
        world.clock.advance(3600)
        await world.sync("data")
        assert portal.count("package_show") == 0, "once a day at most"


async def test_a_dataset_that_a_check_cannot_have_says_nothing(tmp_path: Path) -> None:
    async with a_portal(tmp_path, 40) as (world, portal):
        for _ in range(3):
            world.clock.advance(DAY_S + 60)
            await world.sync("data")
        before = await record(world)
        portal.quirks.refuses_show = 500
        world.clock.advance(DAY_S + 60)
        receipt = await world.sync("data")
        assert (receipt.good, receipt.counters.failed, receipt.counters.claims_checked) == (True, 0, 0)
        assert (await record(world)).lies == before.lies == 0


async def test_another_setting_that_changes_every_text_is_no_lie(tmp_path: Path) -> None:
    async with a_portal(tmp_path, 30) as (world, _):
        for _ in range(3):
            world.clock.advance(DAY_S + 60)
            await world.sync("data")
        given = {"url_template": "https://elsewhere.example/{name}"}
        await edit.carry_out(world.ports, await edit.plan(world.ports, await world.source("data"), given))
        world.clock.advance(DAY_S + 60)
        await world.sync("data")
        assert (await record(world)).lies == 0


# A portal that is asked what changed


async def test_a_whole_list_shows_whether_the_question_what_changed_was_answered_truly(
    tmp_path: Path,
) -> None:
    archive = Archive(30)
    async with a_source_of(archive, tmp_path, full_sync_every="2d") as world:
        for _ in range(3):
            world.clock.advance(DAY_S * 2 + 60)
            await world.sync("data")
        assert (await record(world)).lies == 0
        assert (await record(world)).checked >= 30
        # Another text under the old date: the question what changed does not name it.
        archive.records["oai_pmh-0003"].text = "Altered."
        world.clock.advance(3600)
        assert (await world.sync("data")).counters.updated == 0
        world.clock.advance(DAY_S * 2 + 60)
        receipt = await world.sync("data")
        assert (receipt.counters.updated, receipt.counters.claims_broken) == (1, 1)
        world.clock.advance(3600)
        archive.records["oai_pmh-0004"].text = "Altered, too."
        assert (await world.sync("data")).counters.updated == 1, "everything is listed until dates hold again"


async def test_a_second_edit_on_the_day_of_a_date_is_no_lie(tmp_path: Path) -> None:
    """Dates of many archives are days: an edit after the last look may bear the date from before it."""
    archive = Archive(30)
    async with a_source_of(archive, tmp_path, full_sync_every="1h") as world:
        for _ in range(2):
            world.clock.advance(DAY_S * 2)
            await world.sync("data")
        one = archive.records["oai_pmh-0003"]
        one.text, one.changed = "Altered.", world.clock.now().replace(hour=0, minute=0, second=0)
        world.clock.advance(3 * 3600)
        receipt = await world.sync("data")
        assert (receipt.counters.updated, receipt.counters.claims_broken) == (1, 0)


async def test_after_a_rollback_a_difference_is_no_lie(tmp_path: Path) -> None:
    async with a_portal(tmp_path, 30) as (world, portal):
        for number in range(3):
            portal.edit(portal.ids()[number], modified=world.clock.now() + timedelta(hours=1), notes="New")
            world.clock.advance(DAY_S + 60)
            await world.sync("data")
        await rollback(world.ports, await world.source("data"))
        world.clock.advance(DAY_S + 60)
        await world.sync("data")
        claims = await world.store.claims((await world.source("data")).id)
        assert claims.get(Signal.LISTING, Record()).lies == 0
