"""What follows the store for searches is a cache: whatever becomes of it, searches find the same."""

from __future__ import annotations

import asyncio
import random
import shutil
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rowen.adapters.children import cores as machine
from rowen.adapters.store.postgres.store import PostgresStore
from rowen.adapters.store.shared.search import finder as module
from rowen.adapters.store.shared.search.ahead import IndexAhead
from rowen.adapters.store.shared.search.files import WORDS_FORMAT
from rowen.adapters.store.shared.search.finder import Finder
from rowen.adapters.store.shared.search.index import Text, WordIndex
from rowen.adapters.store.shared.store import SharedStore
from rowen.adapters.store.sqlite.store import SqliteStore
from rowen.core.search.hit import Filters
from rowen.ports.store.search import SearchRequest, SearchResult
from rowen.ports.store.store import Store
from rowen.reading.search import search
from tests.contract.helpers import LATER, MODEL, a_generation, a_source
from tests.support.postgres import Server

pytestmark = pytest.mark.anyio

PAGES = {
    "https://docs.example/a": "# Barley\n\nBarley grows in spring.",
    "https://docs.example/b": "# Rye\n\nRye and barley are sown in autumn.",
    "https://docs.example/c": "# Oats\n\nOats for the horses.",
}
QUESTIONS = ("barley", "sown", "oats horses", "rye barley", "nothing of it")
ANY = bytes([1, 1, 2, 3])


def words_of(store: Store) -> WordIndex:
    assert isinstance(store, SharedStore)
    index = store._finder.words
    assert index is not None
    return index


def folder_of(store: Store) -> Path:
    assert isinstance(store, SharedStore)
    folder = store._finder.folder
    assert folder is not None
    return folder


async def answers(store: Store) -> list[list[str]]:
    return [[hit.url for hit in (await search(store, None, question)).hits] for question in QUESTIONS]


async def vectors(store: Store) -> dict[int, float]:
    request = SearchRequest(terms=(), vector=ANY, model=MODEL, filters=Filters())
    return dict((await store.search_snapshot(request)).dense)


@pytest.fixture
async def twin(store: Store, request: pytest.FixtureRequest) -> AsyncIterator[Store]:
    """The same store, as another process has it."""
    other: Store
    if isinstance(store, SqliteStore):
        other = SqliteStore(store.database.path)
    else:
        assert isinstance(store, PostgresStore)
        server: Server = request.getfixturevalue("postgres")
        other = PostgresStore(server.url, schema=store.database.schema, cache=folder_of(store).parent)
    yield other
    await other.close()


async def test_a_follower_that_is_missing_is_made_again(store: Store) -> None:
    await a_generation(store, await a_source(store), PAGES)
    before, near = await answers(store), await vectors(store)
    assert len(words_of(store)) == 3
    shutil.rmtree(folder_of(store))
    assert (await answers(store), await vectors(store)) == (before, near)
    assert len(words_of(store)) == 3


@pytest.mark.parametrize("which", ["stamps", "everything"])
async def test_a_damaged_follower_is_thrown_away(store: Store, twin: Store, which: str) -> None:
    await a_generation(store, await a_source(store), PAGES)
    before = await answers(store)
    for file in folder_of(store).rglob("*.json" if which == "stamps" else "*"):
        if file.is_file():
            file.write_bytes(b"not what was written")
    assert await answers(twin) == before
    assert await answers(store) == before
    assert len(words_of(twin)) == 3


async def test_an_index_with_the_words_of_an_earlier_version_is_made_again(store: Store, twin: Store) -> None:
    await a_generation(store, await a_source(store), PAGES)
    before = await answers(store)
    stamp = folder_of(store) / "words.json"
    stamp.write_text(stamp.read_text().replace(f'"format": {WORDS_FORMAT}', '"format": 1'))
    assert await answers(twin) == before
    assert len(words_of(twin)) == 3
    assert f'"format": {WORDS_FORMAT}' in stamp.read_text()


async def test_a_follower_of_other_texts_is_of_no_harm(store: Store, twin: Store) -> None:
    foreign = WordIndex(folder_of(store))
    foreign.add([Text(5, "Barley", "barley barley barley"), Text(6, "Rye", "rye")])
    await a_generation(store, await a_source(store), PAGES)
    assert await answers(store) == await answers(twin)
    assert (await answers(store))[0][0] == "https://docs.example/a"


