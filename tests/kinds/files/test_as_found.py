"""A folder that is as a run found it is listed and nothing else; whatever differs is compared."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rowen.core.run import Counters
from rowen.engine import run
from rowen.managing import edit, sources
from rowen.managing import find as finding
from rowen.reading import history
from tests.kinds.files.test_kind import age, write
from tests.support.site import Site
from tests.support.world import World, a_world

pytestmark = pytest.mark.anyio


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    root.mkdir()
    for crop in ("barley", "oats", "rye"):
        write(root / f"{crop}.md", f"# {crop}\n\nAbout {crop}.\n")
    write(root / "field.png", b"\x89PNG")
    write(root / "seeds", b"\0\1\2")
    return root


@pytest.fixture
async def world(tmp_path: Path, folder: Path) -> AsyncIterator[World]:
    """With a folder that one run has harvested and another one has compared."""
    with Site() as unused:
        async with a_world(tmp_path, unused) as made:
            await sources.add(made.ports, str(folder), name="docs")
            await made.sync()
            await unwatched(made)
            yield made


async def unwatched(world: World, *, full: bool = False) -> Counters:
    world.clock.advance(60)
    source = await finding.find(world.store, "docs")
    return (await run.sync(world.ports, source, full=full)).counters


@pytest.fixture
def nothing_is_compared(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    async def known(*_: object) -> None:
        raise AssertionError("what is known of the files was read")

    monkeypatch.setattr(world.store, "known", known)


@pytest.mark.usefixtures("nothing_is_compared")
async def test_a_folder_that_is_as_it_was_found_is_not_compared_and_counts_the_same(world: World) -> None:
    rows = world.store.rows_written()
    counters = await unwatched(world)
    assert (counters.unchanged, counters.not_modified, counters.reads) == (3, 3, 0)
    assert counters.ignored == {"binary": 2}
    assert counters.bytes_avoided == sum(
        len(f"# {crop}\n\nAbout {crop}.\n") for crop in ("barley", "oats", "rye")
    )
    assert world.store.rows_written() - rows <= 9


@pytest.mark.usefixtures("nothing_is_compared")
async def test_a_hit_is_verified_by_the_listing_of_that_run(world: World) -> None:
    (before,) = (await world.search("oats")).hits
    await unwatched(world)
    (after,) = (await world.search("oats")).hits
    assert after.verified_by == before.verified_by == "listing"
    assert after.verified_at != before.verified_at


async def test_a_watched_run_tells_of_every_file_all_the_same(world: World) -> None:
    receipt = await world.sync()
    assert len([event for event in world.events if event.kind == "item"]) == 3
    assert receipt.counters.as_dict() == (await unwatched(world)).as_dict()


async def test_a_file_that_changed_came_or_went_is_found(world: World, folder: Path) -> None:
    write(folder / "oats.md", "# oats\n\nAbout spelt.\n")
    write(folder / "maize.md", "# maize\n\nAbout maize.\n")
    (folder / "rye.md").unlink()
    counters = await unwatched(world)
    assert (counters.updated, counters.created, counters.deleted, counters.unchanged) == (1, 1, 1, 1)
    assert (await unwatched(world)).unchanged == 3
    assert (await unwatched(world)).unchanged == 3


async def test_a_file_that_was_touched_is_opened(world: World, folder: Path) -> None:
    age(folder / "oats.md")
    assert (await unwatched(world)).reads == 1
    assert (await unwatched(world)).reads == 0


async def test_a_full_sync_opens_every_file(world: World) -> None:
    assert (await unwatched(world, full=True)).reads == 4


async def test_after_a_rollback_the_folder_is_compared_with_what_readers_see(
    world: World, folder: Path
) -> None:
    write(folder / "oats.md", "# oats\n\nAbout spelt.\n")
    await unwatched(world)
    await unwatched(world)
    await history.rollback(world.ports, await finding.find(world.store, "docs"))
    counters = await unwatched(world)
    assert (counters.updated, counters.unchanged) == (1, 2)
    assert await world.found("spelt") == [(folder / "oats.md").as_uri()]


async def test_other_settings_are_compared_with(world: World) -> None:
    source = await finding.find(world.store, "docs")
    await edit.carry_out(world.ports, await edit.plan(world.ports, source, settings={"exclude": "rye.*"}))
    assert (await unwatched(world)).deleted == 1
    assert await world.pages() == {"barley.md", "oats.md"}


async def test_a_folder_with_a_part_that_cannot_be_read_is_compared_each_time(
    world: World, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scan = world.ports.folders.scan

    async def with_a_closed_folder(root: str, options: object) -> object:
        found = await scan(root, options)  # type: ignore[arg-type]
        entries = [entry for entry in found.entries if entry.path != "rye.md"]
        return type(found)(entries=entries, passed_over={}, unreadable=[("rye.md", "closed")])

    monkeypatch.setattr(world.ports.folders, "scan", with_a_closed_folder)
    for _ in range(2):
        counters = await unwatched(world)
        assert (counters.unchanged, counters.deleted, counters.failed) == (2, 0, 1)
