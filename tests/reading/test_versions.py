"""What changed between two versions of one thing: pages by path, names wherever they are, sections."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rowen.core.compare.matching import PageOf, is_version, match, path_key
from rowen.errors import NotFound, UserError
from rowen.managing import sources
from rowen.managing.find import find_pair
from rowen.reading.versions import Compared, compare
from tests.support.manual import a_manual_page
from tests.support.site import Page, Site, html
from tests.support.world import World, a_world

pytestmark = pytest.mark.anyio


def function(name: str, signature: str, about: str = "Does it.") -> str:
    return f"\n## `{name}()` {{#{name} .function}}\n\n`{signature}`\n\n{about}\n"


md = a_manual_page


OLD = {
    "tasks.md": "# Tasks\n\nAbout tasks.\n" + function("aio.task", "task(coro, *, name=None)")
    + function("aio.loop", "loop()") + "\n## Notes\n\nOld notes.\n",
    "queues.md": "# Queues\n\nAbout queues.\n" + function("aio.queue", "queue(size=0)"),
    "same.md": "# Same\n\nNothing new.\n" + function("aio.same", "same()"),
    "legacy/a.md": "# A\n\nLegacy a.\n",
    "legacy/b.md": "# B\n\nLegacy b.\n",
    "legacy/c.md": "# C\n\nLegacy c.\n",
}  # fmt: skip
NEW = {
    "tasks.md": "# Tasks\n\nAbout tasks.\n" + function("aio.task", "task(coro, *, name=None, context=None)")
    + "\n## Notes\n\nNew notes.\n\n## Errors\n\nMany.\n",
    "pipes.md": "# Pipes\n\nAbout pipes.\n" + function("aio.queue", "queue(size=0)")
    + function("aio.runner", "runner(debug=False)"),
    "queues.md": "# Queues\n\nAbout queues. See pipes.\n",
    "same.md": OLD["same.md"],
}  # fmt: skip


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    pages: dict[str, str | bytes | Page] = {}
    for version, texts in (("3.11", OLD), ("3.12", NEW)):
        pages[f"/{version}/"] = html(
            "Docs", "All of it: " + ", ".join(texts), links=[f"/{version}/{path}" for path in texts]
        )
        pages |= {f"/{version}/{path}": md(text) for path, text in texts.items()}
    with Site(pages) as site:
        async with a_world(tmp_path, site) as made:
            for version in ("3.11", "3.12"):
                location = f"{site.url}/{version}/"
                await sources.add(made.ports, location, name="aio", version=version)
                await made.sync(f"aio@{version}")
            yield made


async def between(
    world: World, before: str = "aio@3.11", after: str = "aio@3.12", limit: int = 40
) -> Compared:
    return await compare(world.store, *await find_pair(world.store, before, after), limit=limit)


async def test_names_are_new_removed_and_changed_and_one_that_moved_is_none_of_these(world: World) -> None:
    found = await between(world)
    assert [one.note.words for one in found.symbols] == [
        "new function `aio.runner`",
        "function `aio.loop` removed",
        "`aio.task`: new parameter `context`",
    ]
    assert found.symbols[0].url.endswith("/3.12/pipes.md#aio.runner")


async def test_a_name_that_a_page_without_changes_still_defines_is_neither_removed_nor_new(
    tmp_path: Path,
) -> None:
    kept = "# Reference\n\nAll names.\n" + function("aio.both", "both()") + function("aio.late", "late()")
    texts = {
        "1.0": {"guide.md": "# Guide\n\nRead it.\n" + function("aio.both", "both()"), "ref.md": kept},
        "2.0": {"guide.md": "# Guide\n\nRead it all.\n" + function("aio.late", "late()"), "ref.md": kept},
    }
    pages: dict[str, str | bytes | Page] = {}
    for version, of_version in texts.items():
        links = [f"/{version}/{path}" for path in of_version]
        pages[f"/{version}/"] = html("Docs", "All of it.", links=links)
        pages |= {f"/{version}/{path}": md(text) for path, text in of_version.items()}
    with Site(pages) as site:
        async with a_world(tmp_path, site) as world:
            for version in texts:
                location = f"{site.url}/{version}/"
                await sources.add(world.ports, location, name="aio", version=version)
                await world.sync(f"aio@{version}")
            found = await between(world, "aio@1.0", "aio@2.0")
    assert found.symbols == ()
    assert (found.counts["symbols_removed"], found.counts["symbols_added"]) == (0, 0)
    assert (found.counts["pages_changed"], found.counts["pages_same"]) == (1, 2)


async def test_sections_and_pages_are_matched_by_their_paths_without_the_version(world: World) -> None:
    found = await between(world)
    assert [(one.title, one.note.words) for one in found.sections] == [
        ("Tasks", "new section Errors"),
        ("Docs", "Docs changed"),
        ("Queues", "Queues changed"),
        ("Tasks", "Notes changed"),
    ]
    assert [one.title for one in found.pages_added] == ["Pipes"]
    assert [folder.words for folder in found.folders] == ["3 pages removed under /3.11/legacy"]
    assert found.counts["pages_same"] == 1
    assert found.summary == (
        "1 new symbol, 1 removed symbol, 1 changed symbol, 1 new section, 3 changed sections,"
        " 1 new page, 3 removed pages, 3 changed pages"
    )


async def test_a_page_that_links_into_its_own_version_is_not_changed_by_that(tmp_path: Path) -> None:
    pages: dict[str, str | bytes | Page] = {}
    for version in ("1.0", "2.0"):
        body = f'<h2 id="see-{version[0]}">See</h2><p>See <a href="/{version}/other">the other one</a>.</p>'
        pages |= {f"/{version}/": html("Docs", body), f"/{version}/other": html("Other", f"Of {version}.")}
    with Site(pages) as site:
        async with a_world(tmp_path, site) as world:
            for version in ("1.0", "2.0"):
                await sources.add(world.ports, f"{site.url}/{version}/", name="aio", version=version)
                await world.sync(f"aio@{version}")
            found = await between(world, "aio@1.0", "aio@2.0")
    assert (found.counts["pages_changed"], found.counts["pages_same"]) == (1, 1)
    assert found.summary == "1 changed section, 1 changed page"


async def test_the_lists_are_bounded_and_the_counts_are_not(world: World) -> None:
    found = await between(world, limit=1)
    assert [len(one) for one in (found.symbols, found.sections, found.pages_removed)] == [1, 1, 1]
    assert (found.counts["symbols_changed"], found.counts["pages_removed"]) == (1, 3)


async def test_a_version_with_itself_has_no_difference(world: World) -> None:
    found = await between(world, after="aio@3.11")
    assert found.summary == "no difference"


async def test_a_version_alone_is_one_of_the_other_source(world: World) -> None:
    before, after = await find_pair(world.store, "3.11", "aio@3.12")
    assert (before.label, after.label) == ("aio@3.11", "aio@3.12")
    before, after = await find_pair(world.store, "aio@3.11", "3.12")
    assert (before.label, after.label) == ("aio@3.11", "aio@3.12")
    with pytest.raises(NotFound):
        await find_pair(world.store, "aio@3.11", "3.13")


async def test_a_source_that_was_never_synced_is_refused(world: World) -> None:
    await sources.add(world.ports, f"{world.site.url}/3.11/", name="other")
    with pytest.raises(UserError, match="source `other`: never synced"):
        await between(world, "aio@3.11", "other")


@pytest.mark.parametrize(
    ("reference", "location", "key"),
    [
        ("https://x.org/3.11/library/asyncio.html", "https://x.org/3.11/", "library/asyncio"),
        ("https://x.org/en/3.12/ref.html", "https://x.org/en/3.12/index.html", "ref"),
        ("https://x.org/docs/v2/ref/", "https://x.org/", "docs/ref"),
        ("https://x.org/docs/stable/ref/index.html", "https://x.org/docs/", "ref"),
        ("docs/1.2.x/a.md", "/srv/docs", "docs/a.md"),
        ("https://x.org/2024/report.html", "https://x.org/", "2024/report"),
    ],
)
def test_a_path_is_compared_without_its_version(reference: str, location: str, key: str) -> None:
    assert path_key(reference, location=location) == key


def test_a_version_is_told_from_a_name() -> None:
    assert all(map(is_version, ("3.11", "v2", "v2.0.1", "2.x", "1.0rc1", "stable")))
    assert not any(map(is_version, ("2024", "asyncio", "v", "3d.html", "python3")))
    assert is_version("11", "11")


def test_pages_with_other_paths_are_matched_by_a_title_that_both_have_once() -> None:
    def page(reference: str, title: str) -> PageOf:
        return PageOf(reference, reference, title, b"")

    found = match(
        {"a": page("a", "Install"), "b": page("b", "Notes"), "c": page("c", "Notes")},
        {"x": page("x", "Install"), "y": page("y", "Notes")},
    )
    assert [(one.reference, two.reference) for one, two in found.pairs] == [("a", "x")]
    assert [one.reference for one in found.removed] == ["b", "c"]
    assert [one.reference for one in found.added] == ["y"]
