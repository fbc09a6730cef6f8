"""CKAN portals: complete whatever happens between pages, cheap when little changed, odd in many ways."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from rowen.core import params as parameters
from rowen.core.document import Outcome
from rowen.core.run import Mode, RunStatus, StopReason
from rowen.core.search.hit import Filters
from rowen.engine.ingest import BATCH
from rowen.errors import BadLocation, FetchTimeout
from rowen.kinds.ckan import kind as ckan
from rowen.managing import sources
from rowen.ports.fetcher import Fetcher, FetcherOptions, OpenFetcher, Request, Response
from rowen.reading import history
from rowen.reading import read as reading
from tests.support.ckan_server import CkanServer, a_dataset, datasets, stamp
from tests.support.world import World, a_world

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def a_portal(
    folder: Path, rows: list[dict[str, Any]], *, prefix: str = "", **settings: object
) -> AsyncIterator[tuple[World, CkanServer]]:
    with CkanServer(rows) as portal:
        portal.quirks.prefix = prefix
        async with a_world(folder, portal) as world:
            given = {key: str(value) for key, value in settings.items()}
            await sources.add(
                world.ports, portal.portal, name="data", kind="ckan", settings=given, check=False
            )
            yield world, portal


async def visible(world: World) -> set[str]:
    source = await world.source("data")
    return set(await world.store.known(source.id))


async def metadata(world: World, reference: str) -> dict[str, Any]:
    source = await world.source("data")
    return (await world.store.metadata(source.id))[reference]


# everything


async def test_the_first_sync_takes_every_dataset_once(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(250), page_size=100) as (world, portal):
        receipt = await world.sync("data")
        assert (receipt.status, receipt.mode) == (RunStatus.COMPLETED, Mode.FULL)
        assert receipt.counters.created == 250
        assert receipt.counters.embeddings_computed == 250
        assert portal.count() == receipt.counters.requests == 3
        assert await visible(world) == set(portal.ids())
        assert await world.found("123") == ["/dataset/dataset-123"]


async def test_progress_counts_no_dataset_of_a_page_twice(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(250), page_size=100) as (world, _):
        for full in (False, True):
            await world.sync("data", full=full)
            told = [event for event in world.events if event.kind == "item"]
            assert {number + event.queued for number, event in enumerate(told, 1)} == {250}


async def test_fewer_rows_than_asked_for_are_not_the_end(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(105)) as (world, portal):
        portal.quirks.rows_max = 10
        receipt = await world.sync("data")
        assert (receipt.counters.created, portal.count()) == (105, 11)


@pytest.mark.parametrize("refused", [400, 403, 404, 409, 500])
async def test_a_portal_that_takes_no_filter_by_id_is_read_by_offset(tmp_path: Path, refused: int) -> None:
    async with a_portal(tmp_path, datasets(45)) as (world, portal):
        portal.quirks.rows_max = 10
        portal.quirks.rejects_id_filter = refused
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, 45)


@pytest.mark.parametrize("quirk", ["ignores_id_filter", "misreads_id_filter"])
async def test_a_portal_that_ignores_or_misreads_the_filter_by_id_is_read_by_offset(
    tmp_path: Path, quirk: str
) -> None:
    async with a_portal(tmp_path, datasets(45)) as (world, portal):
        portal.quirks.rows_max = 10
        setattr(portal.quirks, quirk, True)
        receipt = await world.sync("data")
        assert receipt.counters.created == 45
        assert portal.count() <= 8


async def test_a_portal_that_does_not_sort_is_believed_when_as_many_came_as_announced(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(45)) as (world, portal):
        portal.quirks.rows_max = 10
        portal.quirks.ignores_sort = True
        assert (await world.sync("data")).counters.created == 45
        portal.remove("id-000007")
        receipt = await world.sync("data", full=True)
        assert (receipt.counters.deleted, receipt.counters.unchanged) == (1, 44)
        portal.quirks.count = lambda total: total + 5
        portal.remove("id-000008")
        receipt = await world.sync("data", full=True)
        assert receipt.counters.deleted == 0
        assert "43 of 48" in (receipt.hint or "")


@pytest.mark.parametrize("quirk", ["", "ignores_id_filter", "ignores_sort"])
async def test_a_portal_that_counts_what_it_answers_is_read_to_its_end(tmp_path: Path, quirk: str) -> None:
    async with a_portal(tmp_path, datasets(45), page_size=10) as (world, portal):
        portal.quirks.count = lambda total: min(total, 10)
        if quirk:
            setattr(portal.quirks, quirk, True)
        receipt = await world.sync("data")
        assert (receipt.counters.created, receipt.counters.deleted) == (45, 0)


# while pages are read, the set changes


@pytest.mark.parametrize("by_key", [True, False])
async def test_nothing_is_lost_when_datasets_come_and_go_between_pages(tmp_path: Path, by_key: bool) -> None:
    stays = [a_dataset(number) for number in range(0, 450, 3)]
    goes = [a_dataset(number) for number in range(1, 450, 3)]
    async with a_portal(tmp_path, stays + goes) as (world, portal):
        portal.quirks.rows_max = 15
        portal.quirks.ignores_id_filter = not by_key
        leaving = [row["id"] for row in goes]

        def between(search: int) -> None:
            # In front of the page, on it, and behind it; more at a time than one row of overlap would show.
            for _ in range(3):
                if leaving:
                    portal.remove(leaving.pop(0))
            if leaving:
                portal.remove(leaving.pop())
            for number in (search * 3 + 2, 449 - search * 3):
                portal.put(a_dataset(number, id=f"id-{number:06}-new"))

        portal.before_search = between
        receipt = await world.sync("data")
        portal.before_search = None
        assert receipt.status is RunStatus.COMPLETED
        assert {row["id"] for row in stays} <= await visible(world)
        # A refresh meets what came and what went in the meantime.
        world.clock.advance(8 * 86_400)
        await world.sync("data", full=True)
        assert await visible(world) == set(portal.ids())


@pytest.mark.parametrize("by_key", [True, False])
async def test_nothing_is_wrongly_deleted_when_datasets_come_and_go_between_pages(
    tmp_path: Path, by_key: bool
) -> None:
    async with a_portal(tmp_path, datasets(300)) as (world, portal):
        portal.quirks.rows_max = 15
        portal.quirks.ignores_id_filter = not by_key
        await world.sync("data")
        gone = [f"id-{number:06}" for number in range(0, 100, 2)]
        leaving = list(gone)

        def between(search: int) -> None:
            for _ in range(3):
                if leaving and search > 2:
                    portal.remove(leaving.pop(0))

        portal.before_search = between
        world.clock.advance(8 * 86_400)
        receipt = await world.sync("data", full=True)
        portal.before_search = None
        deleted = {event.reference for event in world.events if event.outcome is Outcome.DELETED}
        assert deleted <= set(gone)
        assert receipt.counters.failed == 0
        await world.sync("data", full=True)
        assert await visible(world) == set(portal.ids())


async def test_a_dataset_that_a_listing_missed_is_kept_because_the_portal_still_shows_it(
    tmp_path: Path,
) -> None:
    async with a_portal(tmp_path, datasets(60)) as (world, portal):
        await world.sync("data")
        hidden = a_dataset(7)
        portal.remove(hidden["id"])

        def return_it(search: int) -> None:
            portal.before_search = None

        # Away while ids are listed, there again when asked for: an index that is being rebuilt.
        portal.before_search = return_it
        portal._rows[hidden["id"]] = hidden
        receipt = await world.sync("data", full=True)
        assert receipt.counters.deleted == 0
        assert receipt.counters.ignored["not_listed_but_there"] == 1
        assert hidden["id"] in await visible(world)


async def test_an_empty_answer_wipes_nothing(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(60)) as (world, portal):
        await world.sync("data")
        portal.quirks.search_empty = True
        receipt = await world.sync("data", full=True)
        assert (receipt.status, receipt.counters.deleted) == (RunStatus.FAILED, 0)
        assert "no datasets, where there were some" in (receipt.error or "")
        world.clock.advance(8 * 86_400)
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.deleted) == (RunStatus.FAILED, 0)
        assert len(await visible(world)) == 60


async def test_a_portal_that_lost_most_of_its_datasets_is_held_for_a_person(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(700)) as (world, portal):
        await world.sync("data")
        for reference in portal.ids()[:650]:
            portal.remove(reference)
        receipt = await world.sync("data", full=True)
        assert (receipt.status, receipt.counters.deleted) == (RunStatus.HELD, 650)
        assert portal.count("package_show") == 500
        assert len(await visible(world)) == 700


async def test_a_portal_that_stops_taking_the_filter_by_id_half_way_is_read_on_by_offset(
    tmp_path: Path,
) -> None:
    async with a_portal(tmp_path, datasets(100)) as (world, portal):
        portal.quirks.rows_max = 10

        def half_way(search: int) -> None:
            portal.quirks.ignores_id_filter = search > 4

        portal.before_search = half_way
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, 100)


async def test_a_portal_that_stops_sorting_half_way_is_read_to_its_end(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(100)) as (world, portal):
        portal.quirks.rows_max = 10
        portal.quirks.ignores_id_filter = True

        def half_way(search: int) -> None:
            portal.quirks.ignores_sort = search > 4

        portal.before_search = half_way
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, 100)


async def test_after_an_interrupted_first_harvest_only_what_was_in_flight_is_embedded_again(
    tmp_path: Path,
) -> None:
    async with a_portal(tmp_path, datasets(400)) as (world, portal):
        portal.quirks.rows_max = 20
        loop, half_way = asyncio.get_running_loop(), asyncio.Event()

        def tell(search: int) -> None:
            if search == 12:
                loop.call_soon_threadsafe(half_way.set)

        portal.before_search = tell
        run = asyncio.ensure_future(world.sync("data"))
        await asyncio.wait_for(half_way.wait(), 60)
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)
        portal.before_search = None
        before = len(world.embedder.embedded)
        assert before
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, 400)
        assert len(set(world.embedder.embedded)) == 400
        assert len(world.embedder.embedded) <= 400 + 2 * BATCH
        assert receipt.counters.embeddings_computed <= 400 - before + 2 * BATCH


# what changed


async def test_a_second_sync_asks_for_changes_and_embeds_changed_text_only(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(200)) as (world, portal):
        await world.sync("data")
        world.clock.advance(86_400)
        for number in range(50):
            change: dict[str, Any] = {"tags": [{"name": "storm"}]}
            if number < 10:
                change = {"notes": f"Measured again at place {number}."}
            portal.edit(f"id-{number:06}", modified=world.clock.now(), **change)
        world.embedder.embedded.clear()
        receipt = await world.sync("data")
        counters = receipt.counters
        assert (receipt.status, receipt.mode) == (RunStatus.COMPLETED, Mode.INCREMENTAL)
        assert (counters.updated, counters.created, counters.failed) == (10, 0, 0)
        assert (counters.metadata_updated, counters.unchanged, counters.changed) == (40, 40, 50)
        assert portal.count() == counters.requests == 1
        assert counters.embeddings_computed == len(world.embedder.embedded) == 10
        assert (await metadata(world, "id-000020"))["tags"] == ["storm"]


async def test_the_feed_and_the_difference_say_which_fields_of_a_dataset_are_new(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(30)) as (world, portal):
        await world.sync("data")
        end = await world.store.feed_end()
        world.clock.advance(86_400)
        now = world.clock.now()
        files = [{"name": "Table", "format": "CSV", "url": "https://example.org/new.csv"}]
        portal.edit("id-000001", modified=now, tags=[{"name": "storm"}], resources=files)
        portal.edit("id-000002", modified=now, notes="Other words.", license_id="cc-zero")
        receipt = await world.sync("data")
        assert receipt.counters.embeddings_computed == 1
        told = {item.reference: item.fields for item in await world.store.feed(end)}
        assert told == {"id-000001": ("resources", "tags"), "id-000002": ("text", "license_id")}
        difference = await history.diff(world.ports.store, await world.source("data"))
        assert {change.reference: change.fields for change in difference.changes} == told
        (item,) = [event for event in world.events if event.outcome is Outcome.METADATA_UPDATED]
        assert (item.reference, item.reason, item.detail) == (
            "id-000001",
            "metadata_changed",
            "resources, tags",
        )


async def test_nothing_new_is_a_good_run_that_stages_nothing(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(30)) as (world, portal):
        first = await world.sync("data")
        world.clock.advance(86_400)
        receipt = await world.sync("data")
        assert (receipt.status, receipt.generation) == (RunStatus.COMPLETED, first.generation)
        assert portal.count() == 1
        assert (await world.source("data")).watermark == world.clock.now()


async def test_a_touched_dataset_that_says_the_same_is_no_new_version(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(30)) as (world, portal):
        first = await world.sync("data")
        world.clock.advance(86_400)
        portal.edit("id-000003", modified=world.clock.now())
        receipt = await world.sync("data")
        assert (receipt.counters.unchanged, receipt.counters.updated) == (1, 0)
        assert receipt.generation == first.generation


async def test_the_overlap_costs_nothing_for_what_is_known(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(30)) as (world, portal):
        portal.edit("id-000003", modified=world.clock.now() - timedelta(minutes=5))
        await world.sync("data")
        rows = world.store.rows_written()
        receipt = await world.sync("data")
        assert (receipt.counters.not_modified, receipt.counters.parses) == (1, 0)
        assert world.store.rows_written() - rows <= 9


async def test_a_full_sync_finds_changes_that_no_date_tells_of(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(30)) as (world, portal):
        await world.sync("data")
        portal.put(a_dataset(3, notes="Corrected without a word."))
        assert (await world.sync("data")).counters.updated == 0
        assert (await world.sync("data", full=True)).counters.updated == 1


async def test_a_portal_that_ignores_the_question_is_listed_whole(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(25)) as (world, portal):
        portal.quirks.rows_max = 10
        portal.quirks.ignores_changes_filter = True
        await world.sync("data")
        world.clock.advance(86_400)
        portal.edit("id-000020", modified=world.clock.now(), notes="New words.")
        portal.put(a_dataset(21, notes="New words, and an old date."))
        portal.remove("id-000010")
        receipt = await world.sync("data")
        assert (receipt.mode, receipt.status) == (Mode.FULL, RunStatus.COMPLETED)
        counters = receipt.counters
        assert (counters.updated, counters.deleted, counters.unchanged) == (2, 1, 22)
        assert "ignores the question" in (receipt.hint or "")


async def test_a_portal_without_dates_that_answers_with_everything_is_listed_whole(tmp_path: Path) -> None:
    rows = [a_dataset(number, metadata_modified=None) for number in range(50)]
    async with a_portal(tmp_path, rows) as (world, portal):
        portal.quirks.ignores_changes_filter = True
        await world.sync("data")
        portal.put(a_dataset(3, metadata_modified=None, notes="New words."))
        receipt = await world.sync("data")
        assert (receipt.mode, receipt.counters.updated) == (Mode.FULL, 1)


@pytest.mark.parametrize("status", [200, 400, 409, 500])
async def test_a_portal_that_rejects_the_question_is_listed_whole(tmp_path: Path, status: int) -> None:
    async with a_portal(tmp_path, datasets(50)) as (world, portal):
        portal.quirks.rejects_changes_filter = status
        await world.sync("data")
        world.clock.advance(86_400)
        portal.edit("id-000020", modified=world.clock.now(), notes="New words.")
        receipt = await world.sync("data")
        assert (receipt.mode, receipt.status) == (Mode.FULL, RunStatus.COMPLETED)
        assert receipt.counters.updated == 1


async def test_after_a_rollback_everything_is_compared_again(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(30)) as (world, portal):
        await world.sync("data")
        world.clock.advance(86_400)
        portal.edit("id-000003", modified=world.clock.now(), notes="Second thoughts.")
        await world.sync("data")
        await history.rollback(world.ports, await world.source("data"))
        assert await world.found("thoughts") == []
        world.clock.advance(86_400)
        receipt = await world.sync("data")
        assert (receipt.mode, receipt.counters.updated) == (Mode.FULL, 1)
        assert await world.found("thoughts") == ["/dataset/dataset-3"]


async def test_a_failed_dataset_is_asked_for_again_because_the_watermark_stays(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(30)) as (world, portal):
        await world.sync("data")
        watermark = (await world.source("data")).watermark
        world.clock.advance(86_400)
        portal.edit("id-000003", modified=world.clock.now(), notes="New words.")
        portal.quirks.breaks_on = {"id-000003"}
        portal.edit("id-000004", modified=world.clock.now(), notes="Other words.")
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.failed, receipt.counters.updated) == (
            RunStatus.PARTIAL,
            1,
            1,
        )
        assert (await world.source("data")).watermark == watermark
        portal.quirks.breaks_on = set()
        world.clock.advance(7_200)
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.updated) == (RunStatus.COMPLETED, 1)
        assert await world.found("words") == ["/dataset/dataset-3", "/dataset/dataset-4"]


# what changed, by a portal that is not to be believed


def odd_moments(number: int) -> list[dict[str, Any]]:
    """Datasets with dates that need all six digits."""
    begin = datetime(2023, 1, 1, 10, 0, 0, 821_474, tzinfo=UTC)
    return [a_dataset(n, metadata_modified=stamp(begin + timedelta(seconds=n))) for n in range(number)]


async def test_after_a_week_an_unchanged_portal_costs_its_listing_pages_and_nothing_else(
    tmp_path: Path,
) -> None:
    async with a_portal(tmp_path, odd_moments(80)) as (world, portal):
        portal.quirks.index_dates = True
        portal.quirks.rows_max = 10
        await world.sync("data")
        world.clock.advance(8 * 86_400)
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.changed) == (RunStatus.COMPLETED, 0)
        # What changed: one page. All ids: eight.
        assert (portal.count("package_search"), portal.count()) == (9, 9)
        portal.edit("id-000007", modified=datetime(2020, 1, 1, 0, 0, 0, 5, tzinfo=UTC), title="Another")
        world.clock.advance(8 * 86_400)
        receipt = await world.sync("data")
        assert receipt.counters.updated == 1
        # From the third run on, one in 20 is asked for though its date is the known one.
        assert (portal.count("package_show"), receipt.counters.claims_checked) == (1 + 4, 4)


async def test_datasets_that_all_have_another_date_are_read_by_pages_and_not_one_by_one(
    tmp_path: Path,
) -> None:
    async with a_portal(tmp_path, datasets(800)) as (world, portal):
        await world.sync("data")
        for number in range(800):
            portal.edit(f"id-{number:06}", modified=datetime(2020, 1, 1, tzinfo=UTC))
        portal.remove("id-000799")
        world.clock.advance(8 * 86_400)
        receipt = await world.sync("data")
        assert (receipt.counters.unchanged, receipt.counters.deleted) == (799, 1)
        assert (portal.count("package_search"), portal.count("package_show")) == (3, 1)


async def test_a_filter_that_names_no_changes_is_found_out_and_not_asked_again(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(35)) as (world, portal):
        portal.quirks.misses_changes = True
        portal.quirks.rows_max = 12
        await world.sync("data")
        world.clock.advance(86_400)
        portal.edit("id-000020", modified=world.clock.now(), notes="New words.")
        world.clock.advance(3_600)
        receipt = await world.sync("data")
        assert (receipt.mode, receipt.status) == (Mode.FULL, RunStatus.COMPLETED)
        assert receipt.counters.updated == 1
        assert receipt.counters.ignored["changes_filter"] == 1
        assert "did not name `id-000020`, which changed" in (receipt.hint or "")
        # The question, the newest, the question again, three pages of ids, one dataset.
        assert portal.count() == 7
        portal.edit("id-000030", modified=world.clock.now(), notes="New words.")
        world.clock.advance(3_600)
        receipt = await world.sync("data")
        assert (receipt.mode, receipt.counters.updated) == (Mode.FULL, 1)
        assert not [asked for asked in portal.asked if "metadata_modified:" in asked.params.get("fq", "")]
        assert (portal.count("package_search"), portal.count("package_show")) == (3, 1)


async def test_a_filter_is_asked_again_after_a_month_of_distrust(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(50)) as (world, portal):
        portal.quirks.misses_changes = True
        await world.sync("data")
        world.clock.advance(2 * 86_400)
        portal.edit("id-000020", modified=world.clock.now() - timedelta(hours=1), notes="New words.")
        await world.sync("data")
        portal.quirks.misses_changes = False
        world.clock.advance(31 * 86_400)
        assert (await world.sync("data")).mode is Mode.INCREMENTAL
        world.clock.advance(3_600)
        assert ((await world.sync("data")).mode, portal.count()) == (Mode.INCREMENTAL, 1)


async def test_a_number_of_datasets_that_changes_do_not_explain_has_all_ids_listed(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(60)) as (world, portal):
        await world.sync("data")
        world.clock.advance(2 * 86_400)
        portal.put(a_dataset(500))
        portal.remove("id-000005")
        portal.remove("id-000006")
        portal.put(a_dataset(501, metadata_modified=stamp(world.clock.now())))
        receipt = await world.sync("data")
        assert (receipt.mode, receipt.status) == (Mode.FULL, RunStatus.COMPLETED)
        assert (receipt.counters.created, receipt.counters.deleted) == (2, 2)
        assert await visible(world) == set(portal.ids())


async def test_what_changes_between_two_questions_is_no_reason_for_distrust(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(60)) as (world, portal):
        await world.sync("data")
        world.clock.advance(2 * 86_400)

        def meanwhile(search: int) -> None:
            if search == 2:
                portal.edit("id-000020", modified=world.clock.now(), notes="New words.")

        portal.before_search = meanwhile
        receipt = await world.sync("data")
        assert (receipt.mode, receipt.counters.updated, receipt.hint) == (Mode.INCREMENTAL, 0, None)
        portal.before_search = None
        world.clock.advance(3_600)
        assert (await world.sync("data")).counters.updated == 1


# what is gone


async def test_deletions_are_found_by_listing_ids_once_a_week(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(60)) as (world, portal):
        await world.sync("data")
        portal.remove("id-000005")
        world.clock.advance(86_400)
        receipt = await world.sync("data")
        assert (receipt.counters.deleted, portal.count()) == (0, 1)
        world.clock.advance(7 * 86_400)
        receipt = await world.sync("data")
        assert (receipt.mode, receipt.counters.deleted) == (Mode.INCREMENTAL, 1)
        assert [asked.action for asked in portal.asked] == [
            "package_search",
            "package_search",
            "package_show",
        ]
        assert portal.asked[1].params["fl"] == "id,metadata_modified"
        world.clock.advance(86_400)
        assert ((await world.sync("data")).status, portal.count()) == (RunStatus.COMPLETED, 1)


async def test_listing_ids_also_repairs_what_no_change_told_of(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(60), full_sync_every="1d") as (world, portal):
        await world.sync("data")
        portal.put(a_dataset(500))
        world.clock.advance(86_400)
        portal.put(a_dataset(501, metadata_modified=stamp(world.clock.now())))
        receipt = await world.sync("data")
        assert receipt.counters.created == 2
        assert portal.count("package_show") == 1
        assert await visible(world) == set(portal.ids())


async def test_a_portal_that_ignores_which_fields_are_wanted_is_listed_all_the_same(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(60), full_sync_every="0") as (world, portal):
        portal.quirks.ignores_fl = True
        await world.sync("data")
        portal.remove("id-000005")
        assert (await world.sync("data")).counters.deleted == 1


async def test_a_portal_that_lists_no_ids_deletes_nothing_and_is_read_all_the_same(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(60), full_sync_every="0s") as (world, portal):
        await world.sync("data")
        portal.quirks.refuses_fl = 409
        portal.remove("id-000005")
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.deleted) == (RunStatus.COMPLETED, 0)


async def test_an_absent_dataset_of_which_nothing_can_be_said_is_kept(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(60)) as (world, portal):
        await world.sync("data")
        portal.remove("id-000005")
        portal.quirks.refuses_show = 409
        receipt = await world.sync("data", full=True)
        assert (receipt.counters.deleted, receipt.counters.failed) == (0, 1)
        assert "id-000005" in await visible(world)


async def test_a_listing_that_breaks_off_deletes_nothing(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(60)) as (world, portal):
        portal.quirks.rows_max = 20
        await world.sync("data")
        portal.remove("id-000005")

        def breaks(search: int) -> None:
            portal.quirks.refuses_search = 503 if search > 2 else 0

        portal.before_search = breaks
        receipt = await world.sync("data", full=True)
        assert (receipt.status, receipt.counters.deleted) == (RunStatus.PARTIAL, 0)
        assert receipt.stop_reason in (StopReason.HOST_UNAVAILABLE, StopReason.ERROR)
        assert len(await visible(world)) == 60


# trouble


@pytest.mark.parametrize("failure", ["500", "502", "html", "cut", "false", "string"])
async def test_pages_become_smaller_until_the_portal_can_answer(tmp_path: Path, failure: str) -> None:
    async with a_portal(tmp_path, datasets(60), page_size=100) as (world, portal):
        portal.quirks.fails_above_rows = 13
        portal.quirks.failure = failure
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, 60)
        sizes = [int(asked.params["rows"]) for asked in portal.asked]
        assert 12 in sizes
        assert max(sizes[sizes.index(12) + 1 :]) == 24


async def test_pages_become_smaller_when_the_portal_takes_too_long(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(60), page_size=100) as (world, portal):
        world.ports = replace(world.ports, open_fetcher=partial(slow_above, 13, world.ports.open_fetcher))
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, 60)
        assert int(portal.asked[0].params["rows"]) == 12


@asynccontextmanager
async def slow_above(rows: int, real: OpenFetcher, options: FetcherOptions) -> AsyncIterator[Fetcher]:
    class Slow:
        async def fetch(self, request: Request) -> Response:
            if int(parse_qs(urlsplit(request.url).query)["rows"][0]) > rows:
                raise FetchTimeout(f"`{request.url}`: no answer in 30 s")
            return await fetcher.fetch(request)

    async with real(options) as fetcher:
        yield Slow()


async def test_page_sizes_grow_back_after_a_bad_moment(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(300), page_size=40) as (world, portal):
        portal.quirks.fail_times = 4
        assert (await world.sync("data")).counters.created == 300
        sizes = [int(asked.params["rows"]) for asked in portal.asked]
        assert (min(sizes), sizes[-1]) == (10, 40)


@pytest.mark.parametrize("failure", ["500", "html", "cut", "false"])
async def test_a_dataset_that_breaks_its_page_fails_alone(tmp_path: Path, failure: str) -> None:
    async with a_portal(tmp_path, datasets(100), page_size=20) as (world, portal):
        portal.quirks.breaks_on = {"id-000033"}
        portal.quirks.failure = failure
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created, receipt.counters.failed) == (
            RunStatus.PARTIAL,
            99,
            1,
        )


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, '"Bad request - JSON Error: No request body data"'),
        (403, '{"success": false, "error": {"__type": "Authorization Error", "message": "Access denied"}}'),
        (404, "<html><body>Not found</body></html>"),
        (404, '"Not found"'),
        (409, '{"success": false, "error": {"__type": "Search Error", "query": ["bad"]}}'),
        (200, '{"success": false, "error": {"__type": "Authorization Error", "message": "No"}}'),
        (403, None),
    ],
)
async def test_a_portal_that_refuses_to_be_searched_is_read_by_names(
    tmp_path: Path, status: int, body: str | None
) -> None:
    async with a_portal(tmp_path, datasets(120)) as (world, portal):
        portal.quirks.refuses_search = status
        portal.quirks.refusal_body = body
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, 120)
        assert (portal.count("package_list"), portal.count("package_show")) == (1, 120)
        portal.remove("id-000005")
        receipt = await world.sync("data", full=True)
        assert (receipt.counters.deleted, receipt.counters.unchanged) == (1, 119)


async def test_a_portal_that_refuses_everything_says_so(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(5)) as (world, portal):
        portal.quirks.token = "secret"
        receipt = await world.sync("data")
        assert receipt.status is RunStatus.FAILED
        assert "Access denied" in (receipt.error or "")
        assert "bearer" in (receipt.hint or "") or receipt.hint is None


async def test_names_that_cannot_be_asked_for_are_no_portal(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(5)) as (world, portal):
        portal.quirks.refuses_search = portal.quirks.refuses_show = 403
        receipt = await world.sync("data")
        assert receipt.status is RunStatus.FAILED
        assert "none of its 5 datasets can be asked for" in (receipt.error or "")


async def test_an_empty_list_of_names_wipes_nothing_and_a_broken_one_fails_alone(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(30)) as (world, portal):
        portal.quirks.refuses_search = 404
        portal.quirks.breaks_on = {"id-000003"}
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created, receipt.counters.failed) == (
            RunStatus.PARTIAL,
            29,
            1,
        )
        for reference in portal.ids():
            portal.remove(reference)
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.deleted) == (RunStatus.FAILED, 0)
        assert len(await visible(world)) == 29


async def test_a_dataset_nested_too_deeply_fails_alone(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(30)) as (world, portal):
        deep = b"[" * 900 + b"]" * 900
        portal._json["id-000003"] = b'{"id":"id-000003","title":' + deep + b"}"
        receipt = await world.sync("data")
        assert (receipt.counters.created, receipt.counters.failed) == (29, 1)


async def test_half_a_character_in_one_dataset_failed_the_whole_portal(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(30)) as (world, portal):
        portal._json["id-000003"] = rb'{"id":"id-000003","title":"a\ud800b","score":NaN}'
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, 30)


async def test_a_long_rate_limit_ends_the_run(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(30)) as (world, portal):
        portal.quirks.rate_limits = 1
        portal.quirks.retry_after = "3600"
        receipt = await world.sync("data")
        assert (receipt.stop_reason, portal.count()) == (StopReason.RATE_LIMITED, 1)


async def test_redirects_without_end_are_an_error(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(30)) as (world, portal):
        portal.quirks.redirect_to = "/en"
        portal.quirks.redirects_always = True
        receipt = await world.sync("data")
        assert "more than 5 redirects" in (receipt.error or "")


async def test_a_short_rate_limit_is_waited_out(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(50)) as (world, portal):
        portal.quirks.rate_limits = 3
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, 50)
        assert sum(world.clock.waits) >= 6


async def test_an_outage_ends_the_run_and_keeps_everything(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(50)) as (world, portal):
        await world.sync("data")
        portal.quirks.refuses_search = 503
        portal.quirks.refuses_show = 503
        receipt = await world.sync("data")
        assert receipt.status is RunStatus.FAILED
        assert len(await visible(world)) == 50
        assert portal.count() < 40


async def test_an_embedding_provider_that_is_down_for_a_while_costs_no_second_fetch(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(1500)) as (world, portal):
        portal.quirks.rows_max = 100

        def away_in_the_middle(search: int) -> None:
            world.embedder.down = 9 <= search <= 11

        portal.before_search = away_in_the_middle
        counters = (await world.sync("data")).counters
        assert 0 < counters.skipped < 1500
        assert (counters.created + counters.skipped, portal.count()) == (1500, 15)
        assert [len(await world.found(f"Dataset {number}")) > 0 for number in (0, 750, 1499)] == [True] * 3
        # Past the time for which the breaker may still be open.
        world.clock.advance(600)
        await world.sync("data")
        assert portal.count() == 1
        assert len(world.embedder.embedded) == len(set(world.embedder.embedded)) == 1500


# shapes


async def test_a_portal_below_a_path_and_behind_a_redirect(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(5), prefix="/open/data") as (world, portal):
        assert (await world.sync("data")).counters.created == 5
        assert await world.found("everybody") == [f"/open/data/dataset/dataset-{n}" for n in range(5)]
    async with a_portal(tmp_path / "..", datasets(5)) as (world, portal):
        portal.quirks.redirect_to = "/en"
        receipt = await world.sync("data")
        assert (receipt.counters.created, receipt.counters.redirects) == (5, 1)


async def test_dkan_answers_lists(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(30)) as (world, portal):
        portal.quirks.lists = True
        assert (await world.sync("data")).counters.created == 30
        portal.remove("id-000005")
        receipt = await world.sync("data", full=True)
        assert (receipt.counters.deleted, receipt.counters.unchanged) == (1, 29)


async def test_bad_datasets_fail_alone_and_odd_ones_are_taken(tmp_path: Path) -> None:
    rows = [
        a_dataset(0, title=None, notes=None, tags=None, resources=None, organization=None, extras=None),
        a_dataset(1, title={"de": None, "en": None, "fr": "Météo"}, notes={"fr": None}),
        a_dataset(2, title="", name=None),
        a_dataset(3, title=["Listed"], notes=17, tags="weather", resources={"a": 1}, groups="x"),
        a_dataset(4),
    ]
    async with a_portal(tmp_path, rows) as (world, portal):
        # No dataset at all, between good ones.
        portal._json["id-000004"] = b'null,{"title":"Lost"},["?"],' + portal._row("id-000004", "")
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created, receipt.counters.failed) == (
            RunStatus.PARTIAL,
            5,
            3,
        )
        assert await world.found("Météo") == ["/dataset/dataset-1"]
        answer = await world.search("listed", limit=5)
        assert [hit.title for hit in answer.hits] == ["Listed"]


async def test_titles_come_in_the_language_asked_for(tmp_path: Path) -> None:
    row = a_dataset(
        0,
        title="Fallback",
        title_translated={"en": "Rain", "de": "Regen", "fr": None},
        notes_translated={"de": "<p>Wieviel es <b>regnete</b></p><ul><li>täglich</li></ul>"},
    )
    async with a_portal(tmp_path, [row], language="de") as (world, _):
        await world.sync("data")
        (hit,) = (await world.search("regnete", limit=5)).hits
        assert hit.title == "Regen"
        assert "<b>" not in hit.snippet


async def test_metadata_is_stored_and_searches_filter_by_it(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(3), url_template="https://example.org/d/{name}?id={id}") as (
        world,
        portal,
    ):
        portal.put(a_dataset(1, organization={"name": "navy", "title": "The Navy"}))
        await world.sync("data")
        found = await metadata(world, "id-000001")
        assert found == {
            "name": "dataset-1",
            "organization": "The Navy",
            "organization_name": "navy",
            "license": "Creative Commons Attribution",
            "license_id": "cc-by",
            "tags": ["weather"],
            "created": "2023-01-01T00:00:00.000000",
            "type": "dataset",
            "formats": ["CSV"],
            "resources": [{"name": "Table", "url": "https://example.org/1.csv", "format": "CSV"}],
        }
        answer = await world.search("measured", filters=Filters(metadata={"organization_name": "navy"}))
        assert [hit.url.partition("#")[0] for hit in answer.hits] == [
            "https://example.org/d/dataset-1?id=id-000001"
        ]


async def test_nothing_of_a_long_record_is_lost_and_all_of_it_is_found(tmp_path: Path) -> None:
    long = "\n\n".join(f"Paragraph {n} of a long description about rain." for n in range(6000)) + " Zanzibar."
    files = [
        {"name": f"Part {n}", "url": f"https://x.org/{n}.csv", "format": "CSV", "description": f"gauge{n}"}
        for n in range(500)
    ]
    row = a_dataset(
        0, notes=long, resources=files, odd={"nested": [1, {"deep": "value"}]}, maintainer="Ana Pluvia"
    )
    assert len(long) > 275_000
    async with a_portal(tmp_path, [row, a_dataset(1)]) as (world, portal):
        receipt = await world.sync("data")
        assert receipt.counters.left_out == {}
        for words in ("Zanzibar", "gauge499", "Pluvia"):
            assert await world.found(words) == ["/dataset/dataset-0"]
        (document,) = await world.store.documents((await world.source("data")).id, references=["id-000000"])
        assert await reading.record(world.store, document) == row
        # A file's description is new: no text is embedded, and the record is the new one.
        files[3]["description"] = "a rain gauge of brass"
        world.clock.advance(86_400)
        portal.edit("id-000000", modified=world.clock.now(), resources=files)
        receipt = await world.sync("data")
        assert (receipt.counters.metadata_updated, receipt.counters.embeddings_computed) == (1, 0)
        assert await world.found("brass") == ["/dataset/dataset-0"]
        (document,) = await world.store.documents((await world.source("data")).id, references=["id-000000"])
        assert (await reading.record(world.store, document))["resources"] == files


# adding


async def test_adding_asks_the_portal_how_much_it_has(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(7)) as (world, portal):
        added = await sources.add(world.ports, portal.url + "/dataset/", name="again", kind="ckan")
        assert (added.source.location, added.findings) == (
            portal.url,
            ("a CKAN portal with 7 datasets: kind `ckan`",),
        )
        by_address = await sources.add(world.ports, portal.url + "/api/3/action/package_search", name="third")
        assert by_address.source.kind == "ckan"


async def test_a_portal_can_be_counted_without_being_read(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(7)) as (world, portal):
        source = await world.source("data")
        settings = parameters.complete(ckan.PARAMS, source.params)
        assert (await ckan.count(world.ports, source, settings), portal.count()) == (7, 1)


async def test_adding_a_portal_that_lets_nobody_in_says_how_to_get_in(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(7)) as (world, portal):
        portal.quirks.token = "secret"
        with pytest.raises(BadLocation, match="Access denied") as caught:
            await sources.add(world.ports, portal.url, name="x", kind="ckan")
        assert "header.NAME" in (caught.value.hint or "")


async def test_adding_what_is_no_portal_is_refused(tmp_path: Path) -> None:
    async with a_portal(tmp_path, []) as (world, portal):
        with pytest.raises(BadLocation, match="404 from the portal"):
            await sources.add(world.ports, portal.url + "/elsewhere", name="x", kind="ckan")
        with pytest.raises(BadLocation, match="password"):
            await sources.add(world.ports, "https://u:p@example.org", name="x", kind="ckan")


# at scale


@pytest.mark.torture
async def test_fifty_thousand_datasets_come_complete_and_a_refresh_costs_three_requests_at_most(
    tmp_path: Path,
) -> None:
    async with a_portal(tmp_path, datasets(50_000)) as (world, portal):
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, 50_000)
        assert receipt.counters.embeddings_computed == 50_000
        assert portal.count() == 50
        assert await visible(world) == set(portal.ids())
        world.clock.advance(86_400)
        for number in range(0, 50_000, 1000):
            change: dict[str, Any] = {"license_id": "cc-zero"}
            if number < 10_000:
                change = {"title": f"Renamed {number}"}
            portal.edit(f"id-{number:06}", modified=world.clock.now(), **change)
        receipt = await world.sync("data")
        assert (receipt.counters.updated, receipt.counters.metadata_updated) == (10, 40)
        assert portal.count() <= 3
        assert receipt.counters.embeddings_computed == 10


async def test_what_the_portal_lists_and_does_not_show_is_not_gone(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(20)) as (world, portal):
        portal.quirks.refuses_search = 403
        await world.sync("data")
        assert len(await world.pages("data")) == 20
        shown = portal._show
        hidden = {"dataset-3", "dataset-4", "id-000003", "id-000004"}

        def show(params: dict[str, str]) -> tuple[int, bytes]:
            return portal._refused(403) if params.get("id") in hidden else shown(params)

        portal._show = show  # type: ignore[method-assign, assignment]
        receipt = await world.sync("data")
        assert (receipt.counters.deleted, receipt.counters.failed) == (0, 2)
        assert len(await world.pages("data")) == 20


async def test_a_broken_dataset_alone_on_its_page_fails_alone(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(31)) as (world, portal):
        portal.quirks.rows_max = 10
        portal.quirks.breaks_on = {"id-000030"}
        receipt = await world.sync("data")
        assert (receipt.counters.failed, receipt.error) == (1, None)
        assert len(await world.pages("data")) == 30


async def test_a_change_with_an_old_date_is_found_by_the_weekly_listing(tmp_path: Path) -> None:
    async with a_portal(tmp_path, datasets(30)) as (world, portal):
        await world.sync("data")
        portal.edit("id-000007", modified=datetime(2020, 1, 1, tzinfo=UTC), title="Quite another title")
        world.clock.advance(86_400)
        assert (await world.sync("data")).counters.updated == 0
        world.clock.advance(8 * 86_400)
        assert (await world.sync("data")).counters.updated == 1
