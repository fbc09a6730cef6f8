"""Runs as server-sent events: from here, from elsewhere, to the end, and for callers who leave."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import aiohttp
import pytest

from rowen.core.lease import source_lease_name
from rowen.core.run import Counters
from rowen.doors.rest.routes import live
from rowen.engine.run import sync
from tests.doors.rest.conftest import Api
from tests.support.begun import begun
from tests.support.gate import DEADLINE_S, Gate, until
from tests.support.site import html

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("patient_begin")]


class Stream:
    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self.response = response

    async def read(self) -> tuple[str, Any] | None:
        """The next event, or a comment; None at the end."""
        async with asyncio.timeout(DEADLINE_S):
            lines = []
            while (line := (await self.response.content.readline()).decode()) not in ("", "\n"):
                lines.append(line.rstrip("\n"))
        if not lines:
            return None
        if lines[0].startswith(":"):
            return "comment", lines[0]
        name, data = lines
        return name.removeprefix("event: "), json.loads(data.removeprefix("data: "))

    async def rest(self) -> list[tuple[str, Any]]:
        found = []
        while (event := await self.read()) is not None:
            found.append(event)
        return found


@asynccontextmanager
async def streaming(api: Api, run_id: int) -> AsyncIterator[Stream]:
    async with api.session.get(f"{api.url}/api/v1/runs/{run_id}/events") as response:
        assert response.status == 200
        assert response.content_type == "text/event-stream"
        yield Stream(response)


@pytest.fixture
def gate(api: Api) -> Gate:
    made = Gate()
    api.world.site.set("/rye", html("Rye", "late"), delay=made)
    return made


async def test_a_run_of_this_process_is_told_item_by_item(api: Api, gate: Gate) -> None:
    run_id = (await api.post("/scraping/docs/sync?wait=false")).json["scrape_run_id"]
    await gate.reached()
    async with streaming(api, run_id) as stream:
        name, first = await stream.read() or ("", None)
        assert (name, first["status"], first["source"]) == ("progress", "running", "docs")
        gate.set()
        events = await stream.rest()
    items = [data for name, data in events if name == "item"]
    assert api.world.site.url + "/rye" in {item["reference"] for item in items}
    assert [name for name, _ in events][-2:] == ["progress", "finished"]
    finished = events[-1][1]
    assert (finished["run_id"], finished["status"], finished["created"]) == (run_id, "completed", 3)
    assert events[-2][1]["counters"]["created"] == 3


async def test_many_watch_one_run_and_all_see_its_end(api: Api, gate: Gate) -> None:
    run_id = (await api.post("/scraping/docs/sync?wait=false")).json["scrape_run_id"]

    async def watch() -> str:
        async with streaming(api, run_id) as stream:
            return (await stream.rest())[-1][0]

    watching = [asyncio.create_task(watch()) for _ in range(20)]
    await gate.reached()
    gate.set()
    assert set(await asyncio.gather(*watching)) == {"finished"}


async def test_a_run_that_ended_is_told_at_once(harvested: Api) -> None:
    async with streaming(harvested, 1) as stream:
        assert [name for name, _ in await stream.rest()] == ["progress", "finished"]
    assert (await harvested.get("/api/v1/runs/99/events")).is_problem(404, "not_found")


async def test_a_run_of_another_process_is_told_from_its_record(api: Api, gate: Gate) -> None:
    elsewhere = replace(api.world.ports, owner="another process")
    theirs = asyncio.create_task(sync(elsewhere, await api.world.source()))
    await gate.reached()
    async with streaming(api, 1) as stream:
        assert (await stream.read() or ("",))[0] == "progress"
        gate.set()
        events = await stream.rest()
    await theirs
    assert events[-1][0] == "finished"
    assert events[-1][1]["created"] == 3


async def test_the_record_of_a_run_elsewhere_is_told_when_it_moves(api: Api) -> None:
    world = api.world
    source, now = await world.source(), world.clock.now()
    lease = await world.store.acquire_lease(source_lease_name(source.id), "other", now=now, ttl_s=60)
    assert lease is not None
    run = await begun(world.store, lease, source.id, full=True, now=now)
    async with streaming(api, run.id) as stream:
        assert (await stream.read() or ("",))[0] == "progress"
        # Nothing moves: the line is kept open by a word that means nothing.
        assert await stream.read() == ("comment", live.SILENCE.strip())
        await world.store.save_progress(lease, run, Counters(created=7))
        moved = await stream.read()
        while moved is not None and moved[0] == "comment":
            moved = await stream.read()
        assert moved is not None
        assert (moved[0], moved[1]["created"]) == ("progress", 7)


async def test_a_quiet_run_is_kept_open_by_a_word_that_means_nothing(
    api: Api, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "HEARTBEAT_S", 0.01)
    run_id = (await api.post("/scraping/docs/sync?wait=false")).json["scrape_run_id"]
    await gate.reached()
    async with streaming(api, run_id) as stream:
        while (event := await stream.read()) != ("comment", live.SILENCE.strip()):
            assert event is not None
        gate.set()
        assert (await stream.rest())[-1][0] == "finished"


async def test_a_watcher_that_goes_away_leaves_nothing_behind(api: Api, gate: Gate) -> None:
    run_id = (await api.post("/scraping/docs/sync?wait=false")).json["scrape_run_id"]
    await gate.reached()
    async with streaming(api, run_id) as stream:
        await stream.read()
        await until(lambda: api.queue.watchers == 1)
        stream.response.close()
    await until(lambda: api.queue.watchers == 0)
    gate.set()
    assert (await api.post("/scraping/docs/sync")).json["status"] == "completed"


async def test_when_the_server_stops_streams_end_and_waiting_callers_are_answered(
    api: Api, gate: Gate
) -> None:
    run_id = (await api.post("/scraping/docs/sync?wait=false")).json["scrape_run_id"]
    waiting = asyncio.create_task(api.post("/scraping/docs/sync"))
    await gate.reached()
    async with streaming(api, run_id) as stream:
        await stream.read()
        await until(lambda: api.queue.watchers == 1)
        stopping = asyncio.create_task(api.queue.stop())
        rest = await stream.rest()
    await stopping
    gate.set()
    assert [data["status"] for name, data in rest if name == "finished"] in ([], ["cancelled"])
    assert (await waiting).is_problem(503, "stopping")
    assert (await api.get("/health/ready")).is_problem(503, "stopping")
    assert (await api.post("/scraping/docs/sync")).is_problem(503, "stopping")
