"""Sites that publish an inventory of the names they document."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from rowen.core.search.hit import Hit
from tests.fetching.test_inventory import packed
from tests.support.site import Site, html
from tests.support.world import World, a_world

pytestmark = pytest.mark.anyio

SIGN = '<script id="documentation_options" data-url_root="./" src="_static/options.js"></script>'
FILE = "/objects.inv"
NAMES = packed(
    "orchard.graft py:function 1 api.html#orchard.graft -",
    "press py:function 1 api.html#pressing -",
    "ladder_slots py:data 1 api.html#slots -",
    "orchard.lost py:function 1 gone.html#$ -",
)
API = html(
    "Reference",
    '<h2 id="grafting">Grafting</h2><p>Join two trees.</p>'
    '<p><span id="slots"></span>How many rungs there are.</p>'
    '<h2 id="pressing">Pressing</h2><p>Juice comes out.</p>'
    '<dl class="py function"><dt class="sig sig-object py" id="orchard.graft"><code>orchard.graft()</code>'
    "</dt><dd><p>Joins.</p></dd></dl>",
)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    root = html("Home", "root", links=["/api.html"]).replace("</body>", SIGN + "</body>")
    site = Site({"/": root, "/api.html": API})
    site.set(FILE, NAMES, content_type="application/octet-stream")
    with site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            yield world


async def first(world: World, name: str) -> Hit:
    return (await world.search(name)).hits[0]


async def test_a_name_that_no_page_defines_is_found_at_the_place_the_inventory_says(world: World) -> None:
    await world.sync()
    press = await first(world, "press")
    assert (press.url, press.defines) == (world.site.url + "/api.html#pressing", "press")
    assert "Juice" in press.snippet


async def test_a_place_that_is_no_heading_is_found_in_the_section_that_holds_it(world: World) -> None:
    await world.sync()
    slots = await first(world, "ladder_slots")
    assert slots.url == world.site.url + "/api.html#slots"
    assert slots.heading_path.endswith("Grafting")
    assert (await world.search("ladder slots")).hits[0].defines == "ladder_slots"


async def test_a_name_that_its_page_defines_has_the_section_of_the_definition(world: World) -> None:
    await world.sync()
    answer = await world.search("orchard.graft")
    assert [hit.url for hit in answer.hits if hit.defines] == [world.site.url + "/api.html#orchard.graft"]


async def test_a_name_with_a_slip_is_repaired_by_the_inventory(world: World) -> None:
    await world.sync()
    answer = await world.search("laddr_slots")
    assert answer.corrected == "ladder_slots"
    assert answer.hits[0].url == world.site.url + "/api.html#slots"


async def test_a_name_of_a_page_that_readers_cannot_see_is_not_found(world: World) -> None:
    await world.sync()
    assert not any(hit.defines == "orchard.lost" for hit in (await world.search("orchard.lost")).hits)


async def test_it_is_asked_for_once_a_run_conditionally_and_counted(world: World) -> None:
    receipt = await world.sync()
    assert len(world.site.asked_for(FILE)) == 1
    assert receipt.counters.requests == len(world.site.requests)
    receipt = await world.sync()
    asked = world.site.asked_for(FILE)
    assert [(one.conditional, one.status) for one in asked] == [(True, 304)]
    assert receipt.counters.requests == len(world.site.requests)
    assert receipt.generation == 1


async def test_other_names_take_the_place_of_those_before(world: World) -> None:
    await world.sync()
    world.site.set(FILE, packed("pressing_hard py:function 1 api.html#pressing -"))
    await world.sync()
    assert (await first(world, "pressing_hard")).url.endswith("#pressing")
    assert not any(hit.defines == "press" for hit in (await world.search("press")).hits)


async def test_one_that_is_missing_is_asked_for_again_after_a_day(world: World) -> None:
    world.site.remove(FILE)
    for asked in (1, 0):
        await world.sync()
        assert len(world.site.asked_for(FILE)) == asked
    world.clock.advance(timedelta(days=1).total_seconds())
    world.site.set(FILE, NAMES)
    await world.sync()
    assert (await first(world, "press")).defines == "press"


async def test_names_stay_when_it_is_missing_once_and_go_when_it_is_missing_twice(world: World) -> None:
    await world.sync()
    world.site.remove(FILE)
    await world.sync()
    assert (await first(world, "press")).defines == "press"
    await world.sync()
    assert not any(hit.defines == "press" for hit in (await world.search("press")).hits)


@pytest.mark.parametrize("body", [b"<html>any address is a page</html>", NAMES[:-20]])
async def test_one_that_cannot_be_read_fails_no_run(world: World, body: bytes) -> None:
    world.site.set(FILE, body)
    assert (await world.sync()).good
    assert not any(hit.defines == "press" for hit in (await world.search("press")).hits)


async def test_a_server_that_fails_leaves_the_names_and_is_told_of(world: World) -> None:
    await world.sync()
    world.site.set(FILE, status=500)
    receipt = await world.sync()
    assert receipt.counters.ignored["inventory_unread"] == 1
    assert (await first(world, "press")).defines == "press"


async def test_a_site_of_another_generator_is_not_asked(tmp_path: Path) -> None:
    with Site({"/": html("Home", "root")}) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            assert site.asked_for(FILE) == []
