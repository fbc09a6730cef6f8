"""What changed in a source, summed up for people."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from rowen.reading import history
from rowen.reading.changes import SourceChanges, all_changes, changes
from tests.support.site import Site, html
from tests.support.world import World, a_page, a_world

pytestmark = pytest.mark.anyio

DAY = timedelta(days=1)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    pages = {path: a_page(path, "oats") for path in ("/a", "/b", "/c")}
    with Site({"/": html("Home", "barley", links=list(pages)), **pages}) as site:
        async with a_world(tmp_path, site) as made:
            await made.add()
            await made.sync()
            made.clock.advance(DAY.total_seconds())
            yield made


async def since(world: World, **given: object) -> SourceChanges:
    return await changes(world.store, await world.source(), **given)  # type: ignore[arg-type]


def told(found: SourceChanges) -> dict[str, str]:
    return {one.reference.rpartition("/")[2]: one.word for one in found.documents}


async def edit(world: World) -> None:
    world.site.set("/a", a_page("/a", "rye"))
    world.site.set("/new", a_page("/new", "spelt"))
    world.site.set("/b", "gone", status=404)
    world.site.set("/", html("Home", "barley", links=["/a", "/c", "/new"]))
    await world.sync()


async def test_the_last_change_is_summed_up_with_titles_and_sections(world: World) -> None:
    await edit(world)
    found = await since(world)
    assert found.summary == "1 new, 1 updated, 1 removed"
    assert (found.from_generation, found.to_generation, found.more) == (1, 2, 0)
    assert told(found) == {"a": "updated", "new": "new", "b": "removed"}
    updated = next(one for one in found.documents if one.word == "updated")
    assert (updated.title, updated.sections) == ("Page a", ("Page a",))
    assert next(one for one in found.documents if one.word == "removed").title == "Page b"


async def test_a_document_that_changed_twice_is_told_once_by_what_it_was_before(world: World) -> None:
    now = world.clock.now()
    await edit(world)
    world.clock.advance(60)
    world.site.set("/new", a_page("/new", "spelt and rye"))
    await world.sync()
    found = await since(world, since=now)
    assert (found.summary, told(found)["new"]) == ("1 new, 1 updated, 1 removed", "new")
    assert (await since(world)).summary == "1 updated"
    assert (await since(world, since=now - 2 * DAY)).counts == {"added": 4, "changed": 0, "removed": 0}


async def came_and_went(world: World) -> None:
    """`/new` comes and goes; `/a` is changed."""
    await edit(world)
    world.clock.advance(60)
    world.site.remove("/new")
    world.site.set("/", html("Home", "barley", links=["/a", "/c"]))
    await world.sync()


async def test_a_document_that_came_and_went_was_counted_as_removed(world: World) -> None:
    now = world.clock.now()
    await came_and_went(world)
    found = await since(world, since=now)
    assert told(found) == {"a": "updated", "b": "removed"}
    assert (found.summary, found.more) == ("1 updated, 1 removed", 0)
    assert told(await since(world)) == {"new": "removed"}, "of the last change it is what happened"


async def test_a_document_that_changed_and_changed_back_is_not_told(world: World) -> None:
    now = world.clock.now()
    for word in ("rye", "oats"):
        world.clock.advance(60)
        world.site.set("/a", a_page("/a", word))
        await world.sync()
    assert (await since(world, since=now)).summary == "nothing new"
    assert told(await since(world)) == {"a": "updated"}


async def test_the_feed_tells_what_came_and_went_where_history_is_not_kept(world: World) -> None:
    now = world.clock.now()
    await came_and_went(world)
    store: Any = WithoutHistory(world.store)
    found = await changes(store, await world.source(), since=now)
    assert told(found) == {"a": "updated", "b": "removed"}


async def test_what_a_rollback_and_the_way_back_touched_is_not_told(world: World) -> None:
    await came_and_went(world)
    world.clock.advance(60)
    now = world.clock.now()
    await history.rollback(world.ports, await world.source(), to_generation=1)
    assert told(await since(world, since=now)) == {"a": "updated", "b": "new"}
    world.clock.advance(60)
    await history.rollback(world.ports, await world.source(), to_generation=3)
    found = await since(world, since=now)
    assert (found.documents, found.summary) == ((), "nothing new")


class WithoutHistory:
    """The store, with no generation but the one that readers see."""

    def __init__(self, store: Any) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def generations(self, source_id: int) -> list[Any]:
        return [one for one in await self._store.generations(source_id) if one.active]


async def test_nothing_new_is_said_in_words_and_such_sources_are_left_out(world: World) -> None:
    now = world.clock.now()
    await world.sync()
    found = await since(world, since=now)
    assert (found.summary, found.documents, found.until) == ("nothing new", (), None)
    source = await world.source()
    assert await all_changes(world.store, [source], since=now) == []
    assert [one.summary for one in await all_changes(world.store, [source], since=now - 2 * DAY)] == ["4 new"]


async def test_a_rollback_is_a_change_too_and_only_so_many_documents_are_listed(world: World) -> None:
    await edit(world)
    await history.rollback(world.ports, await world.source())
    found = await since(world, limit=1)
    assert (found.from_generation, found.to_generation) == (2, 1)
    assert sum(found.counts.values()) == 3
    assert (len(found.documents), found.more) == (1, 2)
