"""What a run says of the items that an earlier run stored and no reader saw."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rowen.core.document import Outcome
from rowen.doors.shapes import runs as shapes
from rowen.engine.intake.intake import RESUMED
from tests.support.site import Site
from tests.support.world import World, a_page, a_site_of, a_world

pytestmark = pytest.mark.anyio


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    with a_site_of(5) as site:
        async with a_world(tmp_path, site) as made:
            yield made


async def killed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    class Crash(BaseException):
        """Stands for the end of the process."""

    async def die(*given: object, **named: object) -> None:
        raise Crash

    with monkeypatch.context() as dying, pytest.raises(Crash):
        dying.setattr(type(world.store), "finish_run", die)
        await world.sync()


def changed(site: Site, path: str) -> None:
    site.set(path, a_page(path, "another", "harvest"))


async def test_pages_that_a_killed_run_had_stored_were_called_new_and_unchanged(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.add()
    await killed(world, monkeypatch)
    receipt = await world.sync()
    pages = len(await world.pages())
    assert (receipt.counters.created, receipt.counters.resumed) == (pages, pages)
    items = await world.store.run_items(receipt.run_id)
    assert {(item.outcome, item.detail) for item in items} == {(Outcome.CREATED, RESUMED)}
    assert shapes.unlisted(receipt.counters.as_dict()) == {}


async def test_what_readers_saw_before_the_killed_run_is_counted_as_unchanged(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.add()
    await world.sync()
    path = sorted(await world.pages())[1]
    changed(world.site, path)
    await killed(world, monkeypatch)
    receipt = await world.sync()
    (item,) = await world.store.run_items(receipt.run_id)
    assert item.outcome is Outcome.UPDATED
    assert sum(shapes.unlisted(receipt.counters.as_dict()).values()) == len(await world.pages()) - 1


async def test_a_page_that_answered_304_and_went_is_listed_and_not_counted_as_unchanged(world: World) -> None:
    await world.add()
    await world.sync()
    (home, *others) = sorted(await world.pages())
    # No page links to the last one any more.
    for path in (home, *others[:-1]):
        world.site.set(path, a_page(path, "x", links=[home, *others[:-1]]))
    receipt = await world.sync()
    listed = len(await world.store.run_items(receipt.run_id))
    unlisted = sum(shapes.unlisted(receipt.counters.as_dict()).values())
    assert listed + unlisted == receipt.counters.processed
