"""Ingestion in batches: one is written while the next is embedded."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from rowen.core.document import Draft, Outcome, Validators
from rowen.core.run import Event, RunStatus
from rowen.engine.run import sync
from rowen.errors import StoreBusy
from rowen.ports.store.handoffs import Staged
from tests.support.fakes import FakeEmbedder
from tests.support.site import Site
from tests.support.world import World, a_world

pytestmark = pytest.mark.anyio

PAGES = [f"/p{number}" for number in range(30)]


def a_page(path: str, links: Sequence[str] = ()) -> str:
    """Two passages: one of its own, one that every page has."""
    shown = "".join(f'<a href="{link}">x</a>' for link in links)
    return (
        f"<main><h1>Handbook</h1><p>All about {path}. {shown}</p><h2>Licence</h2><p>As everywhere.</p></main>"
    )


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    pages = {path: a_page(path) for path in PAGES}
    with Site({"/": a_page("/", PAGES), **pages}) as site:
        async with a_world(tmp_path, site) as made:
            await made.add()
            yield made


class Held:
    """Holds the first write until texts of the next batch are embedded."""

    def __init__(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        self.embedded_meanwhile = asyncio.Event()
        self.writes = 0
        self._ingest, self._embed = world.store.ingest, FakeEmbedder.embed
        self._embedder = world.embedder
        monkeypatch.setattr(world.store, "ingest", self.ingest)
        monkeypatch.setattr(world.embedder, "embed", self.embed)

    async def ingest(self, *arguments: Any, **named: Any) -> Any:
        self.writes += 1
        if self.writes == 1:
            async with asyncio.timeout(60):
                await self.embedded_meanwhile.wait()
        return await self._ingest(*arguments, **named)

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        if self.writes:
            self.embedded_meanwhile.set()
        return await self._embed(self._embedder, texts)


async def test_a_batch_is_embedded_while_the_one_before_it_is_written(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held(world, monkeypatch)
    receipt = await world.sync()
    assert held.embedded_meanwhile.is_set()
    assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, len(PAGES) + 1)


async def test_what_two_batches_share_is_embedded_and_counted_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    Held(world, monkeypatch)
    counters = (await world.sync()).counters
    assert max(Counter(world.embedder.embedded).values()) == 1
    assert counters.passages_new == counters.embeddings_computed == len(set(world.embedder.embedded))
    assert counters.passages_new == len(PAGES) + 2


async def test_a_page_is_told_of_when_it_is_stored_not_when_the_next_one_comes(world: World) -> None:
    last = threading.Event()
    world.site.set(PAGES[-1], a_page(PAGES[-1]), delay=last)
    created, all_but_one = 0, asyncio.Event()

    def count(event: Event) -> None:
        nonlocal created
        created += event.outcome is Outcome.CREATED
        if created == len(PAGES):
            all_but_one.set()

    syncing = asyncio.create_task(sync(world.ports, await world.source(), on_event=count))
    async with asyncio.timeout(60):
        await all_but_one.wait()
    last.set()
    assert (await syncing).counters.created == len(PAGES) + 1


async def test_a_write_that_fails_ends_the_run_and_the_next_one_takes_everything_in(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def busy(*arguments: object, **named: object) -> None:
        raise StoreBusy("store: locked")

    with monkeypatch.context() as patched:
        patched.setattr(world.store, "ingest", busy)
        assert (await world.sync()).status is RunStatus.FAILED
    assert await world.pages() == set()
    receipt = await world.sync()
    assert (receipt.counters.created, receipt.counters.failed) == (len(PAGES) + 1, 0)


def staged(number: int, text: str) -> Staged:
    draft = Draft(
        reference=f"id-{number}",
        url="https://data.example.org",
        title="",
        text=text,
        validators=Validators(),
        content_type="text/markdown",
    )
    return Staged(
        handoff_id=number,
        reference_id=number,
        content_id=number,
        sectioned=False,
        attempts=0,
        suspect=None,
        draft=draft,
    )
