"""What is known of an address: present, gone or unknown, with evidence and time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from rowen.core.freshness.truth import State
from rowen.errors import NotFound
from rowen.reading import read
from rowen.reading.addresses import truth
from tests.support.site import Site, html
from tests.support.world import World, a_page, a_world

pytestmark = pytest.mark.anyio

DAY_S = 86_400


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    pages = {f"/{name}.html": a_page(f"/{name}.html", name) for name in "abcd"}
    pages["/"] = html("Home", "Welcome to barley.", links=list(pages))
    with Site(pages) as site:
        async with a_world(tmp_path, site) as made:
            await made.add()
            await made.sync()
            yield made


async def test_a_page_that_readers_see_is_present_since_it_was_verified(world: World) -> None:
    world.clock.advance(DAY_S)
    await world.sync()
    looked_at = world.clock.now()
    for _ in range(2):
        world.clock.advance(DAY_S)
        await world.sync()
    found = await truth(world.store, f"{world.site.url}/a.html#place", world.clock.now())
    assert (found.state, found.source, found.by) == (State.PRESENT, "docs", "not_modified")
    assert found.at is not None
    assert found.at > looked_at
    assert found.p_fresh is not None
    assert found.p_fresh > 0.99
    later = await truth(world.store, f"{world.site.url}/a.html", world.clock.now() + timedelta(days=30))
    assert later.p_fresh is not None
    assert later.p_fresh < found.p_fresh


async def test_a_page_that_answered_404_is_gone_since_then(world: World) -> None:
    (document,) = await world.store.documents(
        (await world.source()).id, references=[f"{world.site.url}/b.html"]
    )
    world.clock.advance(DAY_S)
    world.site.remove("/b.html")
    gone_at = world.clock.now()
    await world.sync()
    found = await truth(world.store, f"{world.site.url}/b.html", world.clock.now())
    assert (found.state, found.by, found.document_id) == (State.GONE, "http_404", None)
    assert found.at == gone_at
    assert found.evidence == "the server answered 404"
    with pytest.raises(NotFound, match=r"gone since .* the server answered 404") as by_url:
        await read.by_url(world.store, f"{world.site.url}/b.html")
    assert by_url.value.facts["state"] == "gone"
    with pytest.raises(NotFound, match=r"gone since .* the server answered 404"):
        await read.by_id(world.store, document.id)


async def test_an_error_makes_nothing_gone(world: World) -> None:
    world.clock.advance(DAY_S)
    world.site.set("/c.html", status=500)
    await world.sync()
    found = await truth(world.store, f"{world.site.url}/c.html", world.clock.now())
    assert found.state is State.PRESENT
    assert found.by == "fetched"
    assert found.failure is not None
    assert "without an answer" in found.says


async def test_an_address_that_no_run_met_is_unknown(world: World) -> None:
    for url in (f"{world.site.url}/nowhere.html", "https://elsewhere.example/a.html", "no/such/file.md"):
        found = await truth(world.store, url, world.clock.now())
        assert (found.state, found.at) == (State.UNKNOWN, None)
    with pytest.raises(NotFound, match="no run of a source met this address") as refused:
        await read.by_url(world.store, f"{world.site.url}/nowhere.html")
    assert refused.value.facts["state"] == "unknown"


async def test_a_page_that_came_back_is_present_again(world: World) -> None:
    world.site.remove("/b.html")
    await world.sync()
    world.clock.advance(DAY_S)
    world.site.set("/b.html", a_page("/b.html", "again"))
    await world.sync()
    found = await truth(world.store, f"{world.site.url}/b.html", world.clock.now())
    assert (found.state, found.by) == (State.PRESENT, "fetched")
