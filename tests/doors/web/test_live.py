"""The streams that keep pages current: whole parts, merged, until what they show has ended."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from typing import Any

import pytest

from rowen.core.safety.access import Scope
from tests.doors.web.conftest import Person
from tests.support.world import a_page

pytestmark = pytest.mark.anyio


async def told(person: Person, path: str) -> AsyncIterator[tuple[str, dict[str, Any]]]:
    """The events of a stream, each with its data."""
    async with asyncio.timeout(120), person.session.get(person.url + path) as response:
        assert response.status == 200 and response.content_type == "text/event-stream"
        name = ""
        async for line in response.content:
            text = line.decode().strip()
            if text.startswith("event: "):
                name = text.removeprefix("event: ")
            elif text.startswith("data: "):
                yield name, json.loads(text.removeprefix("data: "))


async def test_the_list_tells_the_rows_that_changed(person: Person) -> None:
    async for name, data in told(person, "/events"):
        if name == "beat":
            await person.world.sync()
        elif "Up to date" in data["parts"].get("row-docs", ""):
            assert "3 documents" in data["parts"]["summary"]
            break


async def test_a_run_is_told_by_its_figures_and_items_and_then_is_over(person: Person) -> None:
    gate = threading.Event()
    person.world.site.set("/rye", a_page("/rye", "slow"), delay=gate)
    begun = await person.queue.begin(await person.world.source())
    items, ended = [], False
    async for name, data in told(person, f"/sources/docs/runs/{begun.run_id}/events"):
        gate.set()
        items += data.get("items", [])
        ended = name == "over"
        if ended:
            break
    assert ended and any("/rye" in item for item in items)


async def test_the_stream_of_a_source_ends_when_it_is_removed(reader: Person) -> None:
    source = await reader.world.source()
    removed = False
    async for name, _ in told(reader, "/sources/docs/events"):
        if name == "over":
            break
        # What was drawn before the removal may arrive after it.
        if not removed:
            await reader.world.store.remove_source(source.id, now=reader.world.clock.now())
            removed = True
    assert removed


async def test_a_stream_needs_a_token_like_its_page(reader: Person) -> None:
    await reader.token(Scope.READ)
    for path in ("/events", "/sources/docs/events", "/sources/docs/runs/1/events"):
        assert (await reader.get(path)).status == 401
