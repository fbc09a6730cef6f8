"""The changelog of a source for people: names and signatures, sections, folders, each time it changed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from rowen.doors.shapes import changelog as shapes
from rowen.reading import history
from rowen.reading.changes import changes, releases
from tests.support.manual import a_manual_page
from tests.support.site import Page, Site, html
from tests.support.world import World, a_world

pytestmark = pytest.mark.anyio

ATOM = "{http://www.w3.org/2005/Atom}"


def an_api(signature: str, more: str = "") -> Page:
    head = "# Task groups\n\nThey wait.\n\n## `create_task()` {#tasks.create_task .function}"
    text = f"{head}\n\n`{signature}`\n\nAdds.\n{more}"
    return a_manual_page(text)


def listed(*paths: str) -> Page:
    return Page(html("Site", "What there is.", links=paths), content_type="text/html")


LEGACY = tuple(f"/legacy/{name}.md" for name in "abc")
OTHERS = tuple(f"/guide/{name}.md" for name in "defghij")


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    pages: dict[str, str | bytes | Page] = {
        path: Page(f"# About {path}\n\nText of {path}.\n", content_type="text/markdown")
        for path in (*LEGACY, *OTHERS)
    }
    pages |= {"/tasks.md": an_api("create_task(coro, *, name=None)")}
    pages |= {"/": listed("/tasks.md", *LEGACY, *OTHERS)}
    with Site(pages) as site:
        async with a_world(tmp_path, site) as made:
            await made.add(max_deleted_share="1.0")
            await made.sync()
            made.clock.advance(3600)
            page = an_api("create_task(coro, *, name=None, context=None)", "\n## Errors\n\nMany.\n")
            site.set("/tasks.md", page.body, content_type="text/html")
            site.set("/", listed("/tasks.md", *OTHERS).body, content_type="text/html")
            await made.sync()
            yield made


async def test_names_sections_and_folders_are_told(world: World) -> None:
    found = await changes(world.store, await world.source())
    updated = next(one for one in found.documents if one.title == "Task groups")
    assert [note.words for note in updated.notes] == [
        "`tasks.create_task`: new parameter `context`",
        "new section Errors",
    ]
    assert [folder.words for folder in found.folders] == ["3 pages removed under /legacy"]
    assert not any("/legacy/" in one.reference for one in found.told)


async def test_markdown_has_a_part_for_each_kind_of_change(world: World) -> None:
    found = await changes(world.store, await world.source())
    text = shapes.markdown(found)
    assert text.startswith("## docs (2024-01-01)\n\n")
    assert (
        f"- [Task groups]({world.site.url}/tasks.md): `tasks.create_task`: new parameter `context`; new"
        in text
    )
    assert "### Removed\n\n- 3 pages removed under /legacy\n" in text


async def test_a_feed_has_an_entry_for_each_time_readers_saw_a_change(world: World) -> None:
    source = await world.source()
    text = shapes.atom(
        source, await releases(world.store, source), now=world.clock.now(), url="https://x/feed"
    )
    feed = ElementTree.fromstring(text)
    entries = feed.findall(f"{ATOM}entry")
    assert len(entries) == 2
    for one in (feed, *entries):
        assert all(one.findtext(f"{ATOM}{name}") for name in ("id", "title", "updated"))
    assert feed.findtext(f"{ATOM}updated") == entries[0].findtext(f"{ATOM}updated")
    assert len({one.findtext(f"{ATOM}id") for one in entries}) == 2
    content = entries[0].findtext(f"{ATOM}content") or ""
    assert "new parameter `context`" in content
    assert "3 pages removed under /legacy" in content
    assert feed.find(f"{ATOM}link[@rel='self']") is not None


async def test_the_ids_and_times_of_a_feed_stay_when_it_is_written_again(world: World) -> None:
    source = await world.source()
    first = shapes.atom(source, await releases(world.store, source), now=world.clock.now())
    world.clock.advance(86_400)
    await world.sync()
    source = await world.source()
    assert shapes.atom(source, await releases(world.store, source), now=world.clock.now()) == first


async def test_a_rollback_is_an_entry_of_its_own(world: World) -> None:
    source = await world.source()
    await history.rollback(world.ports, source, to_generation=1)
    source = await world.source()
    newest, *_ = await releases(world.store, source)
    text = shapes.atom(source, [newest], now=world.clock.now())
    assert "docs: back to generation 1: " in text


async def test_what_a_stranger_wrote_breaks_neither_format(world: World) -> None:
    evil = "# <script>alert(1)</script> [x](javascript:y) \x01\n\nBody.\n"
    world.site.set("/guide/d.md", evil, content_type="text/markdown")
    await world.sync()
    source = await world.source()
    text = shapes.atom(source, await releases(world.store, source), now=world.clock.now())
    ElementTree.fromstring(text)
    assert "<script>" not in text
    assert "<script>" not in shapes.markdown(await changes(world.store, source))
