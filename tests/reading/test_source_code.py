"""Names that source code defines: asked for, they lead to their definition, and to a manual's first."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rowen.managing import sources
from tests.support.site import Site
from tests.support.world import World, a_world

pytestmark = pytest.mark.anyio

SHELF = """
class Shelf:
    def add(self, jar): ...
    def take(self, jar): ...


def open_shelf(name):
    return Shelf()
"""
CALLS = (
    "# Recipes\n\nShelf.add(jam), Shelf.take(jam), Shelf.add(honey), open_shelf(cold), open_shelf(warm).\n"
)
MANUAL = "# Manual\n\nFor cooks.\n\n## `Shelf.take(jar)` {#larder.Shelf.take .method}\n\nTakes one jar.\n"


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    folder = tmp_path / "larder"
    folder.mkdir()
    (folder / "shelf.py").write_text(SHELF, "utf-8")
    (folder / "recipes.md").write_text(CALLS, "utf-8")
    with Site() as unused:
        async with a_world(tmp_path, unused) as made:
            await sources.add(made.ports, str(folder), name="larder")
            await made.sync("larder")
            yield made


@pytest.mark.parametrize(
    ("query", "heading", "defines"),
    [
        ("open_shelf", "shelf.py › def open_shelf", "shelf.open_shelf"),
        ("larder.shelf.open_shelf", "shelf.py › def open_shelf", "shelf.open_shelf"),
        ("Shelf", "shelf.py › class Shelf", "shelf.Shelf"),
        ("Shelf.add", "shelf.py › class Shelf", "shelf.Shelf"),
        ("shelf.Shelf.take()", "shelf.py › class Shelf", "shelf.Shelf"),
    ],
)
async def test_a_name_leads_to_its_definition_before_texts_that_use_it(
    world: World, query: str, heading: str, defines: str
) -> None:
    first = (await world.search(query)).hits[0]
    assert (first.heading_path, first.defines) == (heading, defines)


async def test_a_manual_that_defines_the_name_comes_first(world: World, tmp_path: Path) -> None:
    (tmp_path / "larder" / "manual.md").write_text(MANUAL, "utf-8")
    await world.sync("larder")
    assert [hit.defines for hit in (await world.search("Shelf.take")).hits] == [
        "larder.Shelf.take",
        "shelf.Shelf",
        None,
    ]


async def test_a_member_of_a_short_class_is_shown_where_it_stands(world: World) -> None:
    assert "def take" in (await world.search("Shelf.take")).hits[0].snippet
