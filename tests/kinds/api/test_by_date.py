"""APIs asked by date: forward from the watermark, then back into the past, going on where it was cut off."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest

from rowen.core.rules.schedule import Failure
from rowen.core.run import Mode, RunStatus, StopReason
from rowen.engine.receipt import Receipt
from rowen.engine.run import sync, sync_part
from rowen.managing import sources
from tests.support.board_server import ApiServer, an_item, stamp
from tests.support.sizes import in_torture
from tests.support.world import World, a_world

pytestmark = pytest.mark.anyio

NOW = datetime(2024, 1, 1, tzinfo=UTC)
"""Where the clock of a world begins."""
DAY_S = 86_400.0
BASE = {
    "path": "/items",
    "items": "items",
    "updated": "updated",
    "total": "total",
    "window": "date",
    "paging": "page",
    "page_size": "10",
    "param.page": "{page}",
    "param.limit": "{limit}",
}
BY_DATE = {"param.since": "{since}", "param.until": "{until}"}
NEWEST_FIRST = {"order": "desc", "param.sort": "desc"}
DETAIL = {"detail": "/items/{id}", "text": "detail.body"}


def hourly(days: int, *, every: int = 6) -> list[dict[str, Any]]:
    """Items of so many days back, one every few hours; the newest is an hour old."""
    hours = range(1, days * 24, every)
    return [an_item(number, updated=stamp(NOW - timedelta(hours=number))) for number in hours]


@asynccontextmanager
async def an_api(
    folder: Path, rows: list[dict[str, Any]], *settings: Mapping[str, str]
) -> AsyncIterator[tuple[World, ApiServer]]:
    with ApiServer(rows) as api:
        async with a_world(folder, api) as world:
            given = dict(BASE)
            for one in settings:
                given |= one
            await sources.add(world.ports, api.url, name="list", kind="rest", settings=given, check=False)
            yield world, api


async def visible(world: World) -> set[str]:
    return set(await world.store.known((await world.source("list")).id))


async def turn(world: World) -> Receipt:
    world.site.clear_log()
    return await sync(world.ports, await world.source("list"))


async def part(world: World, number: int) -> Receipt:
    world.site.clear_log()
    return await sync_part(world.ports, await world.source("list"), part=number)


def of_last_hours(api: ApiServer, hours: int) -> set[str]:
    return {one for one in api.ids() if int(one) <= hours}


# forward


async def test_the_first_run_takes_the_last_day(tmp_path: Path) -> None:
    async with an_api(tmp_path, hourly(10), BY_DATE) as (world, api):
        receipt = await world.sync("list")
        assert (receipt.status, receipt.mode) == (RunStatus.COMPLETED, Mode.INCREMENTAL)
        assert (receipt.stop_reason, receipt.more) == (StopReason.WINDOW_EXHAUSTED, False)
        assert await visible(world) == of_last_hours(api, 24)
        assert (api.asked[0].value("since"), api.asked[0].value("until")) == (
            "2023-12-31T00:00:00Z",
            "2024-01-01T00:00:00Z",
        )
        source = await world.source("list")
        assert (source.watermark, source.last_processed_date) == (NOW, date(2023, 12, 31))


async def test_the_next_run_goes_on_from_the_watermark_with_overlap(tmp_path: Path) -> None:
    async with an_api(tmp_path, hourly(3), BY_DATE, {"overlap": "6h"}) as (world, api):
        await world.sync("list")
        world.clock.advance(2 * DAY_S)
        # It turned up late: its time is before the watermark.
        api.put(an_item(500, updated=stamp(NOW - timedelta(hours=3))))
        api.put(an_item(501, updated=stamp(NOW + timedelta(days=1))))
        receipt = await world.sync("list")
        assert api.asked[0].value("since") == "2023-12-31T18:00:00Z"
        assert receipt.counters.created == 2
        assert (await world.source("list")).watermark == NOW + timedelta(days=2)


async def test_a_window_without_news_is_a_good_run_that_writes_little(tmp_path: Path) -> None:
    async with an_api(tmp_path, [], BY_DATE) as (world, _):
        receipt = await world.sync("list")
        assert (receipt.status, receipt.generation) == (RunStatus.COMPLETED, 0)
        world.clock.advance(DAY_S)
        before = world.store.rows_written()
        assert (await world.sync("list")).status is RunStatus.COMPLETED
        assert world.store.rows_written() - before <= 9, (
            "the run and its state, one of them what was verified"
        )


async def test_absence_proves_nothing(tmp_path: Path) -> None:
    async with an_api(tmp_path, hourly(1), BY_DATE) as (world, api):
        await world.sync("list")
        api.rows = []
        assert (await world.sync("list")).counters.deleted == 0
        assert len(await visible(world)) == 4


@pytest.mark.parametrize(
    ("date_format", "since", "until"),
    [
        ("iso", "2023-12-31T10:30:00Z", "2024-01-01T10:30:00Z"),
        # The day that is not over yet belongs to the window.
        ("date", "2023-12-31", "2024-01-02"),
        ("unix", "1704018600", "1704105000"),
        ("unix_ms", "1704018600000", "1704105000000"),
    ],
)
async def test_dates_are_written_as_the_api_wants_them(
    tmp_path: Path, date_format: str, since: str, until: str
) -> None:
    settings = {"param.from": "{since}", "param.to": "{until}", "date_format": date_format}
    async with an_api(tmp_path, hourly(1), settings) as (world, api):
        world.clock.advance(10.5 * 3600)
        await world.sync("list")
        assert (api.asked[0].value("from"), api.asked[0].value("to")) == (since, until)


# newest first: the watermark ends the list


async def test_the_walk_ends_at_the_watermark(tmp_path: Path) -> None:
    # 240 items of ten days; the API cannot be asked by date.
    async with an_api(tmp_path, hourly(10, every=1), NEWEST_FIRST, DETAIL) as (world, api):
        receipt = await world.sync("list")
        assert (receipt.counters.created, api.count("detail")) == (24, 24)
        assert api.count("list") == 3
        world.clock.advance(DAY_S)
        for number in range(1, 13):
            api.put(an_item(1000 + number, updated=stamp(NOW + timedelta(hours=number))))
        receipt = await world.sync("list")
        # Twelve new ones and the overlap of a day, 36 in all, are on four pages.
        assert (receipt.counters.created, receipt.counters.unchanged) == (12, 24)
        assert (api.count("list"), api.count("detail")) == (4, 12)
        receipt = await world.sync("list")
        assert (api.count("list"), api.count("detail")) == (2, 0)


async def test_an_old_item_that_is_pinned_to_the_top_does_not_end_the_walk(tmp_path: Path) -> None:
    async with an_api(tmp_path, hourly(3, every=1), {"order": "desc"}) as (world, api):
        api.put(an_item(9999, updated="2020-01-01T00:00:00Z"), first=True)
        receipt = await world.sync("list")
        assert receipt.counters.created == 24
        assert "9999" not in await visible(world)


async def test_without_an_order_everything_is_looked_through(tmp_path: Path) -> None:
    async with an_api(tmp_path, hourly(3, every=1)) as (world, api):
        receipt = await world.sync("list")
        assert (receipt.counters.created, api.count("list")) == (24, 8)
        assert receipt.counters.ignored["outside_window"] == 47


async def test_oldest_first_a_day_of_history_ends_where_it_does(tmp_path: Path) -> None:
    rows = sorted(hourly(6, every=1), key=lambda one: str(one["updated"]))
    settings = {"order": "asc", "seed_days": "4", "seed_windows": "9"}
    async with an_api(tmp_path, rows, settings) as (world, api):
        await part(world, 0)
        assert api.count("list") == 15
        receipt = await part(world, 1)
        # Whatever is newer than that day is not asked for.
        assert (receipt.counters.created, api.count("list")) == (24, 12)
        await turn(world)
        assert await visible(world) == of_last_hours(api, 96)


async def test_where_no_history_is_wanted_there_is_none_to_take_in(tmp_path: Path) -> None:
    async with an_api(tmp_path, hourly(3), BY_DATE) as (world, api):
        await part(world, 0)
        receipt = await part(world, 1)
        assert (receipt.status, receipt.more, api.count()) == (RunStatus.COMPLETED, False, 0)


async def test_items_without_a_time_are_taken(tmp_path: Path) -> None:
    async with an_api(tmp_path, [an_item(1, updated=None), an_item(2, updated="soon")]) as (world, _):
        assert (await world.sync("list")).counters.created == 2


async def test_an_item_without_id_does_not_hold_the_window(tmp_path: Path) -> None:
    async with an_api(tmp_path, []) as (world, api):
        api.quirks.body_at = (
            1,
            orjson.dumps({"items": [{"title": "?"}, an_item(1, updated=stamp(NOW))], "total": 2}),
        )
        receipt = await world.sync("list")
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, 1)
        assert receipt.counters.ignored["without_id"] == 1
        assert (await world.source("list")).watermark == NOW


async def test_an_item_that_the_api_will_not_show_does_not_hold_the_window(tmp_path: Path) -> None:
    async with an_api(tmp_path, hourly(1), BY_DATE, DETAIL) as (world, api):
        api.quirks.detail_status = {"1": 400, "7": 404}
        receipt = await world.sync("list")
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, 2)
        assert (receipt.counters.ignored["refused"], receipt.counters.ignored["vanished"]) == (1, 1)
        assert (await world.source("list")).watermark == NOW


@pytest.mark.parametrize("status", [500, 403])
async def test_an_item_that_may_be_had_later_holds_the_window(tmp_path: Path, status: int) -> None:
    async with an_api(tmp_path, hourly(1), BY_DATE, DETAIL, {"seed_days": "5"}) as (world, api):
        api.quirks.detail_status = {"1": status}
        receipt = await turn(world)
        assert (receipt.status, receipt.counters.failed) == (RunStatus.PARTIAL, 1)
        assert (await world.source("list")).watermark is None
        api.quirks.detail_status = {}
        assert (await turn(world)).status is RunStatus.COMPLETED
        assert api.count("detail") == 1
        assert await visible(world) == api.ids()


@pytest.mark.parametrize("status", [500, 403])
async def test_an_item_that_never_answers_held_up_history_for_ever(tmp_path: Path, status: int) -> None:
    settings = {"seed_days": "4", "seed_windows": "9"}
    async with an_api(tmp_path, hourly(6), BY_DATE, DETAIL, settings) as (world, api):
        # One of the last day, and one of the day before the day before.
        api.quirks.detail_status = {"7": status, "55": status}
        for _ in range(2):
            receipt = await turn(world)
            assert (receipt.counters.failed, receipt.hint) == (1, None)
            assert (await world.source("list")).watermark is None
        receipt = await turn(world)
        source = await world.source("list")
        assert (receipt.status, source.watermark is None) == (RunStatus.PARTIAL, False)
        assert "1 item failed in 3 runs in a row or more (`7`)" in (receipt.hint or "")
        assert source.metadata["incomplete_days"] == ["2023-12-31: 7"]
        # History begins, up to the other one.
        assert source.last_processed_date == date(2023, 12, 30)
        await turn(world)
        assert (await world.source("list")).last_processed_date == date(2023, 12, 30)
        receipt = await turn(world)
        source = await world.source("list")
        assert source.last_processed_date == date(2023, 12, 28)
        assert source.metadata["incomplete_days"] == ["2023-12-31: 7", "2023-12-29: 55"]
        assert await visible(world) == of_last_hours(api, 96) - {"7", "55"}


async def test_an_item_that_was_given_up_is_asked_for_again_and_forgotten_when_it_answers(
    tmp_path: Path,
) -> None:
    async with an_api(tmp_path, hourly(1), BY_DATE, DETAIL) as (world, api):
        api.quirks.detail_status = {"7": 500}
        for number in range(5):
            receipt = await turn(world)
            assert (receipt.status, receipt.counters.failed) == (RunStatus.PARTIAL, 1), number
        api.quirks.detail_status = {}
        receipt = await turn(world)
        assert (receipt.status, receipt.counters.created, receipt.hint) == (RunStatus.COMPLETED, 1, None)
        metadata = (await world.source("list")).metadata
        assert (metadata["failing"], metadata["incomplete_days"]) == (None, None)


async def test_an_item_that_answers_in_between_holds_the_window_anew(tmp_path: Path) -> None:
    async with an_api(tmp_path, hourly(1), BY_DATE, DETAIL) as (world, api):
        for status in (500, 500, 404, 500, 500):
            api.quirks.detail_status = {"7": status}
            await turn(world)
        assert (await world.source("list")).metadata["failing"] == {"7": 2}


async def test_a_server_that_fails_for_most_items_is_waited_for(tmp_path: Path) -> None:
    async with an_api(tmp_path, hourly(1, every=1), BY_DATE, DETAIL) as (world, api):
        api.quirks.detail_status = dict.fromkeys(sorted(api.ids())[:12], 403)
        for _ in range(5):
            receipt = await turn(world)
        assert (await world.source("list")).watermark is None
        assert "12 items failed in 3 runs in a row or more" in (receipt.hint or "")
        assert "too many to go on without them" in (receipt.hint or "")
        api.quirks.detail_status = {}
        assert (await turn(world)).status is RunStatus.COMPLETED
        assert await visible(world) == api.ids()


async def test_a_known_item_that_never_answers_does_not_stop_the_round(tmp_path: Path) -> None:
    settings = {"recheck": "2", "overlap": "0s"}
    async with an_api(tmp_path, hourly(1), BY_DATE, DETAIL, settings) as (world, api):
        await world.sync("list")
        world.clock.advance(10 * DAY_S)
        known = sorted(await visible(world))
        api.quirks.detail_status = {known[0]: 500}
        for _ in range(3):
            await world.sync("list")
        source = await world.source("list")
        assert source.metadata["rechecked"] == known[1]
        assert source.watermark is not None
        assert source.watermark > NOW + timedelta(days=9)


async def test_items_that_go_while_a_window_is_read_let_no_other_slip_through(tmp_path: Path) -> None:
    async with an_api(tmp_path, hourly(1, every=1), BY_DATE) as (world, api):
        api.before_page = lambda number: api.remove(2) if number == 2 else None
        receipt = await world.sync("list")
        assert receipt.status is RunStatus.COMPLETED
        assert api.ids() <= await visible(world)


# history


@pytest.mark.parametrize("by_date", [True, False])
async def test_history_is_taken_in_day_by_day(tmp_path: Path, by_date: bool) -> None:
    settings = {"seed_days": "10", "seed_windows": "4"}
    how = BY_DATE if by_date else NEWEST_FIRST
    async with an_api(tmp_path, hourly(30), how, settings, DETAIL) as (world, api):
        receipt = await turn(world)
        assert (receipt.status, receipt.stop_reason) == (RunStatus.COMPLETED, StopReason.WINDOW_EXHAUSTED)
        # The last day, then four more.
        assert await visible(world) == of_last_hours(api, 5 * 24)
        source = await world.source("list")
        assert source.last_processed_date == date(2023, 12, 27)
        assert source.watermark == NOW
        await turn(world)
        assert (await world.source("list")).last_processed_date == date(2023, 12, 23)
        receipt = await turn(world)
        assert (await world.source("list")).last_processed_date == date(2023, 12, 22)
        assert not receipt.more
        assert await visible(world) == of_last_hours(api, 10 * 24)
        # All is in: from now on there are forward windows only, and they cost no detail.
        receipt = await turn(world)
        assert api.count("detail") == 0
        assert await visible(world) == of_last_hours(api, 10 * 24)
        runs = await world.store.runs(source.id, limit=100)
        assert len(runs) == 5 + 5 + 2 + 1


@pytest.mark.parametrize("day", [1, 4, 7, *in_torture(2, 3, 5, 6)])
@pytest.mark.parametrize("how", ["rate_limited", "server", "killed"])
async def test_seeding_goes_on_where_it_was_interrupted(tmp_path: Path, day: int, how: str) -> None:
    settings = {"seed_days": "8", "seed_windows": "20"}
    async with an_api(tmp_path, hourly(12, every=2), BY_DATE, settings, DETAIL) as (world, api):
        await part(world, 0)
        for number in range(1, day):
            await part(world, number)
        reached = (await world.source("list")).last_processed_date
        assert reached == date(2023, 12, 31) - timedelta(days=day - 1)
        if how == "killed":
            await killed(world, api, day)
        else:
            # In the middle of a day: some of its items are in.
            api.quirks.rate_limit_at = 5 if how == "rate_limited" else 0
            api.quirks.status_at = (3, 500) if how == "server" else None
            world.site.clear_log()
            api.quirks.detail_status = {str(one["id"]): 500 for one in api.rows} if how == "server" else {}
            receipt = await part(world, day)
            assert receipt.status in (RunStatus.PARTIAL, RunStatus.FAILED)
            assert not receipt.more
        api.quirks.rate_limit_at, api.quirks.status_at, api.quirks.detail_status = 0, None, {}
        assert (await world.source("list")).last_processed_date == reached
        await turn(world)
        assert (await world.source("list")).last_processed_date == date(2023, 12, 24)
        assert await visible(world) == of_last_hours(api, 8 * 24)


async def killed(world: World, api: ApiServer, number: int) -> None:
    """A run that ends as if its process had been ended from outside."""
    import asyncio

    running = asyncio.ensure_future(sync_part(world.ports, await world.source("list"), part=number))
    world.site.clear_log()
    api.before_page = lambda page: running.get_loop().call_soon_threadsafe(running.cancel) and None
    with pytest.raises(asyncio.CancelledError):
        await running
    api.before_page = None


async def test_a_rate_limit_in_the_middle_of_a_window_keeps_what_came(tmp_path: Path) -> None:
    async with an_api(tmp_path, hourly(1, every=1), BY_DATE, {"seed_days": "5"}) as (world, api):
        api.quirks.rate_limit_at = 3
        receipt = await turn(world)
        assert (receipt.stop_reason, receipt.failure) == (StopReason.RATE_LIMITED, Failure.RATE_LIMIT)
        assert receipt.counters.created == 20
        source = await world.source("list")
        assert (source.watermark, source.last_processed_date) == (None, None)
        api.quirks.rate_limit_at = 0
        await turn(world)
        assert await visible(world) == api.ids()


@pytest.mark.parametrize("cap", [{"max_pages": "1"}, {"max_items": "10"}])
async def test_a_cap_keeps_the_forward_window_where_it_is(tmp_path: Path, cap: dict[str, str]) -> None:
    async with an_api(tmp_path, hourly(2, every=1), BY_DATE, cap, {"seed_days": "5"}) as (world, _):
        receipt = await turn(world)
        assert receipt.stop_reason in (StopReason.MAX_PAGES, StopReason.MAX_ITEMS)
        assert receipt.hint
        source = await world.source("list")
        assert (source.watermark, source.last_processed_date, receipt.more) == (None, None, False)


async def test_a_day_of_history_that_is_always_too_much_does_not_hold_up_the_days_before(
    tmp_path: Path,
) -> None:
    rows = [*hourly(6), *(an_item(10_000 + n, updated=stamp(NOW - timedelta(days=2.5))) for n in range(40))]
    settings = {"seed_days": "5", "seed_windows": "10", "max_pages": "2"}
    async with an_api(tmp_path, rows, BY_DATE, settings) as (world, api):
        receipt = await turn(world)
        assert receipt.status is RunStatus.COMPLETED
        source = await world.source("list")
        assert source.last_processed_date == date(2023, 12, 27)
        assert source.metadata["incomplete_days"] == ["2023-12-29"]
        assert "2023-12-29 is not complete" in (receipt.hint or "")
        assert len(await visible(world)) == 4 * 4 + 20
        assert api.count("list") == 5 + 1


@pytest.mark.torture
async def test_the_list_of_incomplete_days_is_bounded(tmp_path: Path) -> None:
    settings = {"seed_days": "130", "seed_windows": "200", "max_items": "1"}
    async with an_api(tmp_path, hourly(140, every=12), BY_DATE, settings) as (world, _):
        # The forward window must be whole: there is one item in it.
        world.site.rows = [one for one in world.site.rows if int(one["id"]) != 13]  # type: ignore[attr-defined]
        await turn(world)
        days = (await world.source("list")).metadata["incomplete_days"]
        assert len(days) == 100
        assert days[-1] == (NOW.date() - timedelta(days=130)).isoformat()


# known items that are not listed any more


async def test_known_items_are_asked_for_again_a_few_each_time(tmp_path: Path) -> None:
    settings = {"recheck": "3", "overlap": "0s", "seed_days": "4", "seed_windows": "9"}
    async with an_api(tmp_path, hourly(4, every=12), BY_DATE, DETAIL, settings) as (world, api):
        await turn(world)
        known = sorted(await visible(world))
        assert len(known) == 8
        world.clock.advance(10 * DAY_S)
        asked: list[str] = []
        for _ in range(4):
            await world.sync("list")
            asked += sorted(one.path.rpartition("/")[2] for one in api.requests if "/items/" in one.path)
        assert asked[:6] == known[:6]
        # The last two, and round again.
        assert sorted(asked[6:9]) == sorted([*known[6:], known[0]])
        assert asked[9:] == known[1:4]
        for one in known[:2]:
            api.remove(int(one))
        receipts = [await world.sync("list") for _ in range(3)]
        assert sum(receipt.counters.deleted for receipt in receipts) == 2
        assert await visible(world) == set(known[2:])


async def test_a_recheck_that_gets_no_answer_deletes_nothing(tmp_path: Path) -> None:
    settings = {"recheck": "10", "overlap": "0s"}
    async with an_api(tmp_path, hourly(1), BY_DATE, DETAIL, settings) as (world, api):
        await world.sync("list")
        world.clock.advance(10 * DAY_S)
        api.quirks.detail_status = dict(zip(sorted(api.ids()), (500, 403, 400, 200), strict=True))
        receipt = await world.sync("list")
        assert (receipt.counters.deleted, receipt.counters.failed) == (0, 3)
        assert len(await visible(world)) == 4


async def test_details_that_are_away_for_an_hour_delete_nothing(tmp_path: Path) -> None:
    settings = {"recheck": "2", "seed_days": "9", "seed_windows": "9"}
    async with an_api(tmp_path, hourly(8, every=12), BY_DATE, DETAIL, settings) as (world, api):
        await turn(world)
        known = await visible(world)
        assert len(known) == 16
        world.clock.advance(DAY_S)
        api.quirks.detail_status = dict.fromkeys([*api.ids(), "500"], 404)
        # It is new in that hour.
        api.put(an_item(500, updated=stamp(NOW + timedelta(hours=20))))
        for _ in range(9):
            receipt = await world.sync("list")
            assert (receipt.status, receipt.counters.deleted) == (RunStatus.PARTIAL, 0)
            assert receipt.counters.failed
        assert await visible(world) == known
        api.quirks.detail_status = {}
        assert (await world.sync("list")).status is RunStatus.COMPLETED
        assert await visible(world) == known | {"500"}


async def test_history_whose_details_are_away_is_asked_for_again(tmp_path: Path) -> None:
    settings = {"seed_days": "4", "seed_windows": "9"}
    async with an_api(tmp_path, hourly(3), BY_DATE, DETAIL, settings) as (world, api):
        api.quirks.detail_status = dict.fromkeys(api.ids(), 410)
        receipt = await turn(world)
        assert (receipt.counters.failed, receipt.more) == (4, False)
        api.quirks.detail_status = {}
        await turn(world)
        assert await visible(world) == api.ids()


async def test_items_that_are_gone_go_though_no_other_is_new(tmp_path: Path) -> None:
    settings = {"recheck": "1", "overlap": "0s"}
    async with an_api(tmp_path, hourly(1), BY_DATE, DETAIL, settings) as (world, api):
        await world.sync("list")
        world.clock.advance(10 * DAY_S)
        api.remove(1)
        receipt = await world.sync("list")
        assert (receipt.counters.deleted, api.count("detail")) == (1, 2)


async def test_a_rate_limit_while_checking_again_ends_the_run(tmp_path: Path) -> None:
    settings = {"recheck": "10", "overlap": "0s"}
    async with an_api(tmp_path, hourly(1), BY_DATE, DETAIL, settings) as (world, api):
        await world.sync("list")
        world.clock.advance(10 * DAY_S)
        api.quirks.rate_limit_at = 3
        receipt = await world.sync("list")
        assert receipt.stop_reason == StopReason.RATE_LIMITED
        assert len(await visible(world)) == 4


# names for spans of time


@pytest.mark.parametrize(
    ("days", "sent"), [(0, "DAY"), (0.9, "WEEK"), (5, "WEEK"), (6.5, "MONTH"), (40, "EVER")]
)
async def test_the_smallest_bucket_that_reaches_back_to_the_watermark_is_asked_for(
    tmp_path: Path, days: float, sent: str
) -> None:
    buckets = {"bucket.EVER": "any", "bucket.DAY": "1d", "bucket.MONTH": "30d", "bucket.WEEK": "7d"}
    async with an_api(tmp_path, hourly(1), buckets, {"param.age": "{bucket}"}, NEWEST_FIRST) as (world, api):
        await world.sync("list")
        assert api.asked[0].value("age") == "DAY"
        if days:
            world.clock.advance(days * DAY_S)
            await world.sync("list")
        assert api.asked[0].value("age") == sent
