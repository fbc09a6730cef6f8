"""A question has one answer: on either database, on arrays of numpy, and on the lists of a small store."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rowen.adapters.store.postgres.store import PostgresStore
from rowen.adapters.store.shared.topics import search as topic
from rowen.core.search.hit import Filters, Hit, SearchMode
from rowen.ports.embedder import Model
from rowen.ports.store.store import Store
from rowen.reading.search import search
from tests.contract.helpers import LATER, MODEL, a_generation, a_source
from tests.support.postgres import Server
from tests.support.stores import a_postgres_schema, a_sqlite_store

WORDS = ("barley", "oats", "rye", "jar", "Shelf.add", "press_jar", "--idle", "12", "2.0", "the", "wie", "a b")
FOLDERS = (
    *("", "docs/", "docs/v1/", "docs/v2/", "docs/next/", "docs/1.0/", "docs/2.0/", "docs/stable/", "src/"),
    *("tests/", "de/", "docs/de/", "docs/fr/", "it/", "versioned_docs/version-2.0/"),
)
NAMES = ("a.md", "b.md", "README.md", "a.py", "test_a.py", "a.de.md", "index.html")
REFERENCES = st.builds(str.__add__, st.sampled_from(FOLDERS), st.sampled_from(NAMES))
SENTENCES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
SYMBOLS = "## Shelf.add {.function name=shelf.Shelf.add}"
HEADINGS = st.sampled_from(("# Barley", "## Oats and rye", "## Jar", SYMBOLS, "### [a](b) [c](d)"))
TEXTS = st.lists(st.one_of(SENTENCES, HEADINGS), min_size=1, max_size=6).map("\n\n".join)
PAGES = st.dictionaries(REFERENCES, TEXTS, min_size=1, max_size=14)
FORMS = st.sampled_from(("{}", "{}", "{}", "{} 2.0", "wie ist {} und", "how is the {} of", '"{}"', "{} -rye"))
QUESTIONS = st.tuples(
    st.builds(str.format, FORMS, SENTENCES), st.sampled_from(SearchMode), st.booleans(), st.booleans()
)


class ByLength:
    """Vectors as `a_generation` makes them."""

    model: Model = MODEL

    async def embed_query(self, text: str) -> bytes:
        return bytes([len(text) % 100, 1, 2, 3])


async def answers(store: Store, asked: list[tuple[str, SearchMode, bool, bool]]) -> list[list[Hit]]:
    sources = await store.sources()
    found = []
    for question, mode, per_document, of_first in asked:
        filters = Filters(source_ids=frozenset({sources[0].id})) if of_first else Filters()
        answer = await search(
            store, ByLength(), question, filters=filters, mode=mode, limit=8, per_document=per_document
        )
        found.append([replace(hit, score=round(hit.score, 9)) for hit in answer.hits])
    return found


async def filled(store: Store, files: dict[str, str], web: dict[str, str], later: dict[str, str]) -> None:
    source = await a_source(store, "files", kind="files")
    await a_generation(store, source, files)
    await a_generation(store, await a_source(store, "web"), {f"https://web.example/{a}": web[a] for a in web})
    await a_generation(store, source, later, at=LATER)


@settings(max_examples=8)
@given(PAGES, PAGES, PAGES, st.lists(QUESTIONS, min_size=1, max_size=4))
def test_a_question_has_one_answer_on_both_databases_and_in_both_libraries(
    postgres: Server,
    files: dict[str, str],
    web: dict[str, str],
    later: dict[str, str],
    asked: list[tuple[str, SearchMode, bool, bool]],
) -> None:
    async def compared(folder: Path, schema: str) -> None:
        async with AsyncExitStack() as open_stores:
            of_postgres = PostgresStore(postgres.url, schema=schema, cache=folder / "cache")
            on_arrays = a_sqlite_store(folder / "rowen.db")
            on_lists = a_sqlite_store(folder / "rowen.db")
            for store in (of_postgres, on_arrays, on_lists):
                open_stores.push_async_callback(store.close)
            await filled(of_postgres, files, web, later)
            await filled(on_arrays, files, web, later)
            expected = await answers(on_arrays, asked)
            assert await answers(of_postgres, asked) == expected
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(topic, "worth_trying_few", lambda: True)
                assert await answers(on_lists, asked) == expected
                assert on_lists._ranks_few, "the lists were enough"

    with TemporaryDirectory() as folder, a_postgres_schema(postgres) as schema:
        asyncio.run(compared(Path(folder), schema))
