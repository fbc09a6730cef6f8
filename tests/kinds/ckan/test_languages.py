"""Records in several languages: each is found in its own, filters choose one, and hits say which."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from rowen.core.search.hit import Filters
from rowen.managing import sources
from rowen.reading import read as reading
from tests.support.ckan_server import CkanServer, a_dataset
from tests.support.world import World, a_world

pytestmark = pytest.mark.anyio

SWISS: dict[str, Any] = {
    "title": {"de": "Luftqualität", "fr": "Qualité de l'air", "it": "", "en": "Air quality"},
    "notes": {"de": "# Messung\n\nStickstoffdioxid je Stunde.", "fr": "Dioxyde d'azote par heure."},
    "keywords": {"de": ["Luft"], "fr": ["atmosphère"]},
    "tags": [],
    "organization": {"name": "bafu", "title": {"de": "Umweltamt", "fr": "Office fédéral"}},
    "resources": [
        {"name": {"de": "Tabelle", "fr": "Tableau"}, "format": "CSV", "url": "https://example.org/1.csv"}
    ],
}
"""As opendata.swiss writes them."""


@asynccontextmanager
async def a_portal(folder: Path, row: dict[str, Any], **settings: str) -> AsyncIterator[World]:
    with CkanServer([row]) as portal:
        async with a_world(folder, portal) as world:
            await sources.add(
                world.ports, portal.url, name="data", kind="ckan", settings=settings, check=False
            )
            await world.sync("data")
            yield world


async def hits(world: World, query: str, language: str = "") -> list[tuple[str, str | None]]:
    answer = await world.search(query, filters=Filters(language=language))
    return [(hit.url.removeprefix(world.site.url), hit.language) for hit in answer.hits]


async def test_each_language_is_found_in_its_own_and_the_hit_says_which(tmp_path: Path) -> None:
    async with a_portal(tmp_path, a_dataset(1, **SWISS)) as world:
        assert await hits(world, "Stickstoffdioxid") == [("/dataset/dataset-1#lang=de", "de")]
        assert await hits(world, "azote") == [("/dataset/dataset-1#lang=fr", "fr")]
        assert await hits(world, "air quality") == [("/dataset/dataset-1#lang=en", "en")]


async def test_a_filter_by_language_leaves_the_sections_of_others_out(tmp_path: Path) -> None:
    async with a_portal(tmp_path, a_dataset(1, **SWISS)) as world:
        assert await hits(world, "Stickstoffdioxid", "de") == [("/dataset/dataset-1#lang=de", "de")]
        assert await hits(world, "Stickstoffdioxid", "fr") == []
        assert await hits(world, "Stickstoffdioxid", "nl") == []


@pytest.mark.parametrize(
    ("language", "title"), [("", "Air quality"), ("fr", "Qualité de l'air"), ("de", "Luftqualität")]
)
async def test_the_language_of_a_source_chooses_what_is_shown_first(
    tmp_path: Path, language: str, title: str
) -> None:
    settings = {"language": language} if language else {}
    async with a_portal(tmp_path, a_dataset(1, **SWISS), **settings) as world:
        document = await reading.by_url(world.store, f"{world.site.url}/dataset/dataset-1")
        assert document.title == title
        assert (document.text or "").startswith(f"# {title} {{#lang={language or 'en'}}}\n")
        assert document.metadata["languages"] == ["de", "en", "fr"]


async def test_tags_organisations_and_files_are_found_in_every_language(tmp_path: Path) -> None:
    async with a_portal(tmp_path, a_dataset(1, **SWISS), language="de") as world:
        for word in ("Luft", "atmosphère", "Umweltamt", "fédéral", "Tabelle", "Tableau"):
            assert len(await hits(world, word)) == 1, word
        source = await world.source("data")
        assert (await world.store.metadata(source.id))["id-000001"]["tags"] == ["Luft"]


async def test_translated_fields_and_maps_inside_texts_are_read_as_well(tmp_path: Path) -> None:
    row = a_dataset(
        1,
        title="Air",
        title_translated={"en": "Air", "fr": "L'air", "fr-t-en": ""},
        notes_translated={"en": "Hourly", "fr": "Par heure"},
    )
    async with a_portal(tmp_path, row) as world:
        assert await hits(world, "heure") == [("/dataset/dataset-1#lang=fr", "fr")]
    row = a_dataset(1, title='{"nl": "Lucht", "pt_BR": "Ar"}', notes="Plain.")
    async with a_portal(tmp_path / "second", row) as world:
        assert await hits(world, "Lucht", "nl") == [("/dataset/dataset-1#lang=nl", "nl")]
        assert await hits(world, "Ar", "pt") == [("/dataset/dataset-1#lang=pt-br", "pt-br")]


async def test_a_record_that_names_its_one_language_is_filtered_by_it(tmp_path: Path) -> None:
    row = a_dataset(1, language="http://publications.europa.eu/resource/authority/language/DEU")
    async with a_portal(tmp_path, row) as world:
        assert await hits(world, "measured", "de") == [("/dataset/dataset-1", "de")]
        assert await hits(world, "measured", "en") == []


async def test_another_translation_is_a_change_and_costs_one_embedding(tmp_path: Path) -> None:
    with CkanServer([a_dataset(1, **SWISS)]) as portal:
        async with a_world(tmp_path, portal) as world:
            await sources.add(world.ports, portal.url, name="data", kind="ckan", check=False)
            assert (await world.sync("data")).counters.embeddings_computed == 4
            notes = {**SWISS["notes"], "fr": "Ozone."}
            portal.edit("id-000001", modified=world.clock.now(), notes=notes)
            counters = (await world.sync("data")).counters
            assert (counters.updated, counters.embeddings_computed) == (1, 1)
