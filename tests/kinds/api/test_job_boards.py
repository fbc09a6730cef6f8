"""Job boards: what becomes of an offer, and how little is asked when nothing changed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from rowen.core.rules.schedule import Failure
from rowen.core.run import RunStatus, StopReason
from rowen.core.search.hit import Filters
from rowen.engine.receipt import Receipt
from rowen.engine.run import sync
from rowen.errors import BadLocation, ConfigError
from rowen.kinds.api.kind import KINDS
from rowen.managing import sources
from rowen.managing.sources import _kind_of
from tests.support.board_server import (
    ApiServer,
    Greenhouse,
    InfoJobs,
    Lever,
    a_greenhouse_job,
    a_lever_posting,
    an_infojobs_offer,
    stamp,
)
from tests.support.world import World, a_world

pytestmark = pytest.mark.anyio

NOW = datetime(2024, 1, 1, tzinfo=UTC)
BASIC = {"basic": "${INFOJOBS_ID}:${INFOJOBS_SECRET}"}


@asynccontextmanager
async def a_board(
    folder: Path, api: ApiServer, kind: str, path: str, settings: dict[str, str] | None = None
) -> AsyncIterator[World]:
    with api:
        async with a_world(folder, api) as world:
            world.secrets |= {"INFOJOBS_ID": "client-id", "INFOJOBS_SECRET": "client-secret-value"}
            await sources.add(world.ports, api.url + path, name="jobs", kind=kind, settings=settings or {})
            api.clear_log()
            yield world


def greenhouse(folder: Path, jobs: int) -> tuple[Greenhouse, Any]:
    api = Greenhouse(a_greenhouse_job(number) for number in range(jobs))
    return api, a_board(folder, api, "greenhouse", "/v1/boards/acme")


def lever(folder: Path, postings: int) -> tuple[Lever, Any]:
    api = Lever(a_lever_posting(number) for number in range(postings))
    return api, a_board(folder, api, "lever", "/v0/postings/acme")


def infojobs(folder: Path, offers: list[dict[str, Any]], **settings: str) -> tuple[InfoJobs, Any]:
    api = InfoJobs(offers)
    given = {**BASIC, "seed_days": "0", **{key.replace("__", "."): value for key, value in settings.items()}}
    return api, a_board(folder, api, "infojobs", "", given)


def hours_ago(*hours: float) -> list[dict[str, Any]]:
    return [an_infojobs_offer(int(one * 10), NOW - timedelta(hours=one)) for one in hours]


async def metadata(world: World) -> dict[str, dict[str, Any]]:
    return await world.store.metadata((await world.source("jobs")).id)


async def turn(world: World) -> Receipt:
    world.site.clear_log()
    return await sync(world.ports, await world.source("jobs"))


# greenhouse


async def test_a_greenhouse_job_becomes_a_document(tmp_path: Path) -> None:
    _, board = greenhouse(tmp_path, 3)
    async with board as world:
        receipt = await world.sync("jobs")
        assert (receipt.status, receipt.counters.created, receipt.counters.requests) == (
            RunStatus.COMPLETED,
            3,
            1,
        )
        hit = (await world.search("engine")).hits[0]
        assert hit.title.startswith("Engineer")
        assert hit.url.startswith("https://boards.greenhouse.io/acme/jobs/400000")
        assert (await metadata(world))["4000001"] == {
            "company": "Acme Corp",
            "place": "Berlin, Germany",
            "category": "Engineering",
            "posted_at": "2023-12-01T14:00:00+00:00",
            "updated_at": "2023-12-20T15:00:00+00:00",
            "offer": {
                "provider": "greenhouse",
                "id": "4000001",
                "company": {"id": "acme", "name": "Acme Corp"},
                "place": "Berlin, Germany",
                "posted_at": "2023-12-01T14:00:00+00:00",
                "updated_at": "2023-12-20T15:00:00+00:00",
            },
        }


async def test_html_in_disguise_becomes_markdown(tmp_path: Path) -> None:
    _, board = greenhouse(tmp_path, 1)
    async with board as world:
        await world.sync("jobs")
        shown = " ".join([(await world.search(word)).hits[0].snippet for word in ("work", "know")])
        assert "on & with engine" in shown
        assert "&lt;" not in shown
        assert "<" not in shown
        assert (await world.search("know")).hits[0].heading_path.endswith("You")


async def test_an_unchanged_greenhouse_board_costs_one_request_without_a_body(tmp_path: Path) -> None:
    api, board = greenhouse(tmp_path, 50)
    async with board as world:
        await world.sync("jobs")
        receipt = await world.sync("jobs")
        assert [one.status for one in api.asked] == [304]
        assert (receipt.counters.bytes_received, receipt.counters.parses) == (0, 0)


async def test_a_changed_greenhouse_job_is_the_only_one_read(tmp_path: Path) -> None:
    api, board = greenhouse(tmp_path, 50)
    async with board as world:
        await world.sync("jobs")
        api.edit(4_000_007, content="&lt;p&gt;Quite something else&lt;/p&gt;")
        api.remove(4_000_009)
        api.put(a_greenhouse_job(99))
        receipt = await world.sync("jobs")
        counters = receipt.counters
        assert (counters.created, counters.updated, counters.deleted, counters.unchanged) == (1, 1, 1, 48)
        assert counters.parses == 2


async def test_a_board_with_no_jobs_is_a_good_board(tmp_path: Path) -> None:
    _, board = greenhouse(tmp_path, 0)
    async with board as world:
        receipt = await world.sync("jobs")
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, 0)


# lever


async def test_a_lever_posting_becomes_a_document(tmp_path: Path) -> None:
    _, board = lever(tmp_path, 2)
    async with board as world:
        receipt = await world.sync("jobs")
        assert receipt.counters.created == 2
        assert (await metadata(world))["0000-0001"] == {
            "company": "acme",
            "place": "Lisbon",
            "country": "PT",
            "contract": "Full-time",
            "category": "Design",
            "remote": "hybrid",
            "posted_at": "2023-12-01T10:00:00+00:00",
            "offer": {
                "provider": "lever",
                "id": "0000-0001",
                "company": {"id": "acme", "name": "acme"},
                "place": "Lisbon",
                "posted_at": "2023-12-01T10:00:00+00:00",
            },
        }
        hits = (await world.search("pencil", limit=1)).hits
        assert hits[0].heading_path.endswith("What you bring")
        assert (await world.search("soon")).hits


async def test_a_lever_site_is_read_page_by_page_and_once(tmp_path: Path) -> None:
    api, board = lever(tmp_path, 250)
    async with board as world:
        receipt = await world.sync("jobs")
        assert (receipt.counters.created, receipt.counters.parses) == (250, 250)
        assert receipt.counters.pages <= 4
        api.remove("0000-0003")
        api.edit("0000-0200", text="Head of Design")
        receipt = await world.sync("jobs")
        counters = receipt.counters
        assert (counters.updated, counters.deleted, counters.unchanged, counters.parses) == (1, 1, 248, 1)


async def test_an_unchanged_small_lever_site_downloads_nothing_but_the_word_that_there_is_no_more(
    tmp_path: Path,
) -> None:
    api, board = lever(tmp_path, 20)
    async with board as world:
        await world.sync("jobs")
        receipt = await world.sync("jobs")
        assert [one.status for one in api.asked] == [304, 200]
        assert receipt.counters.bytes_received == len(b"[]")


# infojobs


async def test_an_infojobs_offer_becomes_a_document(tmp_path: Path) -> None:
    api, board = infojobs(tmp_path, hours_ago(1), param__q="developer")
    async with board as world:
        receipt = await world.sync("jobs")
        assert receipt.counters.created == 1
        assert (await metadata(world))["offer0010"] == {
            "company": "Acme S.L.",
            "place": "Getafe",
            "province": "Madrid",
            "country": "España",
            "contract": "Indefinido",
            "remote": "Solo teletrabajo",
            "category": "Informática y telecomunicaciones",
            "salary": "30.000€ - 36.000€ Bruto/año",
            "posted_at": "2023-12-30T23:00:00+00:00",
            "updated_at": "2023-12-31T23:00:00+00:00",
            "offer": {
                "provider": "infojobs",
                "id": "offer0010",
                "company": {"id": "c1", "name": "Acme S.L.", "website": "https://acme.example"},
                "place": "Getafe",
                "posted_at": "2023-12-30T23:00:00+00:00",
                "updated_at": "2023-12-31T23:00:00+00:00",
            },
        }
        answer = await world.search("anywhere", filters=Filters(metadata={"province": "Madrid"}))
        assert answer.hits[0].url == "https://www.infojobs.net/getafe/developer/of-i0010"
        assert (await world.search("Python")).hits[0].heading_path.endswith("Requirements")
        asked = api.asked[0]
        assert {name: asked.value(name) for name in asked.params} == {
            "q": "developer",
            "sinceDate": "_24_HOURS",
            "order": "updated-desc",
            "maxResults": "50",
            "page": "1",
        }


async def test_infojobs_is_asked_for_details_of_what_is_new_or_promoted_only(tmp_path: Path) -> None:
    api, board = infojobs(tmp_path, hours_ago(*range(1, 21)))
    async with board as world:
        await world.sync("jobs")
        assert (api.count("list"), api.count("detail")) == (1, 20)
        world.clock.advance(3600)
        api.now = NOW + timedelta(hours=1)
        # More applicants are no news.
        api.edit("offer0030", applications="99")
        receipt = await world.sync("jobs")
        assert (api.count("list"), api.count("detail"), receipt.generation) == (1, 0, 1)
        api.edit("offer0040", updated=stamp(NOW + timedelta(minutes=30)), description="Now with a bonus.")
        receipt = await world.sync("jobs")
        assert (api.count("detail"), receipt.counters.updated) == (1, 1)
        assert await world.found("bonus")


async def test_infojobs_stops_at_the_watermark(tmp_path: Path) -> None:
    # Offers of six days, twenty a day; the bucket of a week would be three pages.
    offers = hours_ago(*(one * 1.2 for one in range(1, 121)))
    api, board = infojobs(tmp_path, offers)
    async with board as world:
        receipt = await world.sync("jobs")
        assert (receipt.counters.created, api.count("list")) == (20, 1)
        world.clock.advance(43_200)
        api.now = NOW + timedelta(hours=12)
        receipt = await world.sync("jobs")
        assert api.asked[0].value("sinceDate") == "_7_DAYS"
        assert (api.count("list"), api.count("detail")) == (1, 0)
        assert receipt.counters.unchanged == 20


async def test_infojobs_takes_in_the_past_day_by_day(tmp_path: Path) -> None:
    offers = hours_ago(*(one * 12.0 + 1 for one in range(60)))
    api, board = infojobs(tmp_path, offers, seed_days="20", seed_windows="8")
    async with board as world:
        seen: list[int] = []
        buckets: list[str | None] = []
        for _ in range(3):
            await turn(world)
            seen.append(len(await metadata(world)))
            buckets += [one.value("sinceDate") for one in api.asked if one.what == "list"]
        assert seen == [18, 34, 40]
        assert (await world.source("jobs")).last_processed_date == date(2023, 12, 12)
        assert set(buckets) == {"_24_HOURS", "_7_DAYS", "_15_DAYS", "ANY"}
        await turn(world)
        assert (api.count("list"), api.count("detail")) == (1, 0)


async def test_a_page_size_that_infojobs_does_not_answer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="expected 1 to 50"):
        async with infojobs(tmp_path, [], page_size="51")[1]:
            raise AssertionError


async def test_several_provinces_are_sent_one_by_one(tmp_path: Path) -> None:
    api, board = infojobs(tmp_path, hours_ago(1, 2), param__province="madrid,barcelona")
    async with board as world:
        await world.sync("jobs")
        assert api.asked[0].params["province"] == ["madrid", "barcelona"]


async def test_wrong_credentials_at_infojobs_are_fatal_and_not_shown(tmp_path: Path) -> None:
    _, board = infojobs(tmp_path, hours_ago(1))
    async with board as world:
        world.secrets["INFOJOBS_SECRET"] = "another-secret-value"
        receipt = await world.sync("jobs")
        assert receipt.failure is Failure.FATAL
        assert "`basic`" in (receipt.hint or "")
        assert "another-secret-value" not in f"{receipt}"


async def test_a_rate_limit_at_infojobs_keeps_what_came_and_the_day_is_asked_again(tmp_path: Path) -> None:
    api, board = infojobs(tmp_path, hours_ago(*range(1, 21)), seed_days="3")
    async with board as world:
        api.quirks.rate_limit_at = 8
        receipt = await turn(world)
        assert receipt.stop_reason == StopReason.RATE_LIMITED
        assert 0 < receipt.counters.created < 20
        assert (await world.source("jobs")).watermark is None
        had, api.quirks.rate_limit_at = receipt.counters.created, 0
        await turn(world)
        assert api.count("detail") == 20 - had
        assert len(await metadata(world)) == 20


# finding them


@pytest.mark.parametrize(
    ("location", "kind", "home"),
    [
        (
            "https://boards.greenhouse.io/acme",
            "greenhouse",
            "https://boards-api.greenhouse.io/v1/boards/acme",
        ),
        (
            "https://boards.greenhouse.io/acme/jobs/12",
            "greenhouse",
            "https://boards-api.greenhouse.io/v1/boards/acme",
        ),
        (
            "https://job-boards.greenhouse.io/acme/",
            "greenhouse",
            "https://boards-api.greenhouse.io/v1/boards/acme",
        ),
        (
            "https://boards.greenhouse.io/embed/job_board?for=acme",
            "greenhouse",
            "https://boards-api.greenhouse.io/v1/boards/acme",
        ),
        (
            "https://boards-api.greenhouse.io/v1/boards/acme/jobs",
            "greenhouse",
            "https://boards-api.greenhouse.io/v1/boards/acme",
        ),
        ("https://jobs.lever.co/acme", "lever", "https://api.lever.co/v0/postings/acme"),
        ("https://jobs.eu.lever.co/acme/some-id", "lever", "https://api.eu.lever.co/v0/postings/acme"),
        ("https://api.lever.co/v0/postings/acme?mode=json", "lever", "https://api.lever.co/v0/postings/acme"),
        ("https://www.infojobs.net/", "infojobs", "https://api.infojobs.net/"),
        ("api.infojobs.net", "infojobs", "https://api.infojobs.net/"),
    ],
)
async def test_a_board_is_known_by_its_host(tmp_path: Path, location: str, kind: str, home: str) -> None:
    with ApiServer() as api:
        async with a_world(tmp_path, api) as world:
            assert _kind_of(world.ports, location).name == kind
            added = await sources.add(world.ports, location, name="jobs", check=False)
            assert (added.source.kind, added.source.location) == (kind, home)


@pytest.mark.parametrize(
    ("kind", "location", "home"),
    [
        ("greenhouse", "acme", "https://boards-api.greenhouse.io/v1/boards/acme"),
        ("lever", "acme", "https://api.lever.co/v0/postings/acme"),
        ("lever", "jobs.lever.co/acme", "https://api.lever.co/v0/postings/acme"),
        ("infojobs", "infojobs", "https://api.infojobs.net/"),
    ],
)
async def test_a_bare_name_is_enough_when_the_kind_is_named(
    tmp_path: Path, kind: str, location: str, home: str
) -> None:
    with ApiServer() as api:
        async with a_world(tmp_path, api) as world:
            added = await sources.add(world.ports, location, name="jobs", kind=kind, check=False)
            assert added.source.location == home


@pytest.mark.parametrize(
    ("kind", "location"),
    [("greenhouse", "https://boards.greenhouse.io/"), ("lever", "https://jobs.lever.co"), ("lever", "a b")],
)
async def test_a_location_that_names_no_company_is_refused(tmp_path: Path, kind: str, location: str) -> None:
    with ApiServer() as api:
        async with a_world(tmp_path, api) as world:
            with pytest.raises(BadLocation) as caught:
                await sources.add(world.ports, location, name="jobs", kind=kind, check=False)
            assert "names no company" in caught.value.message


def test_the_settings_of_a_board_are_those_that_make_sense() -> None:
    names = {spec.name for spec in KINDS["greenhouse"].params}
    assert {"param", "meta", "max_items", "bearer", "basic", "header", "cookie"} <= names
    assert not {"items", "paging", "detail", "path"} & names
    assert {"seed_days", "overlap", "recheck"} <= {spec.name for spec in KINDS["infojobs"].params}


async def test_a_board_takes_further_metadata(tmp_path: Path) -> None:
    api = Greenhouse([a_greenhouse_job(1)])
    settings = {"meta.office": "offices[].name"}
    async with a_board(tmp_path, api, "greenhouse", "/v1/boards/acme", settings) as world:
        await world.sync("jobs")
        found = (await metadata(world))["4000001"]
        assert (found["office"], found["company"]) == (["Berlin"], "Acme Corp")


async def test_answers_of_another_shape_are_said(tmp_path: Path) -> None:
    for number, (make, path) in enumerate(((Greenhouse, "/v1/boards/acme"), (Lever, "/v0/postings/acme"))):
        folder = tmp_path / str(number)
        folder.mkdir()
        api = make([a_greenhouse_job(1), a_lever_posting(2)][number : number + 1])
        async with a_board(folder, api, make.__name__.lower(), path) as world:
            await world.sync("jobs")
            api.quirks.body = b'{"ok": false, "error": "Document not found"}'
            receipt = await world.sync("jobs")
            assert "an object with `ok`, `error`" in (receipt.error or "")
            assert len(await metadata(world)) == 1
