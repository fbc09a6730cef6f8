"""APIs described by settings: every way of paging, cheap when nothing changed, whole when things move."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest

from rowen.core import params as parameters
from rowen.core.document import Outcome
from rowen.core.rules import left_out
from rowen.core.rules.schedule import Failure
from rowen.core.run import Mode, RunStatus, StopReason
from rowen.core.search.hit import Filters
from rowen.errors import BadLocation, ConfigError
from rowen.kinds.api.kind import KINDS
from rowen.managing import sources
from rowen.managing.registry import rules as registry
from rowen.reading import history
from tests.support.board_server import ApiServer, an_item, items
from tests.support.site import Site
from tests.support.world import World, a_world

pytestmark = pytest.mark.anyio

PAGINGS: dict[str, dict[str, str]] = {
    "page": {"paging": "page", "param.page": "{page}", "param.limit": "{limit}"},
    "offset": {"paging": "offset", "param.offset": "{offset}", "param.limit": "{limit}"},
    "cursor": {"paging": "cursor", "param.cursor": "{cursor}", "param.limit": "{limit}", "cursor": "cursor"},
    "token": {
        "path": "/items?limit=10",
        "paging": "token",
        "param.cursor": "{cursor}",
        "param.first": "yes",
        "cursor": "cursor",
    },
    "last_id": {"paging": "last_id", "param.cursor": "after:{cursor}", "param.limit": "{limit}"},
    "link": {"paging": "link", "param.limit": "{limit}"},
    "next": {"paging": "next", "param.limit": "{limit}", "next": "next"},
    "none": {"paging": "none"},
}
BASE = {"path": "/items", "items": "items", "page_size": "10", "updated": "updated"}
TOTAL = {"total": "total"}
DETAIL = {"detail": "/items/{id}", "text": "[description, detail.body]"}


@asynccontextmanager
async def an_api(
    folder: Path, rows: list[dict[str, Any]], *settings: Mapping[str, str]
) -> AsyncIterator[tuple[World, ApiServer]]:
    with ApiServer(rows) as api:
        async with a_world(folder, api) as world:
            given: dict[str, str] = dict(BASE)
            for one in settings:
                given |= one
            await sources.add(world.ports, api.url, name="list", kind="rest", settings=given, check=False)
            yield world, api


async def visible(world: World) -> set[str]:
    return set(await world.store.known((await world.source("list")).id))


# every way of paging


@pytest.mark.parametrize("paging", PAGINGS)
@pytest.mark.parametrize("total", [True, False])
async def test_every_item_is_taken_once(tmp_path: Path, paging: str, total: bool) -> None:
    settings = TOTAL if total else {}
    async with an_api(tmp_path, items(45), PAGINGS[paging], settings) as (world, api):
        api.quirks.total = total
        receipt = await world.sync("list")
        assert (receipt.status, receipt.mode) == (RunStatus.COMPLETED, Mode.FULL)
        assert (receipt.counters.created, receipt.counters.failed) == (45, 0)
        assert await visible(world) == api.ids()
        pages = {"none": 1}.get(paging, 5)
        if not total and paging in ("page", "offset", "last_id"):
            pages += 1
        assert api.count("list") == receipt.counters.pages == receipt.counters.requests == pages


@pytest.mark.parametrize("paging", PAGINGS)
async def test_a_refresh_of_the_same_writes_a_constant_number_of_rows(tmp_path: Path, paging: str) -> None:
    written: list[int] = []
    for number in (15, 60):
        folder = tmp_path / str(number)
        folder.mkdir()
        async with an_api(folder, items(number), PAGINGS[paging], TOTAL) as (world, _):
            await world.sync("list")
            await world.sync("list")
            before = world.store.rows_written()
            receipt = await world.sync("list")
            written.append(world.store.rows_written() - before)
            assert (receipt.counters.created, receipt.counters.updated) == (0, 0)
            assert receipt.counters.parses == receipt.counters.embeddings_computed == 0
            assert receipt.generation == 1
    assert written[0] == written[1] <= 9, "the run and its state, one of them what was verified"


@pytest.mark.parametrize("paging", ["none", "cursor", "next", "page", "offset"])
async def test_a_list_that_comes_as_one_answer_is_asked_for_conditionally(
    tmp_path: Path, paging: str
) -> None:
    async with an_api(tmp_path, items(8), PAGINGS[paging]) as (world, api):
        api.quirks.total = False
        await world.sync("list")
        receipt = await world.sync("list")
        assert receipt.counters.not_modified == 1
        # By number, the page behind is asked for too: the first does not tell that there is still no second.
        assert [one.status for one in api.asked] == ([304, 200] if paging in ("page", "offset") else [304])
        api.put(an_item(9))
        assert (await world.sync("list")).counters.created == 1
        assert await visible(world) == api.ids()


@pytest.mark.parametrize("paging", ["page", "offset"])
async def test_an_unchanged_first_page_does_not_hide_a_new_second_one(tmp_path: Path, paging: str) -> None:
    async with an_api(tmp_path, items(10), PAGINGS[paging]) as (world, api):
        api.quirks.total, api.quirks.bare = False, True
        await world.sync("list")
        api.put(an_item(11))
        assert (await world.sync("list")).counters.created == 1
        assert api.asked[0].status == 304
        assert await visible(world) == api.ids()


async def test_after_a_rollback_the_list_is_read_again(tmp_path: Path) -> None:
    async with an_api(tmp_path, items(5)) as (world, api):
        await world.sync("list")
        api.edit(3, description="Something else.")
        await world.sync("list")
        await history.rollback(world.ports, await world.source("list"))
        assert (await world.sync("list")).counters.updated == 1


async def test_a_changed_item_is_one_new_version(tmp_path: Path) -> None:
    async with an_api(tmp_path, items(30), PAGINGS["page"], TOTAL) as (world, api):
        await world.sync("list")
        api.edit(7, description="Quite another thing.")
        receipt = await world.sync("list")
        assert (receipt.counters.updated, receipt.counters.unchanged) == (1, 29)
        assert receipt.counters.same_body == 29


async def test_smaller_pages_than_asked_for_are_not_the_end(tmp_path: Path) -> None:
    for number, paging in enumerate(("page", "offset", "cursor", "link", "next")):
        folder = tmp_path / str(number)
        folder.mkdir()
        async with an_api(folder, items(20), PAGINGS[paging]) as (world, api):
            api.quirks.page_cap = 3
            api.quirks.total = False
            await world.sync("list")
            assert await visible(world) == api.ids(), paging


async def test_a_token_is_sent_without_the_other_parameters(tmp_path: Path) -> None:
    async with an_api(tmp_path, items(25), PAGINGS["token"]) as (world, api):
        await world.sync("list")
        assert await visible(world) == api.ids()
        assert [one.path for one in api.requests] == [
            "/items?limit=10&first=yes",
            "/items?limit=10&cursor=after%3A10",
            "/items?limit=10&cursor=after%3A20",
        ]


async def test_numbers_may_begin_at_nought(tmp_path: Path) -> None:
    settings = {**PAGINGS["page"], "page_first": "0"}
    async with an_api(tmp_path, items(25), settings, TOTAL) as (world, api):
        api.quirks.first_page = 0
        receipt = await world.sync("list")
        assert [one.value("page") for one in api.asked] == ["0", "1", "2"]
        assert receipt.counters.created == 25


# while pages are read, the list changes


@pytest.mark.parametrize("paging", ["page", "offset", "cursor", "last_id", "link", "next"])
@pytest.mark.parametrize("total", [True, False])
async def test_nothing_is_lost_or_doubled_when_items_come_while_paging(
    tmp_path: Path, paging: str, total: bool
) -> None:
    async with an_api(tmp_path, items(45), PAGINGS[paging], TOTAL if total else {}) as (world, api):
        api.quirks.total = total
        behind = paging in ("cursor", "last_id")
        api.before_page = lambda number: (
            api.put(an_item(1000 + number), first=not behind) if number < 9 else None
        )
        receipt = await world.sync("list")
        api.before_page = None
        assert {str(number) for number in range(1, 46)} <= await visible(world)
        assert receipt.counters.created == len(await visible(world))
        await world.sync("list")
        assert await visible(world) == api.ids()


@pytest.mark.parametrize(
    ("paging", "total"),
    [
        ("page", True),
        ("offset", True),
        ("offset", False),
        ("cursor", False),
        ("last_id", True),
        ("last_id", False),
        ("link", True),
        ("next", True),
    ],
)
async def test_items_that_go_while_paging_let_no_other_slip_through(
    tmp_path: Path, paging: str, total: bool
) -> None:
    async with an_api(tmp_path, items(45), PAGINGS[paging], TOTAL if total else {}) as (world, api):
        api.quirks.total = total
        leaving = [3, 14]

        def goes(number: int) -> None:
            if number > 1 and leaving:
                api.remove(leaving.pop(0))

        api.before_page = goes
        receipt = await world.sync("list")
        assert receipt.status is RunStatus.COMPLETED
        assert api.ids() <= await visible(world)


@pytest.mark.parametrize("paging", ["page", "offset", "cursor", "last_id", "link", "next"])
@pytest.mark.parametrize("total", [True, False])
async def test_nothing_is_wrongly_deleted_when_items_go_while_paging(
    tmp_path: Path, paging: str, total: bool
) -> None:
    async with an_api(tmp_path, items(45), PAGINGS[paging], TOTAL if total else {}) as (world, api):
        api.quirks.total = total
        await world.sync("list")
        gone = [3, 14, 25]
        api.before_page = lambda number: api.remove(gone[number - 2]) if 2 <= number <= 4 else None
        receipt = await world.sync("list")
        api.before_page = None
        assert api.ids() <= await visible(world)
        assert {item.reference for item in await deleted(world, receipt.run_id)} <= {"3", "14", "25"}
        await world.sync("list")
        assert await visible(world) == api.ids()


async def deleted(world: World, run_id: int) -> list[Any]:
    return [item for item in await world.store.run_items(run_id) if item.outcome is Outcome.DELETED]


# what is gone


@pytest.mark.parametrize("paging", PAGINGS)
async def test_what_a_complete_list_does_not_name_is_gone(tmp_path: Path, paging: str) -> None:
    async with an_api(tmp_path, items(35), PAGINGS[paging], TOTAL) as (world, api):
        await world.sync("list")
        api.remove(4)
        api.remove(31)
        receipt = await world.sync("list")
        assert (receipt.counters.deleted, receipt.counters.unchanged) == (2, 33)
        assert await visible(world) == api.ids()


async def test_a_list_that_announces_more_than_it_shows_deletes_nothing(tmp_path: Path) -> None:
    async with an_api(tmp_path, items(35), PAGINGS["page"], {"total": "sum([total, `5`])"}) as (world, api):
        await world.sync("list")
        api.remove(4)
        receipt = await world.sync("list")
        assert receipt.counters.deleted == 0
        assert "listed 34 of 39 items: nothing was deleted" in (receipt.hint or "")


async def test_an_empty_list_waits_for_a_person(tmp_path: Path) -> None:
    async with an_api(tmp_path, items(5)) as (world, api):
        await world.sync("list")
        api.rows = []
        receipt = await world.sync("list")
        assert receipt.status is RunStatus.HELD
        assert len(await visible(world)) == 5
        await history.approve(world.ports, await world.source("list"))
        receipt = await world.sync("list")
        assert receipt.status is RunStatus.COMPLETED
        assert await visible(world) == set()


async def test_too_many_deletions_are_held(tmp_path: Path) -> None:
    async with an_api(tmp_path, items(40), PAGINGS["page"], TOTAL) as (world, api):
        await world.sync("list")
        for number in range(1, 21):
            api.remove(number)
        assert (await world.sync("list")).status is RunStatus.HELD
        assert len(await visible(world)) == 40


async def test_a_page_behind_the_last_that_is_not_found_ends_the_list_and_proves_nothing(
    tmp_path: Path,
) -> None:
    async with an_api(tmp_path, items(25), PAGINGS["page"]) as (world, api):
        api.quirks.total, api.quirks.not_found_behind = False, True
        assert (await world.sync("list")).counters.created == 25
        api.remove(2)
        receipt = await world.sync("list")
        assert (receipt.status, receipt.counters.deleted) == (RunStatus.COMPLETED, 0)


async def test_what_the_second_look_does_not_confirm_is_not_deleted(tmp_path: Path) -> None:
    async with an_api(tmp_path, items(25), PAGINGS["page"]) as (world, api):
        api.quirks.total = False
        await world.sync("list")
        api.remove(2)
        api.before_page = lambda number: setattr(api.quirks, "clamps", number > 4)
        receipt = await world.sync("list")
        assert (receipt.counters.deleted, api.count("list")) == (0, 8)
        assert "nothing was deleted" in (receipt.hint or "")
        api.before_page, api.quirks.clamps = None, False
        assert (await world.sync("list")).counters.deleted == 1


async def test_items_that_share_an_id_are_counted_as_left_out(tmp_path: Path) -> None:
    rows = [an_item(number) | {"kind": f"k{number % 2}"} for number in range(6)]
    async with an_api(tmp_path, [*rows, rows[1]], {"id": "kind"}) as (world, _):
        receipt = await world.sync("list")
        assert (receipt.counters.created, receipt.counters.ignored["same_id"]) == (2, 4)
        assert left_out.sentences(left_out.left_out(receipt.counters.ignored)) == [
            "4 items with the id of another on their page: is `id` what tells items apart?"
        ]


async def test_an_item_that_moves_to_the_next_page_is_not_two(tmp_path: Path) -> None:
    async with an_api(tmp_path, items(25), PAGINGS["page"], TOTAL) as (world, api):
        api.before_page = lambda number: api.put(an_item(99), first=True) if number == 2 else None
        receipt = await world.sync("list")
        assert receipt.counters.ignored["same_id"] == 0


async def test_items_without_id_are_counted_once_however_often_the_list_is_read(tmp_path: Path) -> None:
    rows = [*items(15), {"id": None, "title": "?", "updated": "2023-12-01T00:00:00Z"}]
    async with an_api(tmp_path, rows, PAGINGS["page"], {"total": "sum([total, `1`])"}) as (world, api):
        receipt = await world.sync("list")
        assert (receipt.counters.created, receipt.counters.failed) == (15, 1)
        assert api.count("list") > 2


@pytest.mark.parametrize("quirk", ["ignores_paging", "clamps"])
@pytest.mark.parametrize("paging", ["page", "offset"])
async def test_the_same_page_again_ends_the_list_and_proves_nothing(
    tmp_path: Path, paging: str, quirk: str
) -> None:
    async with an_api(tmp_path, items(30), PAGINGS[paging]) as (world, api):
        api.quirks.total = False
        setattr(api.quirks, quirk, True)
        receipt = await world.sync("list")
        assert receipt.counters.created == (10 if quirk == "ignores_paging" else 30)
        assert api.count("list") <= 10
        api.remove(1)
        assert (await world.sync("list")).counters.deleted == 0


# details


async def test_a_detail_is_asked_for_what_is_new_or_changed_and_nothing_else(tmp_path: Path) -> None:
    async with an_api(tmp_path, items(25), PAGINGS["page"], TOTAL, DETAIL) as (world, api):
        receipt = await world.sync("list")
        assert (receipt.counters.created, api.count("detail")) == (25, 25)
        assert await world.found("nothing more")
        receipt = await world.sync("list")
        assert (api.count("detail"), receipt.counters.unchanged) == (0, 25)
        api.edit(9, secret="elephants", updated="2024-01-01T00:00:00Z")
        receipt = await world.sync("list")
        assert (api.count("detail"), receipt.counters.updated) == (1, 1)
        assert len(await world.found("elephants")) == 1
        # A full sync asks for everything.
        await world.sync("list", full=True)
        assert api.count("detail") == 25


async def test_without_a_time_of_change_the_listed_item_says_whether_to_ask(tmp_path: Path) -> None:
    settings = {**DETAIL, "updated": ""}
    async with an_api(tmp_path, items(5), settings) as (world, api):
        api.quirks.etag = False
        await world.sync("list")
        await world.sync("list")
        assert api.count("detail") == 0
        api.edit(2, views=99)
        receipt = await world.sync("list")
        assert (api.count("detail"), receipt.counters.updated) == (1, 0)


async def test_a_detail_that_is_gone_or_broken_concerns_its_item_only(tmp_path: Path) -> None:
    async with an_api(tmp_path, items(6), DETAIL) as (world, api):
        api.quirks.detail_status = {"1": 404, "2": 410, "3": 403, "4": 400}
        receipt = await world.sync("list")
        assert receipt.status is RunStatus.PARTIAL
        assert (receipt.counters.created, receipt.counters.failed) == (2, 2)
        assert receipt.counters.ignored["vanished"] == 2
        api.quirks.detail_status = {}
        receipt = await world.sync("list")
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, 4)


async def test_a_known_item_whose_detail_is_gone_goes(tmp_path: Path) -> None:
    async with an_api(tmp_path, items(6), DETAIL) as (world, api):
        await world.sync("list")
        api.edit(3, updated="2024-01-01T00:00:00Z")
        api.quirks.detail_status = {"3": 404}
        assert (await world.sync("list")).counters.deleted == 1


async def test_an_interrupted_harvest_does_not_ask_for_its_details_again(tmp_path: Path) -> None:
    async with an_api(tmp_path, items(30), PAGINGS["page"], TOTAL, DETAIL) as (world, api):
        api.quirks.rate_limit_at = 15
        receipt = await world.sync("list")
        assert receipt.stop_reason == StopReason.RATE_LIMITED
        had = receipt.counters.created
        assert had > 0
        api.quirks.rate_limit_at = 0
        receipt = await world.sync("list")
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, 30 - had)
        assert api.count("detail") <= 30 - had


async def test_a_killed_harvest_does_not_ask_again_for_the_details_it_has_stored(tmp_path: Path) -> None:
    async with an_api(tmp_path, items(200), PAGINGS["page"], TOTAL, DETAIL) as (world, api):
        running = asyncio.ensure_future(world.sync("list"))
        loop = asyncio.get_running_loop()
        api.before_detail = lambda number: (
            None if number < 150 else loop.call_soon_threadsafe(running.cancel) and None
        )
        with pytest.raises(asyncio.CancelledError):
            await running
        assert await visible(world) == set()
        api.before_detail = None
        receipt = await world.sync("list")
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, 200)
        assert api.count("detail") < 150
        assert await visible(world) == api.ids()


async def test_an_item_nested_too_deeply_for_a_validator_is_asked_for_each_time(tmp_path: Path) -> None:
    async with an_api(tmp_path, items(1), DETAIL, {"updated": ""}) as (world, api):
        api.quirks.etag = False
        deep = b"[" * 1000 + b"]" * 1000
        api.quirks.body = b'{"items": [{"id": 1, "title": "Deep", "x": ' + deep + b"}]}"
        await world.sync("list")
        receipt = await world.sync("list")
        # Later versions of Python write down what is nested so deeply.
        asked = 1 if sys.version_info < (3, 12) else 0
        assert (api.count("detail"), receipt.counters.unchanged) == (asked, 1)


# bad hours


@pytest.mark.parametrize("paging", ["page", "offset", "cursor", "link", "next"])
async def test_a_rate_limit_in_the_middle_keeps_what_came_and_deletes_nothing(
    tmp_path: Path, paging: str
) -> None:
    async with an_api(tmp_path, items(45), PAGINGS[paging], TOTAL) as (world, api):
        api.quirks.rate_limit_at = 3
        receipt = await world.sync("list")
        assert (receipt.stop_reason, receipt.failure) == (StopReason.RATE_LIMITED, Failure.RATE_LIMIT)
        assert receipt.retry_after_s == 7200
        assert receipt.counters.created == 20
        api.quirks.rate_limit_at = 0
        receipt = await world.sync("list")
        assert (receipt.status, receipt.counters.created, receipt.counters.unchanged) == (
            RunStatus.COMPLETED,
            25,
            20,
        )


async def test_a_short_rate_limit_is_waited_out(tmp_path: Path) -> None:
    async with an_api(tmp_path, items(25), PAGINGS["page"], TOTAL) as (world, api):
        api.quirks.retry_after, api.quirks.status_at = "2", (2, 429)
        receipt = await world.sync("list")
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, 25)


@pytest.mark.parametrize("status", [401, 403])
async def test_whom_the_api_does_not_know_stops_with_a_hint(tmp_path: Path, status: int) -> None:
    async with an_api(tmp_path, items(5)) as (world, api):
        api.quirks.status = status
        receipt = await world.sync("list")
        assert (receipt.status, receipt.failure) == (RunStatus.FAILED, Failure.FATAL)
        assert f"{status} from the API" in (receipt.error or "")
        assert "bearer" in (receipt.hint or "")


async def test_a_401_for_a_detail_stops_the_run(tmp_path: Path) -> None:
    async with an_api(tmp_path, items(5), DETAIL) as (world, api):
        api.quirks.detail_status = dict.fromkeys(api.ids(), 401)
        receipt = await world.sync("list")
        assert receipt.failure is Failure.FATAL
        assert api.count("detail") <= 3


@pytest.mark.parametrize("status", [500, 502, 503, 404, 400])
async def test_an_outage_deletes_nothing_and_forgets_nothing(tmp_path: Path, status: int) -> None:
    async with an_api(tmp_path, items(25), PAGINGS["page"], TOTAL) as (world, api):
        await world.sync("list")
        for number in (1, 2):
            api.quirks.status_at = (number, status)
            receipt = await world.sync("list")
            api.asked.clear()
            if status < 500 and not (status == 404 and number == 2):
                assert receipt.error
            assert receipt.counters.deleted == 0
            assert len(await visible(world)) == 25
        api.quirks.status_at = None
        assert (await world.sync("list")).status is RunStatus.COMPLETED


async def test_a_server_error_that_passes_is_tried_again(tmp_path: Path) -> None:
    async with an_api(tmp_path, items(25), PAGINGS["page"], TOTAL) as (world, api):
        api.quirks.status_at = (2, 503)
        receipt = await world.sync("list")
        assert (receipt.status, receipt.counters.retries) == (RunStatus.COMPLETED, 1)


async def test_an_error_in_the_middle_forgets_the_validators(tmp_path: Path) -> None:
    async with an_api(tmp_path, items(8), PAGINGS["page"]) as (world, api):
        api.quirks.total = False
        await world.sync("list")
        first = api.rows
        api.edit(1, description="New words.")
        api.quirks.status_at = (2, 400)
        receipt = await world.sync("list")
        assert (receipt.status, receipt.counters.updated) == (RunStatus.PARTIAL, 1)
        # The list is as it was again, and what readers see is not.
        api.quirks.status_at, api.rows = None, first
        assert (await world.sync("list")).counters.updated == 1


# caps


@pytest.mark.parametrize("paging", ["page", "offset", "cursor", "link", "next"])
async def test_the_number_of_pages_is_capped(tmp_path: Path, paging: str) -> None:
    async with an_api(tmp_path, items(45), PAGINGS[paging], TOTAL, {"max_pages": "2"}) as (world, api):
        receipt = await world.sync("list")
        assert (receipt.status, receipt.stop_reason) == (RunStatus.COMPLETED, StopReason.MAX_PAGES)
        assert (api.count("list"), receipt.counters.created) == (2, 20)
        assert "max_pages=2" in (receipt.hint or "")
        assert (await world.source("list")).watermark is None
        api.remove(1)
        assert (await world.sync("list")).counters.deleted == 0


@pytest.mark.parametrize("paging", ["page", "offset", "cursor", "link", "next"])
@pytest.mark.parametrize(("limit", "pages"), [(10, 1), (15, 2), (20, 2)])
async def test_the_number_of_items_is_capped(tmp_path: Path, paging: str, limit: int, pages: int) -> None:
    settings = {"max_items": str(limit)}
    async with an_api(tmp_path, items(45), PAGINGS[paging], TOTAL, settings) as (world, api):
        receipt = await world.sync("list")
        assert receipt.stop_reason == StopReason.MAX_ITEMS
        assert (receipt.counters.created, api.count("list")) == (limit, pages)


@pytest.mark.parametrize("number", [40, 45])
async def test_a_cap_that_is_not_reached_says_nothing(tmp_path: Path, number: int) -> None:
    settings = {"max_items": str(number), "max_pages": "5"}
    async with an_api(tmp_path, items(number), PAGINGS["page"], TOTAL, settings) as (world, _):
        receipt = await world.sync("list")
        assert (receipt.stop_reason, receipt.hint) == (StopReason.EXHAUSTED, None)


@pytest.mark.parametrize("paging", ["page", "offset"])
@pytest.mark.parametrize("announced", [10, 30])
async def test_a_total_that_is_too_small_is_no_end_behind_a_full_page(
    tmp_path: Path, paging: str, announced: int
) -> None:
    async with an_api(tmp_path, items(45), PAGINGS[paging], TOTAL) as (world, api):
        await world.sync("list")
        api.quirks.announces = announced - 45
        receipt = await world.sync("list", full=True)
        assert (receipt.counters.unchanged, receipt.counters.deleted) == (45, 0)


async def test_a_list_without_an_end_is_left_at_the_cap(tmp_path: Path) -> None:
    async with an_api(tmp_path, items(3), PAGINGS["page"], {"max_pages": "50"}) as (world, api):
        api.quirks.total = False
        api.before_page = lambda number: setattr(
            api, "rows", [an_item(number * 100 + one) for one in range(10 * number + 10)]
        )
        receipt = await world.sync("list")
        assert (receipt.stop_reason, api.count("list")) == (StopReason.MAX_PAGES, 50)


# answers of the wrong shape


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"<html>Sorry</html>", "answers with a web page"),
        (b"", "answers with no JSON"),
        (b'{"items": [{"id": 1}', "answers with no JSON"),
        (b'{"\xff": 1}', "answers with no JSON"),
        (b"null", "finds nothing in the answer, which is nothing"),
        (b"3", "finds nothing in the answer, which is a number"),
        (b'"Internal error"', "finds nothing in the answer, which is a text"),
        (b'{"error": "x"}', "finds nothing in the answer, which is an object with `error`"),
        (
            b'{"items": {"a": {"id": 1}}}',
            "finds an object and no list in the answer, which is an object with `items`",
        ),
        (b'{"items": "none"}', "finds a text and no list"),
        (b'{"items": 7}', "finds a number and no list"),
        (b'{"items": ' + b"[" * 5000 + b"]" * 5000 + b"}", "answers with no JSON"),
    ],
)
async def test_an_answer_of_another_shape_is_named_and_costs_nothing(
    tmp_path: Path, body: bytes, message: str
) -> None:
    async with an_api(tmp_path, items(25), PAGINGS["page"], TOTAL) as (world, api):
        await world.sync("list")
        for quirk in ("body", "body_at"):
            setattr(api.quirks, quirk, body if quirk == "body" else (2, body))
            receipt = await world.sync("list")
            assert message in (receipt.error or "")
            assert not receipt.good or receipt.status is RunStatus.PARTIAL
            assert len(await visible(world)) == 25
            api.quirks.body = api.quirks.body_at = None
        assert (await world.sync("list")).status is RunStatus.COMPLETED


async def test_one_bad_value_on_a_page_failed_the_whole_source(tmp_path: Path) -> None:
    async with an_api(tmp_path, [], {"meta.pay": "pay", "title": "title"}) as (world, api):
        api.quirks.body = (
            rb'{"items": [{"id": 1, "title": "a\ud800b", "pay": NaN}, {"id": 2, "title": "two", "pay": 3}]}'
        )
        receipt = await world.sync("list")
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, 2)
        source = await world.source("list")
        metadata = await world.store.metadata(source.id)
        assert (metadata["1"], metadata["2"]) == ({}, {"pay": "3"})
        found = (await world.search("two")).hits + (await world.search("b")).hits
        assert {hit.title for hit in found} == {"two", "a\ufffdb"}


async def test_ids_beyond_64_bits_were_one_and_the_same(tmp_path: Path) -> None:
    large = 2**64 + 1
    async with an_api(tmp_path, [], {"meta.views": "views"}) as (world, api):
        rows = [
            {"id": large + one, "title": f"t{one}", "views": 10**400, "updated": 10**400} for one in range(3)
        ]
        api.quirks.body = json.dumps({"items": rows}).encode()
        assert (await world.sync("list")).counters.created == 3
        assert await visible(world) == {str(large + one) for one in range(3)}
        assert (await world.sync("list")).counters.not_modified == 1


ODD: list[Any] = [None, True, 3.5, "text", [], {}, [[["x"]]], {"a": {"b": [None]}}, -1, "", 10**17]


@pytest.mark.parametrize("name", ["title", "description", "updated", "tags", "total", "next", "views"])
@pytest.mark.parametrize("odd", ODD, ids=repr)
async def test_a_value_of_another_type_spoils_no_item(tmp_path: Path, name: str, odd: Any) -> None:
    settings = {"meta.tags": "tags", "meta.views": "views", "meta.first": "tags[0].name", **TOTAL}
    async with an_api(tmp_path, [], settings) as (world, api):
        body: dict[str, Any] = {"items": [an_item(1), an_item(2)], "total": 2}
        if name == "total":
            body["total"] = odd
        else:
            body["items"][0][name] = odd
        api.quirks.body = orjson.dumps(body)
        receipt = await world.sync("list")
        assert (receipt.counters.created, receipt.counters.failed) == (2, 0)


async def test_items_that_are_no_objects_and_items_without_id_are_counted_and_the_rest_is_taken(
    tmp_path: Path,
) -> None:
    async with an_api(tmp_path, []) as (world, api):
        strange: list[Any] = [None, 3, "x", [], {}, {"id": None}, {"id": ""}, {"id": True}, {"id": {"a": 1}}]
        strange += [{"id": "x" * 501}]
        api.quirks.body = orjson.dumps({"items": [*strange, an_item(1), an_item(2), an_item(1)]})
        receipt = await world.sync("list")
        assert receipt.status is RunStatus.PARTIAL
        assert (receipt.counters.created, receipt.counters.failed) == (2, len(strange))
        found = await world.store.run_items(receipt.run_id)
        assert any("`id` finds nothing in an empty object" in (item.detail or "") for item in found)
        # One of those without an id may be the one that seems to be gone.
        api.quirks.body = orjson.dumps({"items": [{}, an_item(1)]})
        receipt = await world.sync("list")
        assert receipt.counters.deleted == 0
        assert "without an id" in (receipt.hint or "")


async def test_deep_nesting_in_an_item_is_cut_not_feared(tmp_path: Path) -> None:
    deep = b'{"in": [' * 450 + b'"bottom"' + b"]}" * 450
    settings = {"meta.deep": "tags", "meta.text": "to_string(tags)", "text": "tags", "title": "tags"}
    async with an_api(tmp_path, [], settings) as (world, api):
        api.quirks.body = b'{"items": [{"id": 1, "tags": ' + deep + b'}, {"id": 2, "title": "Two"}]}'
        receipt = await world.sync("list")
        assert (receipt.counters.created, receipt.counters.failed) == (2, 0)


@pytest.mark.parametrize("paging", ["cursor", "next", "link"])
async def test_a_list_that_leads_in_circles_is_left_with_a_message(tmp_path: Path, paging: str) -> None:
    async with an_api(tmp_path, items(45), PAGINGS[paging]) as (world, api):
        api.quirks.same_cursor = True
        api.quirks.next_url = "/items?limit=10"
        receipt = await world.sync("list")
        assert "leads in circles" in (receipt.error or "")
        assert receipt.counters.created >= 10
        assert api.count("list") <= 3


@pytest.mark.parametrize("bad", [{"a": 1}, [1], 3.5, True])
@pytest.mark.parametrize("paging", ["cursor", "next"])
async def test_a_next_page_that_is_no_address_is_said(tmp_path: Path, paging: str, bad: Any) -> None:
    async with an_api(tmp_path, [], PAGINGS[paging]) as (world, api):
        api.quirks.body = orjson.dumps({"items": items(3), "cursor": bad, "next": bad})
        receipt = await world.sync("list")
        assert f"setting `{paging}`: finds" in (receipt.error or "")
        assert receipt.counters.created == 3


@pytest.mark.parametrize("paging", ["next", "link"])
@pytest.mark.parametrize("target", ["javascript:alert(1)", "file:///etc/passwd", "ftp://x.example/a"])
async def test_a_next_page_elsewhere_than_on_the_web_is_not_asked_for(
    tmp_path: Path, paging: str, target: str
) -> None:
    async with an_api(tmp_path, items(3), PAGINGS[paging]) as (world, api):
        api.quirks.next_url = target
        receipt = await world.sync("list")
        assert "no http or https address" in (receipt.error or "")


@pytest.mark.parametrize("paging", ["next", "link"])
async def test_a_next_page_on_another_private_host_is_refused(tmp_path: Path, paging: str) -> None:
    with Site({"/items": '{"items": []}'}) as other:
        async with an_api(tmp_path, items(3), PAGINGS[paging]) as (world, api):
            api.quirks.next_url = other.url + "/items"
            receipt = await world.sync("list")
            assert receipt.error
            assert "is not a public address" in receipt.error
            assert other.requests == []
            assert receipt.counters.created == 3


async def test_credentials_go_to_the_own_origin_only(tmp_path: Path) -> None:
    from dataclasses import replace

    with Site({"/items": orjson.dumps({"items": [an_item(9)]})}) as other, ApiServer(items(3)) as api:
        async with a_world(tmp_path, api) as world:
            world.secrets["TOKEN"] = "very-secret-token"
            world.ports = replace(world.ports, fetch=replace(world.ports.fetch, allow_private=True))
            api.quirks.next_url, api.quirks.token = other.url + "/items", "Bearer very-secret-token"
            settings = {**BASE, **PAGINGS["next"], "bearer": "${TOKEN}"}
            await sources.add(world.ports, api.url, name="list", kind="rest", settings=settings)
            receipt = await world.sync("list")
            assert receipt.counters.created == 4
            assert all("Authorization" not in one.headers for one in other.requests)


@pytest.mark.parametrize("given", ["bearer", "basic", "cookie", "header.X-Api-Key"])
async def test_secrets_are_sent_and_appear_nowhere(
    tmp_path: Path, given: str, capfd: pytest.CaptureFixture[str]
) -> None:
    secret = "s3cret-s3cret-s3cret"
    reference = "${USER_NAME}:${KEY}" if given == "basic" else "${KEY}"
    with ApiServer([an_item(1, description=f"You came with {secret}.")]) as api:
        async with a_world(tmp_path, api) as world:
            world.secrets |= {"KEY": secret, "USER_NAME": "me"}
            settings = {**BASE, **DETAIL, given: reference}
            await sources.add(world.ports, api.url, name="list", kind="rest", settings=settings)
            receipt = await world.sync("list")
            assert receipt.counters.created == 1
            sent = " ".join(value for one in api.requests for value in one.headers.values())
            assert secret in sent or given == "basic"
            assert "Authorization" in api.requests[0].headers or "Basic" not in sent
            api.quirks.body = f'{{"oops": "{secret}"}}'.encode()
            receipt = await world.sync("list")
            shown = f"{receipt} {await world.store.runs(receipt.source.id, limit=5)}"
            assert secret not in shown
    for file in tmp_path.rglob("rowen.db*"):
        assert secret.encode() not in file.read_bytes()
    assert secret not in "".join(capfd.readouterr())


# adding


async def add(world: World, **settings: str) -> sources.Added:
    given = {**BASE, **{key.replace("__", "."): value for key, value in settings.items()}}
    return await sources.add(world.ports, world.site.url, name="list", kind="rest", settings=given)


async def test_adding_asks_what_is_there(tmp_path: Path) -> None:
    with ApiServer(items(45)) as api:
        async with a_world(tmp_path, api) as world:
            added = await add(world, **{**PAGINGS["page"], **TOTAL})
            assert added.findings == ("a list with 45 items: kind `rest`", "the first is `Item 1`")
            assert api.count() == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"id": "uuid"}, "`uuid` finds nothing in an object with `id`, `title`"),
        ({"items": "jobs"}, "`jobs` finds nothing in the answer, which is an object with `items`, `total`"),
        ({"path": "/nowhere"}, "404 from the API"),
    ],
)
async def test_adding_what_does_not_fit_says_what_is_there_instead(
    tmp_path: Path, settings: dict[str, str], message: str
) -> None:
    with ApiServer(items(3)) as api:
        async with a_world(tmp_path, api) as world:
            with pytest.raises(BadLocation) as caught:
                await add(world, **settings)
            assert message in caught.value.message
            assert caught.value.hint


async def test_the_hint_about_an_empty_list_spoke_of_another_expression(tmp_path: Path) -> None:
    with ApiServer(items(3)) as api:
        async with a_world(tmp_path, api) as world:
            with pytest.raises(BadLocation) as caught:
                await add(world, items="data.jobs")
            assert "`not_null(data.jobs, `[]`)`" in (caught.value.hint or "")
            with pytest.raises(BadLocation) as caught:
                await add(world, items="@")
            assert "`values(@)`" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"items": "items[?"}, "setting `items`: not a JMESPath expression: it breaks off at position 8"),
        (
            {"meta.place": "a b"},
            "setting `meta.place`: not a JMESPath expression: mistake at position 3, here: `a ▸b`",
        ),
        ({"offer.provider": "x", "offer.place": "]"}, "setting `offer.place`: not a JMESPath"),
        ({"title": "frob(name)"}, "setting `title`: no such JMESPath function: `frob` at position 1"),
        ({"text": "join(a)"}, "setting `text`: function `join` at position 1 of `join(a)` takes 2 arguments"),
        ({"paging": "page"}, "nothing says where `{page}` goes"),
        ({"paging": "offset"}, "nothing says where `{offset}` goes"),
        ({"paging": "cursor", "param.c": "{cursor}"}, "nothing says where the next one stands"),
        ({"paging": "next"}, "nothing says where the next one stands"),
        ({"paging": "pages"}, "expected one of none, page"),
        (
            {"param.since": "{since}"},
            "setting `param.since`: `{since}` has no value here: it needs `window=date`",
        ),
        ({"param.page": "{page}"}, "setting `param.page`: `{page}` has no value here: it needs `paging`"),
        ({"window": "date", "updated": ""}, "nothing says which items are of a date"),
        ({"order": "desc", "updated": ""}, "nothing says when an item was updated"),
        ({"recheck": "5"}, "asked for by `detail`, which is not set"),
        ({"detail": "/items"}, "expected a path with `{id}`"),
        ({"path": "items"}, "expected a path such as"),
        ({"path": "/items?api_key=abc"}, "expected no key"),
        ({"offer.place": "city"}, "nothing says which job board these are of"),
        ({"offer.colour": "x"}, "expected one of offer.provider"),
        ({"param.api_key": "abc"}, "expected no key in the query"),
        ({"param.q": "${SECRET}"}, "expected no reference in the query"),
        ({"window": "date", "param.age": "{bucket}"}, "sends `{bucket}`, and there are none"),
        ({"page_first": "2"}, "expected 0 to 1"),
        ({"pagign": "page"}, "no such setting"),
        ({"meta.": "x"}, "expected a name of up to 100 characters behind the dot"),
    ],
)
async def test_settings_that_cannot_work_are_refused_before_a_request_is_sent(
    tmp_path: Path, settings: dict[str, str], message: str
) -> None:
    with ApiServer(items(3)) as api:
        async with a_world(tmp_path, api) as world:
            with pytest.raises(ConfigError) as caught:
                given = {**BASE, **settings}
                await sources.add(world.ports, api.url, name="list", kind="rest", settings=given, check=False)
            assert message in caught.value.message
            assert "abc" not in caught.value.message
            assert api.count() == 0


# what becomes of an item


async def test_metadata_can_be_filtered_by(tmp_path: Path) -> None:
    settings = {
        "meta.tag": "tags",
        "meta.number": "id",
        "meta.even": "id == `2`",
        "url_template": "https://x.example/{id}",
    }
    async with an_api(tmp_path, items(3), settings) as (world, _):
        await world.sync("list")
        source = await world.source("list")
        metadata = (await world.store.metadata(source.id))["2"]
        assert metadata == {"tag": ["a", "b"], "number": "2", "even": "true"}
        answer = await world.search("say", filters=Filters(metadata={"number": "2"}))
        assert [hit.url for hit in answer.hits] == ["https://x.example/2"]
        assert answer.hits[0].title == "Item 2"


async def test_ids_of_any_letters_are_asked_for_as_they_are(tmp_path: Path) -> None:
    rows = [an_item(1, id="a/b c?d#e&f"), an_item(2, id="ünï")]
    async with an_api(tmp_path, rows, DETAIL) as (world, api):
        assert (await world.sync("list")).counters.created == 2
        assert await visible(world) == api.ids()


async def test_a_list_of_bare_ids_works_with_a_detail(tmp_path: Path) -> None:
    settings = {
        "items": "items[].id",
        "id": "@",
        "title": "detail.body",
        "text": "detail.body",
        "updated": "",
    }
    async with an_api(tmp_path, items(4), {"detail": "/items/{id}"}, settings) as (world, api):
        assert (await world.sync("list")).counters.created == 4
        api.quirks.etag = False
        await world.sync("list")
        assert api.count("detail") == 0


async def test_offers_of_any_api_tell_of_their_company(tmp_path: Path) -> None:
    settings = {
        "offer.provider": "my-board",
        "offer.company_name": "firm.name",
        "offer.company_id": "firm.id",
        "offer.company_website": "firm.web",
        "offer.place": "town",
        "offer.posted": "posted",
    }
    firm = {"id": 7, "name": "Acme", "web": "https://acme.example"}
    rows = [an_item(1, firm=firm, town="Vigo", posted=1_700_000_000), an_item(2)]
    async with an_api(tmp_path, rows, settings) as (world, _):
        await world.sync("list")
        found = await world.store.metadata((await world.source("list")).id)
        assert found["1"] == {
            "company": "Acme",
            "place": "Vigo",
            "posted_at": "2023-11-14T22:13:20+00:00",
            "updated_at": "2023-12-01T01:00:00+00:00",
            "offer": {
                "provider": "my-board",
                "id": "1",
                "company": {"id": "7", "name": "Acme", "website": "https://acme.example"},
                "place": "Vigo",
                "posted_at": "2023-11-14T22:13:20+00:00",
                "updated_at": "2023-12-01T01:00:00+00:00",
            },
        }
        assert found["2"]["offer"] == {
            "provider": "my-board",
            "id": "2",
            "updated_at": "2023-12-01T02:00:00+00:00",
        }


async def test_a_location_may_have_a_path_and_a_query_of_its_own(tmp_path: Path) -> None:
    with ApiServer(items(3)) as api:
        async with a_world(tmp_path, api) as world:
            settings = {"items": "items", **PAGINGS["page"], **TOTAL}
            await sources.add(
                world.ports, api.url + "/items?lang=en", name="list", kind="rest", settings=settings
            )
            assert (await world.sync("list")).counters.created == 3
            assert api.requests[0].path == "/items?lang=en&limit=100&page=1"


async def test_lists_in_the_query_are_sent_once_for_each(tmp_path: Path) -> None:
    settings = {"param.place": "a, b c", "repeat": "place"}
    async with an_api(tmp_path, items(3), settings) as (world, api):
        await world.sync("list")
        assert api.requests[0].path == "/items?place=a&place=b+c"


async def test_a_cursor_too_long_for_an_address_is_said(tmp_path: Path) -> None:
    async with an_api(tmp_path, [], PAGINGS["cursor"]) as (world, api):
        api.quirks.body = orjson.dumps({"items": items(3), "cursor": "x" * 3000})
        receipt = await world.sync("list")
        assert "more than 2000 characters" in (receipt.error or "")
        assert receipt.counters.created == 3


async def test_the_same_cursor_with_nothing_is_the_end(tmp_path: Path) -> None:
    async with an_api(tmp_path, items(3), PAGINGS["cursor"]) as (world, api):
        api.quirks.body_at = (1, orjson.dumps({"items": items(3), "cursor": "end"}))
        await world.sync("list")
        api.quirks.body = orjson.dumps({"items": [], "cursor": "end"})
        api.quirks.body_at = None
        api.before_page = lambda number: setattr(
            api.quirks,
            "body",
            orjson.dumps({"items": items(3) if number == 1 else [], "cursor": "end"}),
        )
        receipt = await world.sync("list")
        assert (receipt.status, receipt.counters.unchanged, api.count("list")) == (RunStatus.COMPLETED, 3, 2)


async def test_how_many_there_are_is_known_by_the_first_page(tmp_path: Path) -> None:
    async with an_api(tmp_path, items(45), PAGINGS["page"], TOTAL) as (world, api):
        source = await world.source("list")
        values = parameters.complete(KINDS["rest"].params, source.params)
        assert await KINDS["rest"].count(world.ports, source, values) == 45
        assert api.count() == 1


# the page about it


async def test_the_page_about_apis_names_every_setting_and_its_examples_work(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "rest.md").read_text("utf-8")
    for spec in KINDS["rest"].params:
        assert f"`{spec.name}" in page, spec.name
    listed = registry.read(page.partition("```toml")[2].partition("```")[0], file="rest.md")
    with ApiServer() as api:
        async with a_world(tmp_path, api) as world:
            for entry in listed.sources:
                await sources.add(
                    world.ports,
                    entry.location,
                    name=entry.name,
                    kind=entry.kind,
                    settings=dict(entry.settings),
                    check=False,
                )
            kinds = {source.name: source.kind for source in await world.store.sources()}
    assert kinds == {"python-madrid": "infojobs", "acme-jobs": "greenhouse", "tickets": "rest"}
