"""Syncs by HTTP: one run for many callers, receipts with handoffs, and runs nobody waits for."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from rowen.core.safety.access import Scope
from rowen.engine.run import sync
from rowen.ports.store.notes import Pause
from tests.doors.rest.conftest import Api, serving
from tests.support.gate import Gate
from tests.support.site import html
from tests.support.world import World, a_page

pytestmark = pytest.mark.anyio

SYNC = "/scraping/docs/sync"


async def test_two_hundred_calls_at_once_are_one_run_and_all_get_its_receipt(api: Api) -> None:
    answers = await asyncio.gather(*(api.post(SYNC) for _ in range(200)))
    assert {answer.status for answer in answers} == {200}
    assert all(answer.json == answers[0].json for answer in answers)
    listed = await api.get("/api/v1/sources/docs/runs")
    assert [run["run_id"] for run in listed.json["runs"]] == [answers[0].json["run_id"]]


@pytest.mark.parametrize("prefix", ["", "/api/v1"])
async def test_a_sync_answers_with_its_receipt_and_what_became_of_its_handoffs(api: Api, prefix: str) -> None:
    receipt = (await api.post(f"{prefix}/scraping/docs/sync")).json
    assert (receipt["source"], receipt["status"], receipt["created"]) == ("docs", "completed", 3)
    assert receipt["scrape_run_id"] == receipt["run_id"]
    assert receipt["handoff_queued_count"] == receipt["handoff_completed_count"] == 3
    assert receipt["handoff_failed_count"] == receipt["handoff_skipped_count"] == 0
    again = (await api.post(f"{prefix}/scraping/docs/sync")).json
    assert (again["not_modified"], again["handoff_queued_count"]) == (3, 0)


async def test_a_full_sync_asks_for_everything_again(harvested: Api) -> None:
    receipt = (await harvested.post(SYNC + "?full=true")).json
    assert (receipt["mode"], receipt["not_modified"], receipt["unchanged"]) == ("full", 0, 3)


async def test_text_stored_without_vectors_counts_as_skipped(api: Api) -> None:
    api.world.embedder.down = True
    receipt = (await api.post(SYNC)).json
    assert (receipt["skipped"], receipt["handoff_skipped_count"]) == (3, 3)
    assert (receipt["handoff_queued_count"], receipt["handoff_completed_count"]) == (3, 0)


async def test_a_run_that_failed_is_an_answer_too(api: Api) -> None:
    api.world.site.everything_answers(401)
    answer = await api.post(SYNC)
    assert (answer.status, answer.json["status"]) == (200, "failed")
    assert answer.json["error"]


@pytest.mark.usefixtures("patient_begin")
async def test_whoever_does_not_wait_is_told_where_to_look(api: Api) -> None:
    gate = Gate()
    api.world.site.set("/rye", html("Rye", "late"), delay=gate)
    begun = await api.post(SYNC + "?wait=false")
    assert (begun.status, begun.json["state"]) == (202, "running")
    assert begun.headers["Location"] == begun.json["location"]
    assert (await api.get(begun.headers["Location"])).json["status"] == "running"
    gate.set()
    joined = await api.post(SYNC)
    assert joined.json["run_id"] == begun.json["scrape_run_id"]
    assert (await api.get(begun.headers["Location"])).json["status"] == "completed"


async def test_a_run_that_waits_for_its_turn_is_queued(api: Api, impatient_begin: None) -> None:
    await api.world.add("other", path="/oats")
    gate = Gate()
    api.world.site.set("/rye", html("Rye", "late"), delay=gate)
    first = asyncio.create_task(api.post(SYNC))
    await gate.reached()
    queued = await api.post("/scraping/other/sync?wait=false")
    assert (queued.status, queued.json["state"], queued.json["scrape_run_id"]) == (202, "queued", None)
    assert (await api.get(queued.headers["Location"])).json == {"runs": []}
    gate.set()
    await first
    assert (await api.post("/scraping/other/sync")).json["run_id"] == 2


async def test_an_older_run_is_not_shown_as_the_one_that_waits(harvested: Api, impatient_begin: None) -> None:
    await harvested.world.add("other", path="/oats")
    gate = Gate()
    harvested.world.site.set("/oats", html("Oats", "late"), delay=gate)
    first = asyncio.create_task(harvested.post("/scraping/other/sync"))
    await gate.reached()
    queued = await harvested.post(SYNC + "?wait=false")
    assert queued.headers["Location"] == "/api/v1/sources/docs/runs?after_run=1"
    assert (await harvested.get(queued.headers["Location"])).json == {"runs": []}
    gate.set()
    await first
    ended = await harvested.post(SYNC)
    listed = (await harvested.get(queued.headers["Location"])).json["runs"]
    assert ended.json["run_id"] in [run["run_id"] for run in listed]


async def test_a_run_of_another_process_answers_for_ours(api: Api) -> None:
    gate = Gate()
    api.world.site.set("/rye", html("Rye", "late"), delay=gate)
    elsewhere = replace(api.world.ports, owner="another process")
    theirs = asyncio.create_task(sync(elsewhere, await api.world.source()))
    await gate.reached()
    begun = await api.post(SYNC + "?wait=false")
    assert (begun.status, begun.json["scrape_run_id"]) == (202, 1)
    ours = asyncio.create_task(api.post(SYNC))
    gate.set()
    receipt = (await ours).json
    assert (receipt["run_id"], receipt["status"], receipt["created"]) == (1, "completed", 3)
    assert receipt["handoff_completed_count"] == 3
    await theirs
    assert len((await api.get("/api/v1/sources/docs/runs")).json["runs"]) == 1


async def test_a_client_that_wants_to_be_left_alone_is(api: Api) -> None:
    until = api.world.clock.now() + timedelta(minutes=10)
    upstream = (await api.world.source()).upstream
    await api.world.store.pause_upstream(Pause(upstream=upstream, until=until, reason="429"))
    answer = await api.post(SYNC)
    assert answer.is_problem(503, "client_paused")
    assert answer.headers["Retry-After"] == "600"
    assert f"`{upstream}` is paused until {until:%Y-%m-%d %H:%M} UTC: 429" in answer.json["detail"]
    assert "`force` in the API" in answer.json["hint"]
    forced = await api.post(SYNC + "?force=true")
    assert (forced.status, forced.json["status"]) == (200, "completed")


async def test_handoffs_are_listed_by_status_and_run_and_in_pages(harvested: Api) -> None:
    path = "/scraping/docs/handoffs"
    listed = (await harvested.get(path)).json
    assert len(listed["handoffs"]) == 3
    assert {one["status"] for one in listed["handoffs"]} == {"completed"}
    assert (await harvested.get(path + "?status=failed")).json["handoffs"] == []
    assert len((await harvested.get(path + "?scrape_run_id=1")).json["handoffs"]) == 3
    assert (await harvested.get(path + "?scrape_run_id=2")).json["handoffs"] == []
    page = (await harvested.get(path + "?limit=2&offset=2")).json
    assert page == {"handoffs": listed["handoffs"][2:], "limit": 2, "offset": 2}
    assert (await harvested.get("/api/v1" + path)).json == listed


async def test_a_caller_that_goes_away_does_not_stop_the_run(api: Api) -> None:
    gate = Gate()
    api.world.site.set("/rye", html("Rye", "late"), delay=gate)
    leaving = asyncio.create_task(api.post(SYNC))
    await gate.reached()
    leaving.cancel()
    staying = asyncio.create_task(api.post(SYNC))
    gate.set()
    assert (await staying).json["status"] == "completed"
    assert len((await api.get("/api/v1/sources/docs/runs")).json["runs"]) == 1


async def test_a_run_is_cancelled_by_its_number_or_its_source_and_its_callers_are_told(api: Api) -> None:
    gate = Gate()
    api.world.site.set("/rye", "late", delay=gate)
    waiting = asyncio.create_task(api.post(SYNC))
    await gate.reached()
    cancelled = await api.post("/api/v1/runs/1/cancel")
    gate.set()
    assert (cancelled.status, cancelled.json) == (
        200,
        {"source": "docs", "outcome": "cancelled", "run_id": 1, "status": "cancelled", "dropped": 0},
    )
    assert (await waiting).json["status"] == "cancelled"
    assert (await api.post("/api/v1/runs/1/cancel")).json["outcome"] == "cancelled"
    assert (await api.post("/api/v1/sources/docs/cancel")).json["outcome"] == "nothing"
    assert (await api.post("/api/v1/runs/99/cancel")).is_problem(404, "not_found")
    assert (await api.post(SYNC)).json["status"] == "completed"
    ended = (await api.post("/api/v1/runs/2/cancel")).json
    assert (ended["outcome"], ended["status"]) == ("ended", "completed")
    reading, syncing = await api.token(Scope.READ), await api.token(Scope.SYNC)
    for path in ("/api/v1/runs/1/cancel", "/api/v1/sources/docs/cancel"):
        assert (await api.post(path, headers=reading)).is_problem(403, "forbidden")
        assert (await api.post(path, headers=syncing)).status == 200


async def test_what_a_limit_leaves_out_has_the_words_of_the_command_line(world: World) -> None:
    await world.add(max_pages=2, max_depth=1)
    world.site.set("/rye", a_page("/rye", "grain", links=["/far"]))
    async with serving(world) as api:
        receipt = (await api.post(SYNC)).json
        runs = (await api.get("/api/v1/sources/docs/runs")).json["runs"]
        source = (await api.get("/api/v1/sources/docs")).json
    assert receipt["left_out"] == runs[0]["left_out"] == source["left_out"]
    assert receipt["left_out"] == {"over_max_pages": 1, "too_deep": 1}
