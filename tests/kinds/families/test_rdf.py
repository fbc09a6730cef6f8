"""Catalogues in DCAT, in every syntax of RDF: the same documents, pages, conditional requests, bad files."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from rowen.adapters.convert.data import graphs
from rowen.core.run import RunStatus
from rowen.errors import BadLocation
from rowen.managing import sources
from tests.support.portals import rdf
from tests.support.site import Site
from tests.support.world import World, a_world

pytestmark = pytest.mark.anyio

TURTLE = "text/turtle"


@asynccontextmanager
async def a_catalogue(folder: Path, path: str, body: str, content_type: str) -> AsyncIterator[World]:
    """The source `data`, added by its address alone."""
    with Site() as site:
        site.set(path, body, content_type=content_type)
        async with a_world(folder, site) as world:
            await sources.add(world.ports, site.url + path, name="data")
            site.clear_log()
            yield world


async def documents(world: World) -> list[tuple[Any, ...]]:
    source = await world.source("data")
    found = await world.store.documents(source.id, text=True)
    said = await world.store.metadata(source.id)
    return [(one.reference, one.title, one.url, one.text, said[one.reference]) for one in found]


async def test_the_same_catalogue_in_every_form_is_the_same_documents(tmp_path: Path) -> None:
    came = {}
    for name, (write, content_type) in rdf.FORMS.items():
        folder = tmp_path / name
        folder.mkdir()
        async with a_catalogue(folder, f"/{name}", write(), content_type) as world:
            receipt = await world.sync("data")
            assert (name, receipt.status, receipt.counters.created) == (name, RunStatus.COMPLETED, 3)
            came[name] = await documents(world)
    assert came["data.json"][0][:3] == ("one-0", "Rain 0", f"{rdf.BASE}/pages/0")
    assert came["data.json"][0][4]["publisher"] == "Office"
    for name, found in came.items():
        assert (name, found) == (name, came["data.json"])


@pytest.mark.parametrize("name", ["catalog.ttl", "catalog.nt", "catalog.rdf", "aliases.jsonld"])
async def test_an_address_is_recognised_and_an_unchanged_catalogue_costs_one_304(
    tmp_path: Path, name: str
) -> None:
    write, content_type = rdf.FORMS[name]
    with Site() as site:
        site.set(f"/{name}", write(), content_type=content_type)
        async with a_world(tmp_path, site) as world:
            added = await sources.add(world.ports, f"{site.url}/{name}", name="data")
            assert added.source.kind == "dcat"
            assert "is a catalogue in DCAT with 3 datasets" in added.findings[0]
            assert (await world.sync("data")).counters.created == 3
            receipt = await world.sync("data")
            assert (receipt.counters.requests, receipt.counters.not_modified) == (1, 1)
            assert [one.status for one in site.requests] == [304]


async def test_pages_of_hydra_in_turtle_are_followed_to_the_end(tmp_path: Path) -> None:
    first = rdf.turtle(2, more="<?page=1> hydra:next <?page=2> ; hydra:totalItems 3 .")
    second = rdf.turtle(1, first=2, more="<?page=2> hydra:totalItems 3 .")
    async with a_catalogue(tmp_path, "/catalog.ttl", first, TURTLE) as world:
        world.site.set("/catalog.ttl?page=2", second, content_type=TURTLE)
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created, receipt.counters.pages) == (
            RunStatus.COMPLETED,
            3,
            2,
        )
        world.site.set("/catalog.ttl?page=2", "", status=500)
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.deleted) == (RunStatus.PARTIAL, 0)


async def test_without_the_extra_the_message_has_the_line_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Site() as site:
        site.set("/catalog.ttl", rdf.turtle(), content_type=TURTLE)
        async with a_world(tmp_path, site) as world:
            await sources.add(world.ports, f"{site.url}/catalog.ttl", name="data", kind="dcat", check=False)
            monkeypatch.setattr(graphs, "find_spec", lambda name: None)
            receipt = await world.sync("data")
            assert receipt.status is RunStatus.FAILED
            assert "reading Turtle needs an extra" in (receipt.error or "")
            assert receipt.hint == "pip install 'rowen[rdf]'"
            with pytest.raises(BadLocation, match="reading Turtle needs an extra") as raised:
                await sources.add(world.ports, f"{site.url}/catalog.ttl", name="other")
            assert raised.value.hint == "pip install 'rowen[rdf]'"


@pytest.mark.parametrize("name", ["catalog.rdf", "aliases.jsonld", "data.json"])
async def test_other_forms_need_no_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(graphs, "find_spec", lambda name: None)
    write, content_type = rdf.FORMS[name]
    async with a_catalogue(tmp_path, f"/{name}", write(), content_type) as world:
        assert (await world.sync("data")).counters.created == 3


async def test_a_context_that_is_an_address_is_never_fetched(tmp_path: Path) -> None:
    with Site() as site:
        site.set("/context.jsonld", '{"@context": {"title": "https://evil.example/other"}}')
        body = (
            f'{{"@context": ["{site.url}/context.jsonld", {{"dcat": "{rdf.DCAT}"}}], "@graph": ['
            '{"@id": "https://data.example.org/1", "@type": "dcat:Dataset", "title": "Rain"}]}'
        )
        site.set("/catalog.jsonld", body, content_type="application/ld+json")
        async with a_world(tmp_path, site) as world:
            await sources.add(world.ports, f"{site.url}/catalog.jsonld", name="data")
            assert (await world.sync("data")).counters.created == 1
            assert not site.asked_for("/context.jsonld")
            assert (await documents(world))[0][1] == "Rain"


async def test_a_file_that_is_cut_deletes_nothing(tmp_path: Path) -> None:
    async with a_catalogue(tmp_path, "/catalog.ttl", rdf.turtle(), TURTLE) as world:
        await world.sync("data")
        whole = await documents(world)
        world.site.set("/catalog.ttl", rdf.turtle()[:-400], content_type=TURTLE)
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.deleted) == (RunStatus.FAILED, 0)
        assert await documents(world) == whole


async def test_a_graph_of_too_many_statements_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with a_catalogue(tmp_path, "/catalog.ttl", rdf.turtle(), TURTLE) as world:
        monkeypatch.setattr(graphs, "MAX_STATEMENTS", 20)
        receipt = await world.sync("data")
        assert receipt.status is RunStatus.FAILED
        assert "a graph of more than 20 statements" in (receipt.error or "")
