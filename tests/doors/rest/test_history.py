"""Runs, generations and handoffs by HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from rowen.adapters.store.sqlite.database import migrations
from rowen.adapters.store.sqlite.store import SqliteStore
from rowen.core.feed import START
from rowen.core.handoff import RETRY_BASE_S, Ending, HandoffStatus, Reason
from rowen.core.lease import source_lease_name
from rowen.errors import EmbedderUnavailable
from tests.contract.helpers import a_draft
from tests.doors.rest.conftest import Api
from tests.support.begun import begun
from tests.support.gate import Gate
from tests.support.site import html

pytestmark = pytest.mark.anyio

DOCS = "/api/v1/sources/docs"


async def changed(api: Api) -> None:
    api.world.site.set("/rye", html("Rye", "entirely new"))
    assert (await api.post(DOCS + "/sync")).json["updated"] == 1


async def test_runs_are_listed_newest_first_and_found_by_number(harvested: Api) -> None:
    await harvested.post(DOCS + "/sync")
    second, first = (await harvested.get(DOCS + "/runs")).json["runs"]
    assert (first["run_id"], first["created"], first["source"]) == (1, 3, "docs")
    assert (second["not_modified"], second["status"]) == (3, "completed")
    assert (await harvested.get("/api/v1/runs/2")).json == second
    assert (await harvested.get(DOCS + "/runs?limit=1")).json["runs"] == [second]
    assert (await harvested.get("/api/v1/runs/3")).is_problem(404, "not_found")


async def test_a_run_whose_process_ended_is_lost_before_the_next_one_says_so(harvested: Api) -> None:
    store, now = harvested.world.store, harvested.world.clock.now()
    lease = await store.acquire_lease(source_lease_name(1), "gone", now=now, ttl_s=60)
    assert lease is not None
    await begun(store, lease, 1, full=False, now=now)
    assert (await harvested.get("/api/v1/runs/2")).json["status"] == "running"
    await store.release_lease(lease)
    one = (await harvested.get("/api/v1/runs/2")).json
    assert (one["status"], one["error"]) == ("lost", "its process ended before it did")
    assert (await harvested.get(DOCS + "/runs")).json["runs"][0] == one


async def test_the_items_of_a_run_have_their_reasons(harvested: Api) -> None:
    items = (await harvested.get("/api/v1/runs/1/items")).json
    assert {item["outcome"] for item in items["items"]} == {"created"}
    assert items["unlisted"] == {}
    await changed(harvested)
    items = (await harvested.get("/api/v1/runs/2/items")).json
    (item,) = items["items"]
    assert (item["outcome"], item["reason"]) == ("updated", "content_changed")
    assert items["unlisted"] == {"not_modified": 2}


async def test_generations_can_be_compared_and_shown_again(harvested: Api) -> None:
    await changed(harvested)
    listed = (await harvested.get(DOCS + "/generations")).json["generations"]
    assert [(one["generation"], one["active"]) for one in listed] == [(1, False), (2, True)]
    diff = (await harvested.get(DOCS + "/diff")).json
    assert (diff["from_generation"], diff["to_generation"]) == (1, 2)
    assert [change["kind"] for change in diff["changes"]] == ["changed"]
    assert (await harvested.get(DOCS + "/diff?from=2&to=1")).json["changes"][0]["kind"] == "changed"
    assert (await harvested.post(DOCS + "/rollback")).json == {"source": "docs", "generation": 1}
    assert (await harvested.post(DOCS + "/rollback", json={"to": 2})).json["generation"] == 2
    assert (await harvested.post(DOCS + "/rollback", json={"to": 9})).is_problem(404, "not_found")
    assert (await harvested.get(DOCS + "/diff?to=9")).is_problem(404, "not_found")


async def test_a_generation_that_the_guard_held_can_be_approved(harvested: Api) -> None:
    assert (await harvested.post(DOCS + "/approve")).is_problem(404, "not_found")
    many = [f"/more{number}" for number in range(30)]
    for path in many:
        harvested.world.site.set(path, html("More", path))
    harvested.world.site.set("/", html("Home", "barley", links=many))
    await harvested.post(DOCS + "/sync")
    for path in many:
        harvested.world.site.remove(path)
    held = (await harvested.post(DOCS + "/sync")).json
    assert (held["status"], held["held_generation"]) == ("held", 3)
    assert (await harvested.post(DOCS + "/approve")).json == {"source": "docs", "generation": 3}


async def test_nothing_is_rolled_back_while_a_run_is_under_way(harvested: Api) -> None:
    gate = Gate()
    harvested.world.site.set("/rye", html("Rye", "late"), delay=gate)
    running = asyncio.create_task(harvested.post(DOCS + "/sync"))
    await gate.reached()
    for path in ("/rollback", "/approve"):
        assert (await harvested.post(DOCS + path)).is_problem(409, "conflict")
    assert (await harvested.ask("DELETE", DOCS)).is_problem(409, "conflict")
    gate.set()
    await running


async def test_a_failed_handoff_is_queued_again_and_its_reference_wished_for(api: Api) -> None:
    handoff_id = await unfinished_handoff(api, failed=True)
    retried = await api.post(f"/api/v1/handoffs/{handoff_id}/retry")
    assert (retried.json["status"], retried.json["reason_code"]) == ("queued", "retry_scheduled")
    (wish,) = await api.world.store.sync_requests()
    assert wish.only == (api.world.site.url + "/rye",)
    assert api.queue.wake.is_set()
    again = await api.post(f"/api/v1/handoffs/{handoff_id}/retry")
    assert again.is_problem(409, "conflict")
    assert (await api.get(f"/api/v1/handoffs/{handoff_id}")).json == retried.json
    assert (await api.get("/api/v1/handoffs?source=docs&status=queued")).json["handoffs"] == [retried.json]


async def test_a_handoff_that_waits_can_be_cancelled_and_one_that_ended_not(api: Api) -> None:
    handoff_id = await unfinished_handoff(api, failed=False)
    cancelled = await api.post(f"/api/v1/handoffs/{handoff_id}/cancel")
    assert (cancelled.json["status"], cancelled.json["reason_code"]) == ("failed", "cancelled")
    assert (await api.post(f"/api/v1/handoffs/{handoff_id}/cancel")).is_problem(409, "conflict")
    assert (await api.post("/api/v1/handoffs/99/cancel")).is_problem(404, "not_found")
    assert (await api.post("/api/v1/handoffs/99/retry")).is_problem(404, "not_found")


async def unfinished_handoff(api: Api, *, failed: bool) -> int:
    """As a run leaves it whose process died, or whose worker gave up."""
    world = api.world
    source, now = await world.source(), world.clock.now()
    lease = await world.store.acquire_lease(source_lease_name(source.id), "gone", now=now, ttl_s=60)
    assert lease is not None
    run = await begun(world.store, lease, source.id, full=True, now=now)
    draft = a_draft(world.site.url + "/rye", "rye")
    (staged,) = await world.store.stage(lease, run, [draft], now=now)
    if failed:
        ending = Ending(HandoffStatus.FAILED, Reason.RETRY_EXHAUSTED, "x")
        await world.store.settle_handoffs(lease, {staged.handoff_id: ending}, now=now)
    await world.store.release_lease(lease)
    return staged.handoff_id


async def test_what_was_shown_again_is_told_to_those_who_follow(harvested: Api) -> None:
    await changed(harvested)
    end = (await harvested.get("/api/v1/changes")).json["cursor"]
    waiting = asyncio.create_task(harvested.get(f"/api/v1/changes?since={end}&wait_s=60"))
    await harvested.post(DOCS + "/rollback")
    assert [item["change"] for item in (await waiting).json["changes"]] == ["changed"]
    assert str(START) != end


async def test_handoffs_are_seen_queued_running_and_failed_and_found_by_their_reason(api: Api) -> None:
    world, seen = api.world, []

    async def fail(texts: Sequence[str]) -> list[bytes]:
        listed = (await api.get("/scraping/docs/handoffs?status=running")).json["handoffs"]
        seen.append({one["reason_code"] for one in listed})
        raise EmbedderUnavailable("model `fake`: 503", kind="server")

    world.embedder.embed = fail  # type: ignore[method-assign]
    receipt = (await api.post("/scraping/docs/sync")).json
    assert (receipt["handoff_queued_count"], receipt["handoff_skipped_count"]) == (3, 3)
    queued = (await api.get("/api/v1/handoffs?status=queued&reason_code=retry_scheduled")).json["handoffs"]
    assert [one["attempts"] for one in queued] == [1, 1, 1]
    assert all(one["retry_at"] > one["updated_at"] for one in queued)
    for wait_s in (RETRY_BASE_S, 2 * RETRY_BASE_S):
        world.clock.advance(wait_s)
        await api.post("/scraping/docs/sync")
    failed = (await api.get("/scraping/docs/handoffs?reason_code=retry_exhausted")).json["handoffs"]
    assert {(one["status"], one["attempts"], one["retry_at"]) for one in failed} == {("failed", 3, None)}
    assert {frozenset(reasons) for reasons in seen} == {frozenset({"ingestion_job_queued"})}
    assert (await api.get("/api/v1/handoffs?reason_code=nonsense")).is_problem(422, "invalid")


async def test_without_the_table_of_handoffs_the_api_says_what_is_missing_and_syncs_all_the_same(
    harvested: Api,
) -> None:
    store = harvested.world.store
    assert isinstance(store, SqliteStore)
    store.database.apply("DROP TABLE handoffs", check=lambda db: None)
    for path in ("/scraping/docs/handoffs", "/api/v1/handoffs", "/api/v1/handoffs/1"):
        answer = await harvested.get(path)
        assert answer.is_problem(503, "part_missing")
        assert "no `handoffs`" in answer.json["detail"]
        assert "rowen db upgrade" in answer.json["hint"]
    harvested.world.site.set("/rye", html("Rye", "entirely new"))
    receipt = (await harvested.post("/scraping/docs/sync")).json
    assert (receipt["updated"], receipt["handoff_queued_count"]) == (1, 0)
    assert (await harvested.get("/metrics")).status == 200
    store.database.migrate_to(migrations()[-1].number)
    assert (await harvested.get("/scraping/docs/handoffs")).json["handoffs"] == []


async def test_a_source_says_its_state_since_when_and_by_whom(harvested: Api) -> None:
    one = (await harvested.get(DOCS)).json
    assert (one["state"], one["status"], one["loudness"]) == ("up to date", "SUCCESS", "quiet")
    assert (one["next_run_text"], one["next_run_at"] is not None) == ("every 1d", True)
    await harvested.post(DOCS + "/pause")
    paused = (await harvested.get(DOCS)).json
    assert (paused["state"], paused["paused_by"], paused["next_run_at"]) == ("paused", "api", None)
    assert paused["state_text"].startswith("paused by the API on ")
    await harvested.post(DOCS + "/resume")
    assert (await harvested.get(DOCS)).json["paused_at"] is None


async def test_a_rollback_with_a_pin_refuses_the_next_sync_and_is_told_with_its_cause(harvested: Api) -> None:
    await changed(harvested)
    assert (await harvested.post(DOCS + "/rollback", json={"pin": True})).json["generation"] == 1
    for query in ("", "?wait=false"):
        assert (await harvested.post(DOCS + "/sync" + query)).is_problem(409, "pinned")
    one = (await harvested.get(DOCS)).json
    assert (one["state"], one["pinned"], one["pinned_by"]) == ("paused", True, "api")
    first, _ = (await harvested.get(DOCS + "/generations")).json["generations"]
    assert [(each["cause"], each["by"]) for each in first["activations"]] == [
        ("rollback", "api"),
        ("run", None),
    ]
