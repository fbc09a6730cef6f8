"""What a web hook named and a run verified because of it says so; nothing else does."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rowen.core.exchange import delivery
from rowen.engine.receipt import Receipt
from rowen.reading.addresses import truth
from rowen.reading.history import rollback
from rowen.service.hooks.incoming import SERVICE_SECRET, hear
from rowen.service.hooks.rules import Delivery
from rowen.service.serve import serve
from tests.support.world import World, a_page, a_site_of, a_world

pytestmark = pytest.mark.anyio

SECRET = "correct horse battery staple"
MINUTE_S, DAY_S = 60.0, 86_400.0


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    with a_site_of(5) as site:
        async with a_world(tmp_path, site) as made:
            made.secrets[SERVICE_SECRET] = SECRET
            await made.add()
            await made.sync()
            made.clock.advance(MINUTE_S)
            await made.sync()
            made.clock.advance(MINUTE_S)
            yield made


async def told(world: World, *paths: str) -> Receipt:
    """A hook names these pages, and the service does what it asks for."""
    body = json.dumps({"urls": [world.site.url + path for path in paths]}).encode() if paths else b""
    timestamp = str(int(world.clock.now().timestamp()))
    headers = {
        "x-rowen-timestamp": timestamp,
        "x-rowen-signature": delivery.signature(SECRET, timestamp, body),
    }
    await hear(world.ports, "docs", Delivery(headers, body), wake=lambda: None)
    return await served(world)


async def served(world: World) -> Receipt:
    (result,) = [one async for one in serve(world.ports, default_every_s=DAY_S, once=True)]
    assert isinstance(result, Receipt)
    return result


async def ways(world: World) -> dict[str, str | None]:
    found = await world.search("harvest", limit=20)
    return {hit.url.removeprefix(world.site.url).partition("#")[0]: hit.verified_by for hit in found.hits}


async def test_a_page_that_a_hook_named_says_so_whether_it_changed_or_not(world: World) -> None:
    world.site.set("/p1.html", a_page("/p1.html", "harvest", "barley"))
    receipt = await told(world, "/p1.html", "/p2.html#section")
    assert (receipt.counters.updated, receipt.counters.unchanged) == (1, 1)
    found = await ways(world)
    assert (found["/p1.html"], found["/p2.html"]) == ("hook", "hook")
    assert {found["/p3.html"], found["/p4.html"], found["/"]} == {"not_modified"}
    said = await truth(world.store, world.site.url + "/p1.html", world.clock.now())
    assert (said.by, said.evidence) == ("hook", "asked for because a web hook named it")


async def test_a_new_page_that_a_hook_named_says_so_and_one_it_links_to_does_not(world: World) -> None:
    world.site.set("/n.html", a_page("/n.html", "harvest", links=["/", "/m.html"]))
    world.site.set("/m.html", a_page("/m.html", "harvest"))
    assert (await told(world, "/n.html")).counters.created == 2
    found = await ways(world)
    assert (found["/n.html"], found["/m.html"]) == ("hook", "fetched")


async def test_the_next_look_at_everything_takes_the_place_of_the_hook(world: World) -> None:
    world.site.set("/p1.html", a_page("/p1.html", "harvest", "barley"))
    await told(world, "/p1.html", "/p2.html")
    world.clock.advance(MINUTE_S)
    await world.sync()
    assert set((await ways(world)).values()) == {"not_modified"}


async def test_a_hook_that_names_nothing_verifies_no_page_by_itself(world: World) -> None:
    receipt = await told(world)
    assert receipt.counters.unchanged == 5
    assert "hook" not in (await ways(world)).values()


async def test_a_page_that_does_not_answer_is_not_verified_by_the_hook_that_named_it(world: World) -> None:
    world.site.set("/p1.html", status=503)
    await told(world, "/p1.html", "/p2.html")
    found = await ways(world)
    assert (found["/p1.html"], found["/p2.html"]) == ("not_modified", "hook")


async def test_after_a_rollback_the_version_before_is_not_verified_by_the_hook(world: World) -> None:
    world.site.set("/p1.html", a_page("/p1.html", "harvest", "barley"))
    await told(world, "/p1.html")
    await rollback(world.ports, await world.source())
    assert "hook" not in (await ways(world)).values()


async def test_a_request_that_another_caller_joined_names_no_page_as_the_hooks(world: World) -> None:
    source = await world.source()
    url = world.site.url + "/p3.html"
    await world.store.request_sync(source.id, only=[url], reason="handoff_retry", now=world.clock.now())
    await told(world, "/p2.html")
    assert set((await ways(world)).values()) == {"not_modified"}
