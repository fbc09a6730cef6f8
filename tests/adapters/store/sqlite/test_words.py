"""Searches by words where the index beside the file cannot answer."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rowen.adapters.store.sqlite import words
from rowen.adapters.store.sqlite.database import SqliteDatabase, migrations
from rowen.adapters.store.sqlite.store import BESIDE, SqliteStore
from rowen.core.search.hit import SearchMode
from rowen.reading.search import NO_WORDS, search
from tests.contract.helpers import a_generation, a_source

pytestmark = pytest.mark.anyio

PAGES = {f"https://docs.example/{n}": f"# Page {n}\n\nField {n} lies fallow." for n in range(6)}
PAGES |= {
    "https://docs.example/barley": "# Barley\n\nIt grows in spring.",
    "https://docs.example/rye": "# Rye\n\nSown beside barley.",
}


async def a_store(path: Path) -> SqliteStore:
    store = SqliteStore(path)
    await a_generation(store, await a_source(store), PAGES)
    return store


async def test_a_store_that_may_only_be_read_is_searched_by_words_without_an_index(tmp_path: Path) -> None:
    path = tmp_path / "rowen.db"
    store = await a_store(path)
    await store.close()
    shutil.rmtree(path.with_name(path.name + BESIDE), ignore_errors=True)
    reader = SqliteStore(path, read_only=True)
    found = await search(reader, None, "barley", mode=SearchMode.KEYWORD)
    assert [hit.url for hit in found.hits] == ["https://docs.example/barley", "https://docs.example/rye"]
    assert found.degraded is None
    begun = await search(reader, None, "spr", prefix=True, mode=SearchMode.KEYWORD)
    assert [hit.url for hit in begun.hits] == ["https://docs.example/barley"]
    await reader.close()
    assert not path.with_name(path.name + BESIDE).exists()


async def test_what_is_new_since_the_last_search_is_found_in_memory_too(tmp_path: Path) -> None:
    store = await a_store(tmp_path / "rowen.db")
    reader = SqliteStore(tmp_path / "rowen.db", read_only=True)
    assert len((await search(reader, None, "barley", mode=SearchMode.KEYWORD)).hits) == 2
    (source,) = await store.sources()
    await a_generation(store, source, {"https://docs.example/beer": "# Beer\n\nMade of barley."})
    assert len((await search(reader, None, "barley", mode=SearchMode.KEYWORD)).hits) == 3
    await reader.close()
    await store.close()


async def test_an_answer_without_words_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "MOST", 3)
    store = await a_store(tmp_path / "rowen.db")
    await store.close()
    reader = SqliteStore(tmp_path / "rowen.db", read_only=True)
    found = await search(reader, None, "barley", mode=SearchMode.KEYWORD)
    assert (found.hits, found.degraded) == ((), NO_WORDS)
    await reader.close()


async def test_a_search_waits_for_an_index_that_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rowen.adapters.store.shared.search import finder

    monkeypatch.setattr(finder, "AT_ONCE", 2)
    monkeypatch.setattr(finder, "BATCH", 3)
    store = await a_store(tmp_path / "rowen.db")
    shutil.rmtree(tmp_path / f"rowen.db{BESIDE}")
    assert len((await search(store, None, "barley", mode=SearchMode.KEYWORD)).hits) == 2
    index = store._finder.words
    assert index is not None
    assert len(index) == len(PAGES)
    await store.close()


async def test_an_older_schema_gets_its_index_of_words_again(tmp_path: Path) -> None:
    store = await a_store(tmp_path / "rowen.db")
    await store.close()
    number = next(one.number for one in migrations() if one.name == "words_beside")
    database = SqliteDatabase(tmp_path / "rowen.db")
    database.open(look=True)
    database.migrate_to(number - 1)
    found = database.bare(
        lambda db: db.execute("SELECT count(*) FROM passages_fts WHERE passages_fts MATCH 'barley'").get
    )
    assert found == 2
    assert database.bare(lambda db: db.execute("SELECT count(*) FROM passages_fts_docsize").get) == len(PAGES)
    database.migrate_to(migrations()[-1].number)
    database.close_now()