async def test_a_search_does_not_wait_for_a_follower_that_is_behind(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "AT_ONCE", 0)
    monkeypatch.setattr(Finder, "wake", lambda self: None)
    monkeypatch.setattr(Finder, "follow_ahead", lambda self, passages: None)
    assert isinstance(store, SharedStore)
    store._finder._waits_for = 0
    source = await a_source(store)
    await a_generation(store, source, PAGES)
    by_the_database = await answers(store)
    assert not words_of(store).is_there
    await store.follow()
    assert len(words_of(store)) == 3
    assert [sorted(one) for one in await answers(store)] == [sorted(one) for one in by_the_database]
    await a_generation(store, source, {"https://docs.example/d": "# Spelt\n\nSpelt and barley."})
    assert "https://docs.example/d" in (await answers(store))[0]
    assert len(words_of(store)) == 3


async def test_two_that_follow_at_once_both_end_with_all_texts(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Finder, "follow_ahead", lambda self, passages: None)
    assert isinstance(store, SharedStore)
    await a_generation(store, await a_source(store), PAGES)

    async def followed() -> int:
        await store.follow()
        return len(words_of(store))

    assert await asyncio.gather(*(followed() for _ in range(4))) == [3, 3, 3, 3]


async def test_a_process_that_is_killed_between_store_and_follower_loses_nothing(
    store: Store, twin: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(self: WordIndex, texts: object) -> bool:
        raise OSError("killed")

    source = await a_source(store)
    await a_generation(store, source, PAGES)
    await answers(store)
    with monkeypatch.context() as patch:
        patch.setattr(WordIndex, "add", killed)
        await a_generation(store, source, {"https://docs.example/d": "# Spelt\n\nSpelt and barley."})
        assert "https://docs.example/d" in (await answers(store))[0]
    assert len(words_of(store)) == 3
    assert "https://docs.example/d" in (await answers(twin))[0]
    assert len(words_of(twin)) == 4


async def test_a_run_indexes_its_texts_before_readers_see_them(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = await a_source(store)
    await a_generation(store, source, PAGES)
    await answers(store)
    await a_generation(store, source, {"https://docs.example/d": "# Spelt\n\nSpelt and barley."})
    assert len(words_of(store)) == 4


async def test_the_texts_of_a_large_run_are_indexed_by_a_child_before_readers_see_them(
    store: Store, twin: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(IndexAhead, "batch", 2)
    monkeypatch.setattr(machine, "cores", lambda: 2)
    source = await a_source(store)
    await a_generation(store, source, PAGES)
    await answers(store)
    with monkeypatch.context() as patch:
        patch.setattr(WordIndex, "_add", lambda self, texts: pytest.fail("this process indexed"))
        more = {f"https://docs.example/d{n}": f"# Spelt {n}\n\nSpelt and barley, {n}." for n in range(3)}
        await a_generation(store, source, more)
        assert len(words_of(store)) == 6
    assert await answers(store) == await answers(twin)


async def test_without_the_library_of_the_index_the_database_answers(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tantivy", None)
    await a_generation(store, await a_source(store), PAGES)
    assert sorted((await answers(store))[0]) == ["https://docs.example/a", "https://docs.example/b"]


async def test_each_search_sees_one_whole_generation_while_the_pointer_moves(
    store: Store, twin: Store
) -> None:
    source = await a_source(store)
    runs = []
    for word in ("first", "second"):
        pages = {f"https://docs.example/{n}": f"# Page {n}\n\nbarley {word} {n}" for n in range(5)}
        runs.append(await a_generation(store, source, pages))
    over = asyncio.Event()

    async def switch() -> None:
        for number in range(20):
            await store.activate(source.id, runs[number % 2].generation, now=LATER)
        over.set()

    async def look(reader: Store) -> None:
        while not over.is_set():
            for request in (
                SearchRequest(terms=["barley"], vector=None, model=None, filters=Filters(), best=10),
                SearchRequest(terms=[], vector=ANY, model=MODEL, filters=Filters(), best=10),
            ):
                places = (await reader.search_snapshot(request)).places
                assert len(places) == 5
                assert len({place.text.split()[1] for place in places}) == 1
                assert len({place.generation for place in places}) == 1

    await asyncio.gather(switch(), look(store), look(twin), look(store))


async def test_going_back_shows_the_texts_of_before(store: Store) -> None:
    source = await a_source(store)
    first = await a_generation(store, source, PAGES)
    before = await answers(store)
    await a_generation(store, source, {"https://docs.example/a": "# Spelt\n\nSpelt."})
    assert await answers(store) != before
    await store.activate(source.id, first.generation, now=LATER)
    assert await answers(store) == before


async def test_after_a_vacuum_no_follower_has_words_of_what_is_gone(store: Store) -> None:
    source = await a_source(store)
    await a_generation(store, source, PAGES)
    await answers(store)
    await vectors(store)
    last = await a_generation(store, source, {"https://docs.example/a": "# Spelt\n\nSpelt."})
    await store.vacuum({source.id: last.generation}, everything=True)
    assert len(words_of(store)) == 3
    assert words_of(store).best(["spring"], 5)[0].tolist() == []  # type: ignore[index]
    # Numbers of passages that are gone are given again; their texts are others.
    await a_generation(store, source, {"https://docs.example/e": "# Millet\n\nMillet in spring."})
    assert [hit.url for hit in (await search(store, None, "spring")).hits] == ["https://docs.example/e"]


async def test_two_processes_search_while_one_of_them_writes(store: Store, twin: Store) -> None:
    source = await a_source(store)
    for number in range(6):
        page = {f"https://docs.example/{number}": f"# Field {number}\n\nbarley in field {number}"}
        await a_generation(store, source, page)
        for reader in (twin, store):
            urls = {hit.url for hit in (await search(reader, None, "barley")).hits}
            assert len(urls) == number + 1
            assert len(await vectors(reader)) == number + 1


async def test_a_source_that_was_removed_is_not_found_under_the_number_of_another(store: Store) -> None:
    source = await a_source(store)
    await a_generation(store, source, PAGES)
    assert (await answers(store))[0]
    await store.remove_source(source.id, now=LATER)
    assert (await answers(store))[0] == []
    other = await a_source(store, "other", now=LATER)
    await a_generation(store, other, {"https://other.example/": "# Barley\n\nElsewhere."})
    assert (await answers(store))[0] == ["https://other.example/"]


class Exhaustive:
    """A store that leaves no place out."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def search_snapshot(self, request: SearchRequest) -> SearchResult:
        return await self._store.search_snapshot(replace(request, best=None))


@pytest.mark.parametrize("per_document", [True, False])
async def test_what_is_read_for_a_search_is_enough_for_its_ranking(store: Store, per_document: bool) -> None:
    chance = random.Random(3)
    words = ["barley", "rye", "oats", "field", "spring", "sow", "`sow()`", "[link](https://x.example/)"]

    def page(number: int) -> str:
        sections = (
            f"## {chance.choice(words)} {chance.randrange(3)}\n\n"
            + " ".join(chance.choices(words, k=chance.randrange(3, 30)))
            for _ in range(chance.randrange(1, 6))
        )
        return f"# Page {number % 7}\n\n" + "\n\n".join(sections)

    for name in ("one", "two"):
        source = await a_source(store, name)
        # The same number twice is the same text at two addresses.
        pages = {f"https://{name}.example/{chance.choice(words[:6])}/{n}": page(n) for n in range(60)}
        pages |= {f"https://{name}.example/again": next(iter(pages.values()))}
        await a_generation(store, source, pages)
    assert isinstance(store, SharedStore)
    await store.follow()
    whole = Exhaustive(store)
    for question in ("barley", "rye field", "spring oats sow", "page barley", "sow()", '"rye field"'):
        for limit in (3, 10):
            shown, all_of_it = [
                await search(one, None, question, limit=limit, per_document=per_document)  # type: ignore[arg-type]
                for one in (store, whole)
            ]
            assert shown == all_of_it


async def test_showing_a_generation_touches_no_follower(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = await a_source(store)
    await a_generation(store, source, PAGES)
    await store.follow()  # type: ignore[attr-defined]
    state = words_of(store).refresh()

    async def left_out(run: object, generation: int) -> None: ...

    monkeypatch.setattr(store, "index_ahead", left_out)
    await a_generation(store, source, {"https://docs.example/d": "# Spelt\n\nSpelt and barley."})
    assert words_of(store).refresh() is state
    assert "https://docs.example/d" in (await answers(store))[0], "the search catches up by itself"
    assert words_of(store).refresh() is not state
