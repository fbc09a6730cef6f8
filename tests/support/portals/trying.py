"""A source of one family's portal in a whole Rowen, and what its readers see."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from rowen.managing import sources
from tests.support.portals.skeleton import Family, Portals
from tests.support.world import World, a_world


@asynccontextmanager
async def a_source_of(family: Family, folder: Path, **settings: object) -> AsyncIterator[World]:
    """The source `data`, added without asking."""
    with Portals(data=family) as portals:
        async with a_world(folder, portals) as world:
            given = {key: str(value) for key, value in settings.items()}
            await sources.add(
                world.ports, portals.at("data"), name="data", kind=family.kind, settings=given, check=False
            )
            yield world


async def visible(world: World, name: str = "data") -> set[str]:
    return set(await world.store.known((await world.source(name)).id))


async def metadata(world: World, reference: str) -> dict[str, Any]:
    return (await world.store.metadata((await world.source("data")).id))[reference]
