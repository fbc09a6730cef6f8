"""Following a source: a site by its schedule, and which run a batch of file events asks for."""

from __future__ import annotations

import asyncio
import shutil
from contextlib import aclosing
from pathlib import Path

import pytest

from rowen.engine.receipt import Receipt
from rowen.errors import Unfetchable
from rowen.managing import sources
from rowen.ports.folders import Touched
from rowen.service.attempts import NotRun
from rowen.service.watch import _wanted, watch
from tests.support.site import Site
from tests.support.world import World, a_site_of, a_world

pytestmark = pytest.mark.anyio
HOUR_S = 3600.0


async def test_a_site_is_synced_again_when_its_interval_is_over(tmp_path: Path) -> None:
    with a_site_of(3) as site:
        async with a_world(tmp_path, site) as world:
            source = await world.add()
            async with aclosing(watch(world.ports, source, default_every_s=HOUR_S)) as results:
                first = await anext(results)
                assert isinstance(first, Receipt)
                assert first.counters.created == 3
                coming = asyncio.ensure_future(anext(results))
                await world.clock.asleep(HOUR_S / 2)
                assert not coming.done()
                world.clock.advance(2 * HOUR_S)
                second = await coming
                assert isinstance(second, Receipt)
                assert second.counters.not_modified == 3


async def test_a_source_that_another_process_runs_is_tried_again(tmp_path: Path) -> None:
    with a_site_of(2) as site:
        async with a_world(tmp_path, site) as world:
            source = await world.add()
            lease = await world.store.acquire_lease(
                f"source:{source.id}", "other", now=world.clock.now(), ttl_s=60
            )
            assert lease is not None
            async with aclosing(watch(world.ports, source, default_every_s=HOUR_S)) as results:
                refused = await anext(results)
                assert isinstance(refused, NotRun)
                assert "being synced by `other`" in refused.reason


async def test_a_folder_that_is_not_there_is_reported_without_a_run(tmp_path: Path) -> None:
    with Site() as site:
        async with a_world(tmp_path, site) as world:
            folder = await a_folder(world, tmp_path)
            shutil.rmtree(folder)
            source = await world.source()
            before = await world.store.runs(source.id, limit=9)
            with pytest.raises(Unfetchable, match="no such file or folder"):
                await anext(watch(world.ports, source, default_every_s=HOUR_S))
            assert await world.store.runs(source.id, limit=9) == before


async def a_folder(world: World, tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "deep").mkdir(parents=True)
    for path in ("a.md", "deep/b.md"):
        (folder / path).write_text(f"# {path}\n\nText.\n")
    await sources.add(world.ports, str(folder), name="docs", settings={"exclude": "*.log"})
    await world.sync()
    return folder


@pytest.mark.parametrize(
    ("path", "exists", "is_file", "only"),
    [
        ("a.md", True, True, ("a.md",)),
        ("a.md", False, False, ("a.md",)),
        ("new.md", True, True, ("new.md",)),
        ("came-and-went.md", False, False, ()),
        ("run.log", True, True, ()),
        (".a.md.swp", True, True, ()),
        ("deep", False, False, None),
        ("other", True, False, None),
        (".gitignore", True, True, None),
    ],
)
async def test_a_run_is_for_the_files_that_changed_or_for_everything(
    tmp_path: Path, path: str, exists: bool, is_file: bool, only: tuple[str, ...] | None
) -> None:
    with Site() as site:
        async with a_world(tmp_path, site) as world:
            await a_folder(world, tmp_path)
            batch = [Touched(path, exists=exists, is_file=is_file)]
            assert await _wanted(world.ports, await world.source(), batch) == only
