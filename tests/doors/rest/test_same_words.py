"""How the last run of a source ended is said in the same words by every door and by the metrics."""

from __future__ import annotations

from typing import Any

import pytest
from mcp import Client

from rowen.core.lease import Lease, source_lease_name
from rowen.core.run import Counters, Run, RunStatus, StopReason
from rowen.core.source import Status
from rowen.doors import states
from rowen.doors.cli.commands import status
from rowen.doors.mcp.server import make_server
from rowen.engine.ports import Ports
from rowen.ports.store.runs import RunEnd
from tests.doors.rest.conftest import Api
from tests.support.begun import begun

pytestmark = pytest.mark.anyio

ENDINGS = {
    "completed": (RunStatus.COMPLETED, StopReason.EXHAUSTED, 0, None),
    "capped": (RunStatus.COMPLETED, StopReason.MAX_PAGES, 0, "capped: stopped at `max_pages`"),
    "partial": (RunStatus.PARTIAL, StopReason.EXHAUSTED, 2, "partial: 2 items failed"),
    "held": (RunStatus.HELD, StopReason.EXHAUSTED, 0, "held"),
    "failed": (RunStatus.FAILED, StopReason.ERROR, 1, "failed: 1 item failed"),
    "cancelled": (RunStatus.CANCELLED, StopReason.CANCELLED, 0, "cancelled"),
}


async def a_run(api: Api) -> tuple[Lease, Run]:
    store, now = api.world.store, api.world.clock.now()
    lease = await store.acquire_lease(source_lease_name(1), "another process", now=now, ttl_s=60)
    assert lease is not None
    return lease, await begun(store, lease, 1, now=now)


async def listed_by_mcp(api: Api) -> dict[str, Any]:
    async def opened() -> Ports:
        return api.world.ports

    async with Client(make_server(opened)) as client:
        answer = await client.call_tool("list_sources", {})
    (source,) = answer.structured_content["sources"]
    return dict(source)


async def assert_all_say(api: Api, outcome: str, text: str | None, failed: int) -> None:
    ports = api.world.ports
    rest = (await api.get("/api/v1/sources/docs")).json
    mcp = await listed_by_mcp(api)
    for said in (rest, mcp, (await api.get("/api/v1/status")).json["sources"][0]):
        assert (said["last_outcome"], said["last_outcome_text"]) == (outcome, text)
    assert rest["last_failed"] == failed
    assert rest["status"] == mcp["status"]
    assert (rest["state"], rest["state_text"]) == (mcp["state"], mcp["state_text"])
    (one,) = await states.statuses(ports)
    shown = [status.state(one)[0], *status._problems(one)]
    assert (text or "up to date").partition(":")[0] in "\n".join(shown)
    metrics = (await api.get("/metrics")).text
    assert f'rowen_sources_last_run{{outcome="{outcome}"}} 1.0' in metrics
    assert f"rowen_sources_failed_items {failed}.0" in metrics


@pytest.mark.parametrize("outcome", ENDINGS)
async def test_how_a_run_ended_has_the_same_word_and_count_in_every_door(api: Api, outcome: str) -> None:
    ending, stop_reason, failed, text = ENDINGS[outcome]
    lease, run = await a_run(api)
    end = RunEnd(
        status=ending,
        mode=run.mode,
        stop_reason=stop_reason,
        counters=Counters(failed=failed),
        error=None,
        items=(),
        activate=run.generation if ending.is_good else None,
        documents=0,
        source_status=Status.SUCCESS if ending.is_good else Status.ERROR,
        watermark=None,
    )
    await api.world.store.finish_run(lease, run, end, now=api.world.clock.now())
    await api.world.store.release_lease(lease)
    await assert_all_say(api, outcome, text, failed)


async def test_a_run_whose_process_ended_is_interrupted_in_every_door_at_once(harvested: Api) -> None:
    lease, _ = await a_run(harvested)
    running = (await harvested.get("/api/v1/sources/docs")).json
    assert (running["status"], running["running"], running["last_outcome"]) == ("RUNNING", True, "completed")
    await harvested.world.store.release_lease(lease)
    one = (await harvested.get("/api/v1/sources/docs")).json
    assert (one["status"], one["last_outcome"], one["last_error"]) == (
        "ERROR",
        "interrupted",
        "its process ended before it did",
    )
    mcp = await listed_by_mcp(harvested)
    assert (mcp["status"], mcp["last_outcome"], mcp["last_outcome_text"]) == (
        "ERROR",
        "interrupted",
        "interrupted",
    )
    (shown,) = await states.statuses(harvested.world.ports)
    words = "docs: its last run was interrupted: its process ended before it did"
    assert words in status._problems(shown)
    run = (await harvested.get("/api/v1/runs/2")).json
    assert (run["status"], run["outcome"]) == ("lost", "interrupted")
