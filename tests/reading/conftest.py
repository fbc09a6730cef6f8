"""A small site that was harvested once, for what reads it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.site import Site, html
from tests.support.world import World, a_world


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    pages = {
        "/": html("Home", "Hello", links=["/a.html", "/b.html"]),
        "/a.html": html("A", "First.", '<h2 id="more">More</h2>', "Old words."),
        "/b.html": html("B", "Second."),
    }
    with Site(pages) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            yield world
