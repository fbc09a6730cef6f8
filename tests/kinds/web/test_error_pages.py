"""Sites that answer 200 with something else than the page: what readers saw stays until a person agrees."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rowen.core.run import RunStatus
from rowen.reading import history
from tests.support.site import Site, html
from tests.support.world import World, a_page, a_site_of, a_world

pytestmark = pytest.mark.anyio

SOON = html("Sorry", "We will be back soon")


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    with a_site_of(30) as site:
        site.set("/sitemap.xml", a_sitemap(site, list(site.pages)), content_type="application/xml")
        async with a_world(tmp_path, site) as made:
            await made.add()
            await made.sync()
            yield made


def a_sitemap(site: Site, paths: list[str]) -> str:
    return "<urlset>" + "".join(f"<url><loc>{site.url}{path}</loc></url>" for path in paths) + "</urlset>"


async def test_a_maintenance_page_at_every_address_is_held_and_can_be_approved(world: World) -> None:
    for path in list(world.site.pages)[:25]:
        world.site.set(path, SOON, etag=False)

    receipt = await world.sync()

    assert (receipt.status, receipt.generation) == (RunStatus.HELD, 1)
    held = (await world.source()).held_reason
    assert held == "25 of 30 documents would show the same text: `Sorry We will be back soon`"
    assert await world.found("soon") == []
    assert (await world.sync()).status is RunStatus.HELD, "and each time until it is over"
    await history.approve(world.ports, await world.source())
    assert len(await world.pages()) == 30
    assert await world.found("soon")
    after = await world.sync()
    assert (after.status, after.counters.updated) == (RunStatus.COMPLETED, 0), "approved once is approved"


async def test_a_maintenance_page_that_hides_all_links_is_held_even_on_a_small_site(tmp_path: Path) -> None:
    with a_site_of(8) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            for path in list(site.pages):
                site.set(path, SOON)
            assert (await world.sync()).status is RunStatus.HELD
            said = (await world.source()).held_reason
            assert said == (
                "it would remove 7 of 8 documents, and what is left says `Sorry We will be back soon`"
            )


async def test_a_redesign_that_changes_every_text_is_shown(world: World) -> None:
    for path in list(world.site.pages)[1:]:
        world.site.set(path, a_page(path, "harvest, told anew and in other words"))
    assert (await world.sync()).counters.updated == 29
    assert await world.found("anew")


async def test_the_guard_on_texts_can_be_switched_off(tmp_path: Path) -> None:
    with a_site_of(30) as site:
        async with a_world(tmp_path, site) as world:
            await world.add(max_deleted_share=1)
            await world.sync()
            for path in list(site.pages)[1:]:
                site.set(path, SOON)
            assert (await world.sync()).status is RunStatus.COMPLETED
