"""What differs between two generations: documents, sections, words; and what is held."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rowen.core.compare.words import Mark
from rowen.core.run import RunStatus
from rowen.errors import NotFound
from rowen.reading import diff, history
from tests.support.site import Site, html
from tests.support.world import World, a_page, a_world

pytestmark = pytest.mark.anyio


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    paths = [f"/{n}" for n in range(24)]
    pages = {path: a_page(path, "oats are sown in spring") for path in paths}
    with Site({"/": html("Home", "barley", links=paths), **pages}) as site:
        async with a_world(tmp_path, site) as made:
            await made.add()
            await made.sync()
            yield made


async def test_the_words_that_differ_between_two_generations(world: World) -> None:
    world.site.set("/3", a_page("/3", "oats are sown in autumn"))
    await world.sync()
    source, url = await world.source(), world.site.url + "/3"
    found = await history.diff(world.store, source)
    assert (found.from_generation, found.to_generation, found.held) == (1, 2, False)
    assert found.counts == {"added": 0, "changed": 1, "removed": 0}
    one = await diff.document(world.store, source, url, from_generation=1, to_generation=2)
    words = {
        mark: [
            piece.text.strip()
            for section in one.text.sections
            for piece in section.pieces
            if piece.mark is mark
        ]
        for mark in (Mark.REMOVED, Mark.ADDED)
    }
    assert (one.kind, words) == ("changed", {Mark.REMOVED: ["spring"], Mark.ADDED: ["autumn"]})
    oldest, newest = await world.store.versions(source.id, url)
    assert (oldest.born, oldest.died, newest.born, newest.died) == (1, 2, 2, None)
    assert newest.text is None


async def test_a_document_in_neither_generation_is_not_found(world: World) -> None:
    with pytest.raises(NotFound, match="in neither generation"):
        await diff.document(
            world.store, await world.source(), "https://x.example/", from_generation=1, to_generation=1
        )


async def test_without_numbers_the_held_generation_is_compared_with_what_readers_see(world: World) -> None:
    for number in range(20):
        world.site.set(f"/{number}", "gone", status=404)
    assert (await world.sync()).status is RunStatus.HELD
    source = await world.source()
    found = await history.diff(world.store, source)
    assert (found.from_generation, found.to_generation, found.held) == (1, 2, True)
    assert found.counts["removed"] == 20
    gone = await diff.document(world.store, source, world.site.url + "/3", from_generation=1, to_generation=2)
    assert (gone.kind, gone.after) == ("removed", None)
