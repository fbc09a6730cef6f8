"""What a run did not have to be sent, in bytes: the lengths of stored bodies, without a write for each."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rowen.managing import sources
from tests.support.site import Page, html
from tests.support.world import World, a_page, a_site_of, a_world

pytestmark = pytest.mark.anyio


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    with a_site_of(6) as site:
        async with a_world(tmp_path, site) as made:
            yield made


async def test_every_body_that_a_304_spares_counts_with_its_length(world: World) -> None:
    await world.add()
    first = await world.sync()
    assert (first.counters.bytes_received > 0, first.counters.bytes_avoided) == (True, 0)
    assert first.counters.bytes_received == sum(len(page.raw) for page in world.site.pages.values())
    rows = world.store.rows_written()
    second = await world.sync()
    assert second.counters.bytes_avoided == first.counters.bytes_received
    assert second.counters.bytes_received == 0
    assert world.store.rows_written() - rows <= 9
    result = (await world.source()).result
    assert result is not None
    assert (result.bytes_avoided, result.bytes_received) == (first.counters.bytes_received, 0)


async def test_a_changed_page_is_received_and_the_others_are_avoided(world: World) -> None:
    await world.add()
    first = await world.sync()
    before = len(world.site.pages["/p1.html"].raw)
    world.site.set("/p1.html", a_page("/p1.html", "turnips and more of them"))
    second = await world.sync()
    assert second.counters.bytes_received == len(world.site.pages["/p1.html"].raw)
    assert second.counters.bytes_avoided == first.counters.bytes_received - before
    third = await world.sync()
    assert third.counters.bytes_avoided == second.counters.bytes_avoided + second.counters.bytes_received


async def test_a_body_counts_as_it_came_over_the_wire(world: World) -> None:
    page = Page(html("Packed", "oats " * 500), gzip=True)
    world.site.holds_only({"/": page})
    await world.add()
    await world.sync()
    assert (await world.sync()).counters.bytes_avoided == len(page.packed) < len(page.raw)


async def test_the_same_text_in_another_wrapping_counts_with_its_new_length(world: World) -> None:
    world.site.holds_only({"/": html("One", "oats")})
    await world.add()
    await world.sync()
    world.site.set("/", html("One", "oats").replace("<body>", "<body><!-- a longer page by now -->"))
    assert (await world.sync()).counters.same_content == 1
    assert (await world.sync()).counters.bytes_avoided == len(world.site.pages["/"].raw)


async def test_files_that_were_not_opened_count_with_their_size(world: World, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("# A\n\nOats.\n")
    (folder / "b.md").write_text("# B\n\nRye and barley.\n")
    for file in folder.iterdir():
        os.utime(file, (1_600_000_000, 1_600_000_000))
    await sources.add(world.ports, str(folder), name="notes")
    await world.sync("notes")
    again = await world.sync("notes")
    assert (again.counters.reads, again.counters.not_modified) == (0, 2)
    assert again.counters.bytes_avoided == sum(file.stat().st_size for file in folder.iterdir())


async def test_parts_of_a_file_that_was_sent_are_not_avoided(world: World) -> None:
    def whole(word: str) -> str:
        return f"# One\n\nText of one.\n\n# Two\n\nText of {word}.\n"

    world.site.set("/llms-full.txt", whole("two"), content_type="text/plain")
    await sources.add(world.ports, world.site.url + "/llms-full.txt", name="whole")
    await world.sync("whole")
    unchanged = await world.sync("whole")
    assert unchanged.counters.not_modified == 2
    assert unchanged.counters.bytes_avoided > 0
    world.site.set("/llms-full.txt", whole("turnips"), content_type="text/plain")
    changed = await world.sync("whole")
    assert (changed.counters.not_modified, changed.counters.updated) == (1, 1)
    assert changed.counters.bytes_avoided == 0
