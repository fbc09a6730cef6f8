"""A city's portal, a state's that harvested it, and a nation's catalogue that lists both: the same datasets.

The copies have what harvesters leave them: their own pages, ids and wrapping, the title and the text, and
one or two of the original's identifier, landing page and files.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rowen.managing import sources
from tests.support.ckan_server import CkanServer, a_dataset
from tests.support.site import Site
from tests.support.world import World, a_world

AIR = "3f2a1b56-1f0e-4c57-9f5c-9d6a3c0e7f11"
NOISE = "4f2a1b56-1f0e-4c57-9f5c-9d6a3c0e7f22"
TERMS = "https://state.example/docs/terms-of-use.pdf"
PORTALS = ("city", "state", "nation")


@dataclass
class Mirrored:
    city: CkanServer
    state: CkanServer
    nation: Site

    @property
    def locations(self) -> dict[str, tuple[str, str]]:
        """Kind and address of each."""
        return {
            "city": ("ckan", self.city.url),
            "state": ("ckan", self.state.url),
            "nation": ("dcat", f"{self.nation.url}/data.json"),
        }

    def list_nation(self, *datasets: dict[str, Any]) -> None:
        body = {"@type": "dcat:Catalog", "dataset": list(datasets)}
        self.nation.set("/data.json", json.dumps(body), content_type="application/json")


def ckan_row(id: str, name: str, title: str, files: list[str], **changes: Any) -> dict[str, Any]:  # noqa: A002
    resources = [{"id": f"{name}-{n}", "name": f"File {n}", "url": url} for n, url in enumerate(files)]
    notes = f"{title} in the city, measured by sensors."
    return a_dataset(1, id=id, name=name, title=title, notes=notes, resources=resources, **changes)


def dcat_row(identifier: str, title: str, page: str, files: list[str]) -> dict[str, Any]:
    return {
        "@type": "dcat:Dataset",
        "identifier": identifier,
        "title": title,
        "description": f"Listed by the nation: {title}, sensors.",
        "landingPage": page,
        "publisher": {"name": "The Nation"},
        "distribution": [{"title": "Table", "downloadURL": url} for url in files],
    }


@contextmanager
def mirrored() -> Iterator[Mirrored]:
    """`Air quality` is on all three, `Noise` on two; the others share something that tells nothing."""
    with CkanServer() as city, CkanServer() as state, Site() as nation:
        air, noise = (
            [f"{city.url}/files/air.csv", f"{city.url}/files/air.json"],
            [f"{city.url}/files/noise.csv"],
        )
        city.put(ckan_row(AIR, "air", "Air quality", air))
        city.put(ckan_row(NOISE, "noise", "Noise", noise))
        city.put(ckan_row("city-trees-1", "trees", "Trees", [f"{city.url}/files/trees.csv", TERMS]))
        harvested = [{"key": "guid", "value": AIR}]
        state.put(ckan_row("state-000001", "air-quality-city", "Air quality", air, extras=harvested))
        state.put(ckan_row("state-000002", "noise-city", "Noise", noise))
        state.put(
            ckan_row("state-000003", "trees-state", "Trees", ["https://state.example/f/trees.csv", TERMS])
        )
        portals = Mirrored(city, state, nation)
        portals.list_nation(
            dcat_row("N-17-2024", "Air quality", f"{city.url}/dataset/air", air),
            dcat_row("N-18-2024", "Budget of sensors", f"{city.url}/dataset/noise", []),
        )
        yield portals


@asynccontextmanager
async def a_mirror(folder: Path, **options: Any) -> AsyncIterator[tuple[World, Mirrored]]:
    """The three, added and synced."""
    with mirrored() as portals:
        async with a_world(folder, portals.city, **options) as world:
            for name, (kind, location) in portals.locations.items():
                await sources.add(world.ports, location, name=name, kind=kind, check=False)
                await world.sync(name)
            yield world, portals
