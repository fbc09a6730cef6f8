"""Whether sources answer: one request each, and what to do about those that do not."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from rowen.managing import sources
from rowen.managing.reach import Reached, reach
from tests.support.site import Page, Site, html
from tests.support.world import World, a_world

pytestmark = pytest.mark.anyio


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    pages = {
        "/": html("Home", "Oats."),
        "/closed": Page(status=403),
        "/gone": Page(status=404),
        "/broken": Page(status=503),
        "/llms.txt": Page("# Site\n\n- [A](/a.md)\n", content_type="text/plain"),
    }
    with Site(pages) as site:
        async with a_world(tmp_path, site) as made:
            yield made


async def added(world: World, name: str, location: str, **options: str) -> None:
    await sources.add(world.ports, location, name=name, check=False, **options)


async def reached(world: World, *, limit_s: float = 30.0) -> dict[str, Reached]:
    world.site.clear_log()
    found = await reach(world.ports, await world.store.sources(), limit_s=limit_s)
    return {one.source.name: one for one in found}


async def test_each_source_is_asked_once_and_no_body_is_read(world: World) -> None:
    await added(world, "docs", world.site.url + "/")
    await added(world, "listed", world.site.url + "/llms.txt", kind="llms")
    rows = world.store.rows_written()
    found = await reached(world)
    assert sorted(one.path for one in world.site.requests) == ["/", "/llms.txt"]
    assert all(one.asked and one.problem is None for one in found.values())
    assert world.store.rows_written() == rows


async def test_what_does_not_answer_comes_with_the_line_that_helps(world: World, tmp_path: Path) -> None:
    for name in ("closed", "gone", "broken"):
        await added(world, name, f"{world.site.url}/{name}", kind="web")
    await added(world, "dead", "http://127.0.0.1:1/", kind="web")
    folder = tmp_path / "notes"
    folder.mkdir()
    await added(world, "notes", str(folder))
    folder.rmdir()
    found = await reached(world)
    assert all(one.problem and one.hint for one in found.values())
    assert "403 from the server" in (found["closed"].problem or "")
    assert "give them by reference" in (found["closed"].hint or "")
    assert "rowen remove gone" in (found["gone"].hint or "")
    assert "rowen sync broken" in (found["broken"].hint or "")
    assert "rowen sync dead" in (found["dead"].hint or "")
    assert found["notes"].problem == "no such file or folder"


async def test_an_api_whose_home_has_no_page_answers_all_the_same(world: World) -> None:
    await added(world, "jobs", world.site.url + "/gone", kind="ckan")
    assert (await reached(world))["jobs"].problem is None


async def test_the_clock_of_the_server_is_told(world: World) -> None:
    said = world.clock.now() - timedelta(hours=2)
    world.site.set("/", html("Home", "Oats."), headers={"Date": format_datetime(said, usegmt=True)})
    await added(world, "docs", world.site.url + "/")
    one = (await reached(world))["docs"]
    assert one.server_time is not None and one.answered_at is not None
    assert abs((one.answered_at - one.server_time - timedelta(hours=2)).total_seconds()) < 60
