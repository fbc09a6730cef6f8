"""Files that include others of their source: the text of both, and who is read again when one changes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rowen.engine.receipt import Receipt
from rowen.engine.run import sync
from rowen.managing import sources
from tests.kinds.files.test_kind import write
from tests.support.git_repository import WorkingCopy
from tests.support.github_pushes import PushingApi
from tests.support.site import Site
from tests.support.world import World, a_world

pytestmark = pytest.mark.anyio

GUIDE = "Guide\n=====\n\n.. include:: parts/common.rst\n\n.. literalinclude:: ../press.py\n   :lines: 2-\n"
COMMON = "Barley is common here.\n\n.. include:: deep.rst\n"
PRESS = "import secret_header\ndef press(): ...\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    (root / "guide/parts").mkdir(parents=True)
    write(root / "guide/index.rst", GUIDE)
    write(root / "guide/parts/common.rst", COMMON)
    write(root / "guide/parts/deep.rst", "Deep down grows rye.\n")
    write(root / "press.py", PRESS)
    write(root / "book.adoc", "= Book\n\ninclude::guide/parts/deep.rst[]\n")
    return root


@pytest.fixture
async def world(tmp_path: Path, folder: Path) -> AsyncIterator[World]:
    with Site() as unused:
        async with a_world(tmp_path, unused) as made:
            await sources.add(made.ports, str(folder), name="docs")
            yield made


async def found(world: World, word: str) -> list[str]:
    hits = (await world.search(word, limit=20)).hits
    places = [one.url for hit in hits for one in (hit, *hit.also_at)]
    return sorted({url.partition("#")[0].rpartition("docs/")[2] for url in places})


async def test_what_is_included_is_part_of_the_includer(world: World) -> None:
    await world.sync()
    assert await found(world, "barley") == ["guide/index.rst", "guide/parts/common.rst"]
    assert await found(world, "rye") == [
        "book.adoc",
        "guide/index.rst",
        "guide/parts/common.rst",
        "guide/parts/deep.rst",
    ]
    assert await found(world, "press") == ["guide/index.rst", "press.py"]
    assert await found(world, "secret_header") == ["press.py"]


async def test_pages_of_antora_have_the_partials_and_examples_of_their_modules(
    world: World, folder: Path
) -> None:
    for name in ("modules/cli/pages", "modules/cli/partials", "modules/api/examples"):
        (folder / name).mkdir(parents=True)
    write(folder / "modules/cli/pages/index.adoc", "= CLI\n\ninclude::partial$note.adoc[]\n")
    write(folder / "modules/cli/partials/note.adoc", "Millet.\n\ninclude::api:example$run.rb[tag=it]\n")
    write(folder / "modules/api/examples/run.rb", "# tag::it[]\nsorghum\n# end::it[]\nhidden_rest\n")
    receipt = await world.sync()
    page, note = "modules/cli/pages/index.adoc", "modules/cli/partials/note.adoc"
    assert (await found(world, "millet"), receipt.counters.ignored) == ([page, note], {})
    assert await found(world, "sorghum") == ["modules/api/examples/run.rb", page, note]
    assert page not in await found(world, "hidden_rest")


async def test_an_unchanged_folder_with_includes_is_compared_without_opening_a_file(world: World) -> None:
    await world.sync()
    receipt = await world.sync()
    assert (receipt.counters.reads, receipt.counters.not_modified, receipt.generation) == (0, 5, 1)


async def test_a_change_of_an_included_file_updates_its_includers_and_no_other(
    world: World, folder: Path
) -> None:
    await world.sync()
    write(folder / "guide/parts/deep.rst", "Deep down grows spelt.\n")
    receipt = await world.sync()
    assert (receipt.counters.updated, receipt.counters.unchanged) == (4, 1)
    assert await found(world, "spelt") == [
        "book.adoc",
        "guide/index.rst",
        "guide/parts/common.rst",
        "guide/parts/deep.rst",
    ]
    assert await found(world, "rye") == []
    assert (await world.sync()).counters.reads == 0


async def test_a_file_that_is_named_as_changed_brings_its_includers(world: World, folder: Path) -> None:
    await world.sync()
    write(folder / "press.py", "\ndef squeeze(): ...\n")
    receipt = await sync(world.ports, await world.source(), only=("press.py",))
    assert receipt.counters.updated == 2
    assert await found(world, "squeeze") == ["guide/index.rst", "press.py"]


async def test_an_included_file_that_is_missing_is_counted_and_noticed_when_it_appears(
    world: World, folder: Path
) -> None:
    (folder / "guide/parts/deep.rst").unlink()
    receipt = await world.sync()
    assert receipt.counters.ignored["include_missing"] == 3
    assert receipt.good
    assert (await world.sync()).counters.reads == 0
    write(folder / "guide/parts/deep.rst", "Deep down grows emmer.\n")
    await world.sync()
    assert len(await found(world, "emmer")) == 4


async def test_files_outside_of_the_source_are_not_followed(world: World, folder: Path) -> None:
    write(folder.parent / "outside.rst", "Millet stays outside.\n")
    write(folder / "guide/index.rst", "Guide\n=====\n\n.. include:: ../../outside.rst\n")
    (folder / "link.rst").symlink_to(folder.parent / "outside.rst")
    write(folder / "book.adoc", "= Book\n\ninclude::link.rst[]\n\ninclude::/etc/hostname[]\n")
    receipt = await world.sync()
    assert receipt.counters.ignored["include_outside"] == 1
    assert await found(world, "millet") == []


async def test_files_that_include_each_other_are_said_and_end(world: World, folder: Path) -> None:
    write(folder / "guide/parts/deep.rst", "Rye again.\n\n.. include:: common.rst\n")
    receipt = await world.sync()
    assert receipt.counters.ignored["include_in_a_circle"] >= 1
    assert await found(world, "barley") == [
        "guide/index.rst",
        "guide/parts/common.rst",
        "guide/parts/deep.rst",
    ]
    assert (await world.sync()).counters.reads == 0


async def test_a_chain_or_a_crowd_of_includes_is_bounded(world: World, folder: Path) -> None:
    for number in range(12):
        write(folder / f"c{number}.rst", f"Level{number} text.\n\n.. include:: c{number + 1}.rst\n")
    crowd = "\n\n.. include:: half.rst\n" * 30
    write(folder / "half.rst", "\n\n.. include:: press.py\n" * 30)
    write(folder / "crowd.rst", f"Crowd\n=====\n{crowd}")
    receipt = await world.sync()
    assert receipt.counters.ignored["include_too_deep"] > 0
    assert "c0.rst" in await found(world, "Level8")
    assert "c0.rst" not in await found(world, "Level9")
    assert receipt.counters.reads < 1500


async def test_a_git_repository_follows_includes_and_asks_nothing_when_nothing_changed(
    tmp_path: Path, world: World
) -> None:
    copy = WorkingCopy(tmp_path / "acre")
    copy.commit({"index.rst": "Home\n====\n\n.. include:: part.inc\n", "part.inc": "Sorghum grows.\n"})
    await sources.add(world.ports, str(copy.folder), name="acre", kind="git", settings={"include": "*.rst"})
    await world.sync("acre")
    assert [hit.url.rpartition("/")[2] for hit in (await world.search("sorghum")).hits] == ["index.rst"]
    assert (await world.sync("acre")).counters.reads == 0
    copy.commit({"part.inc": "Teff grows.\n"})
    receipt = await world.sync("acre")
    assert receipt.counters.updated == 1
    assert [hit.url.rpartition("/")[2] for hit in (await world.search("teff")).hits] == ["index.rst"]


@pytest.fixture
def api() -> PushingApi:
    api = PushingApi()
    api.repository(
        "acre/docs",
        {
            "index.rst": "Home\n====\n\n.. include:: part.rst\n",
            "part.rst": "Sorghum grows.\n",
            "b.md": "# B\n",
        },
    )
    return api


async def test_a_repository_at_github_follows_includes_in_listings_and_in_pushes(
    tmp_path: Path, api: PushingApi
) -> None:
    with api:
        async with a_world(tmp_path, api) as world:
            settings = {"api_url": world.site.url, "wiki": "false"}
            await sources.add(
                world.ports, "https://github.com/acre/docs", name="docs", kind="github", settings=settings
            )
            await world.sync()
            assert len(await texts(world, "sorghum")) == 2
            assert (await world.sync()).counters.not_modified == 3

            async def push(word: str, *, named: bool) -> Receipt:
                repository = api.repositories["acre/docs"]
                repository.write("part.rst", f"{word} grows.\n")
                api.commit(repository)
                only = ("part.rst",) if named else None
                return await sync(world.ports, await world.source(), only=only)

            for word, named in (("Teff", False), ("Fonio", True)):
                api.clear_log()
                receipt = await push(word, named=named)
                assert named == (not any(path.startswith("trees/") for path in api.paths))
                assert receipt.counters.updated == 2
                assert len(await texts(world, word)) == 2
            assert (await world.sync()).counters.not_modified == 3


async def texts(world: World, word: str) -> set[str]:
    hits = (await world.search(word)).hits
    return {one.url for hit in hits for one in (hit, *hit.also_at)}
