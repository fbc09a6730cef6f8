"""Search on PostgreSQL finds what SQLite finds, scores vectors the same way, and no filter loses anything."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from rowen.adapters.store.postgres import store as store_module
from rowen.adapters.store.postgres.search import keywords
from rowen.adapters.store.postgres.store import PostgresStore
from rowen.adapters.store.shared.search.finder import Finder
from rowen.adapters.store.shared.search.words import words
from rowen.core.handoff import INGESTED
from rowen.core.search.hit import Filters
from rowen.core.search.query import terms as terms_of
from rowen.core.section import Passage
from rowen.core.source import Source
from rowen.core.split import passages, split
from rowen.ports.store.handoffs import Ingested
from rowen.ports.store.search import SearchRequest
from rowen.ports.store.store import Store
from tests.contract.helpers import LATER, MODEL, NOW, a_draft, a_run, a_source, an_end
from tests.support.postgres import Server
from tests.support.stores import a_postgres_schema, a_sqlite_store

pytestmark = pytest.mark.anyio

PAGES = {
    "barley": "# Barley\n\nBarley is sown in spring. Barley is a cereal.",
    "fields": "# Fields\n\nIn the fields there is rye, there is oats, and once there was barley.",
    "python": "# Paths\n\nCall `os.path.join` or pathlib; see utf8_decoder in café.example.",
    "café": "# Café crème\n\nThe café is closed, a résumé is not needed.",
    "cjk": "# 東京\n\n東京都に住んでいます。한국어 문서도 있습니다.",
    "greek": "# Ελλάδα\n\nΗ Αθήνα είναι πρωτεύουσα.",
    "russian": "# Айва\n\nАйва и ёлка.",
    "common": "# To be\n\nWho is it that will not be here and why?",
    "numbers": "# Version 3.12\n\nReleased on 2024-05-01 with 10,000 changes; 0x1F and 1e5 too.",
    "nul": "# Zero\n\nbefore\0after the millet",
}


QUERIES = [
    *("barley", "cereals", "rye oats", "os.path.join", "path", "decoder", "utf8", "cafe", "CAFÉ", "resume"),
    *("東京", "東", "京都", "住んで", "한국어", "Αθήνα", "αθηνα", "АЙВА", "аива", "who", "will not be"),
    *("3.12", "12", "2024", "1e5", "0x1F", "10,000", "after", "millet", "nothing here"),
    *("o'clock", "a:* | !b", "\\ ' %s", "!!!"),
]


@pytest.fixture
async def postgres_store(postgres: Server, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[PostgresStore]:
    """A store that nothing follows: the server ranks words, and compares vectors."""
    monkeypatch.setattr(store_module, "MOST_AT_ONCE", -1)
    monkeypatch.setattr(Finder, "wake", lambda self: None)
    with a_postgres_schema(postgres) as schema:
        opened = PostgresStore(postgres.url, schema=schema, index_after=500)
        yield opened
        await opened.close()


@pytest.fixture
async def both(postgres_store: PostgresStore, tmp_path: Path) -> AsyncIterator[tuple[Store, Store]]:
    sqlite = a_sqlite_store(tmp_path / "rowen.db")
    yield postgres_store, sqlite
    await sqlite.close()


async def published(
    store: Store, source: Source, pages: dict[str, str], vectors: Sequence[bytes] = ()
) -> None:
    """These pages, each passage with the next of the vectors."""
    lease, run = await a_run(store, source)
    staged = await store.stage(lease, run, [a_draft(name, text) for name, text in pages.items()], now=NOW)
    await store.start_handoffs(lease, [one.handoff_id for one in staged], now=NOW)
    trees = {one.content_id: split(one.draft.text) for one in staged}
    found: dict[bytes, Passage] = {}
    for tree in trees.values():
        found |= passages(tree)
    given = dict(zip(found, vectors, strict=False))
    items = [Ingested(staged=one, sections=trees[one.content_id], ending=INGESTED) for one in staged]
    await store.ingest(lease, run, items, list(found.values()), given, MODEL, now=NOW)
    await store.finish_run(lease, run, an_end(run), now=LATER)
    await store.release_lease(lease)


def random_vectors(count: int) -> list[bytes]:
    chance = random.Random(7)
    return [bytes(chance.randrange(256) for _ in range(MODEL.dimensions)) for _ in range(count)]


def asking(*terms: str, vector: bytes | None = None, depth: int = 200, **filters: object) -> SearchRequest:
    return SearchRequest(
        terms=terms,
        vector=vector,
        model=MODEL if vector else None,
        filters=Filters(**filters),  # type: ignore[arg-type]
        depth=depth,
    )


async def ranked(store: Store, request: SearchRequest) -> list[str]:
    """References by their keyword score, best first."""
    result = await store.search_snapshot(request)
    names = {place.passage_id: place.reference for place in result.places}
    order = sorted(result.keyword, key=lambda passage: -result.keyword[passage])
    return list(dict.fromkeys(names[passage] for passage in order))


async def test_the_same_pages_are_found_as_on_sqlite(both: tuple[Store, Store]) -> None:
    for store in both:
        await published(store, await a_source(store), PAGES)
    for query in QUERIES:
        on_postgres, on_sqlite = [sorted(await ranked(one, asking(*terms_of(query)))) for one in both]
        assert on_postgres == on_sqlite, query


async def test_vectors_have_the_scores_they_have_on_sqlite(both: tuple[Store, Store]) -> None:
    vectors = random_vectors(60)
    pages = {f"page{n}": f"text number {n}" for n in range(60)}
    query = random_vectors(61)[-1]
    scores = []
    for store in both:
        await published(store, await a_source(store), pages, vectors)
        result = await store.search_snapshot(asking(vector=query, depth=25))
        names = {place.passage_id: place.reference for place in result.places}
        scores.append([(names[passage], score) for passage, score in result.dense.items()])
    assert scores[0] == scores[1]
    assert len(scores[0]) == 25


async def test_a_rare_word_weighs_more_than_a_common_one(postgres_store: PostgresStore) -> None:
    crowd = {f"crowd{n}": f"barley and more barley in field {n}, barley" for n in range(50)}
    await published(postgres_store, await a_source(postgres_store), {**crowd, "rare": "a spelt field"})
    assert (await ranked(postgres_store, asking("barley", "spelt")))[0] == "rare"


async def test_a_word_in_the_heading_weighs_more_than_one_in_the_text(postgres_store: PostgresStore) -> None:
    pages = {"text": "# Rye\n\nabout oats", "heading": "# Oats\n\nabout rye"}
    await published(postgres_store, await a_source(postgres_store), pages)
    assert await ranked(postgres_store, asking("oats")) == ["heading", "text"]


async def test_a_word_asked_for_twice_weighs_twice(postgres_store: PostgresStore) -> None:
    pages = {"rye": "words of rye", "oats": "words of oats"}
    await published(postgres_store, await a_source(postgres_store), pages)
    assert (await ranked(postgres_store, asking("rye", "oats", "oats")))[0] == "oats"
    assert (await ranked(postgres_store, asking("rye", "oats", "ryes")))[0] == "rye", "forms of one word"


async def test_a_quick_look_that_finds_too_little_is_followed_by_a_thorough_one(
    postgres_store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keywords, "QUICK", 20)
    crowd, small = await a_source(postgres_store, "crowd"), await a_source(postgres_store, "small")
    await published(postgres_store, crowd, {f"crowd{n}": f"barley barley rye {n}" for n in range(100)})
    await published(postgres_store, small, {"here": "barley grows here", "there": "rye and oats"})
    for terms in (["barley"], ["barley", "rye"], ["oats", "barley"]):
        request = asking(*terms, source_ids=frozenset({small.id}), depth=5)
        assert "here" in await ranked(postgres_store, request)
    everywhere = await ranked(postgres_store, asking("barley", "oats", depth=10))
    assert everywhere[0] == "there", "the rare word is not lost among the common ones"
    assert len(everywhere) == 10


async def test_a_large_model_gets_an_index_that_finds_what_comparing_all_finds(
    postgres_store: PostgresStore, postgres: Server
) -> None:
    vectors = random_vectors(600)
    source, small = await a_source(postgres_store), await a_source(postgres_store, "small")
    query = vectors[0]
    for number in range(2):
        pages = {f"page{n}": f"text number {n}" for n in range(300 * number, 300 * (number + 1))}
        await published(postgres_store, source, pages, vectors[300 * number : 300 * (number + 1)])
        assert index_names(postgres, postgres_store) == (["vectors_near_1"] if number else [])
    await published(postgres_store, small, {"hidden": "one among many"}, [bytes(MODEL.dimensions)])

    result = await postgres_store.search_snapshot(asking(vector=query, depth=30))
    before = result.dense
    with postgres.connect() as db:
        db.execute(f"DROP INDEX {postgres_store.database.schema}.vectors_near_1")
    result = await postgres_store.search_snapshot(asking(vector=query, depth=30))
    found = len(before.keys() & result.dense.keys())
    assert found >= 27
    assert all(result.dense[passage] == before[passage] for passage in before if passage in result.dense)


@pytest.mark.torture
async def test_the_planner_knows_the_index_and_a_filter_loses_nothing(
    postgres_store: PostgresStore, postgres: Server
) -> None:
    vectors = random_vectors(3000)
    source, small = await a_source(postgres_store), await a_source(postgres_store, "small")
    pages = {f"page{n}": f"text number {n}" for n in range(3000)}
    await published(postgres_store, source, pages, vectors)
    far = bytes((-value) % 256 for value in vectors[0])
    await published(postgres_store, small, {"far": "far away"}, [far])
    request = asking(vector=vectors[0], depth=20, source_ids=frozenset({small.id}))
    assert [place.reference for place in (await postgres_store.search_snapshot(request)).places] == ["far"]
    with postgres.connect() as db:
        db.execute(f"SET search_path TO {postgres_store.database.schema}, public")
        db.execute("ANALYZE vectors")
        plan = db.execute(
            "EXPLAIN SELECT passage_id FROM vectors WHERE model_id = 1"
            " ORDER BY embedding::halfvec(4) <#> '[1,2,3,4]'::halfvec(4) LIMIT 20"
        ).fetchall()
    assert "vectors_near_1" in str(plan)


def index_names(server: Server, store: PostgresStore) -> list[str]:
    with server.connect() as db:
        rows = db.execute(
            "SELECT indexname FROM pg_indexes"
            " WHERE schemaname = %s AND starts_with(indexname, 'vectors_near')",
            (store.database.schema,),
        )
        return [str(row[0]) for row in rows]


async def test_an_index_whose_building_was_cut_short_is_built_anew(
    postgres_store: PostgresStore, postgres: Server
) -> None:
    source = await a_source(postgres_store)
    await published(postgres_store, source, {"first": "text"}, random_vectors(1))
    schema = postgres_store.database.schema
    with postgres.connect() as db:
        # What a failed CREATE INDEX CONCURRENTLY leaves behind: here, because two vectors are the same.
        await published(postgres_store, source, {"second": "other"}, random_vectors(1))
        with pytest.raises(psycopg.errors.UniqueViolation):
            db.execute(f"CREATE UNIQUE INDEX CONCURRENTLY vectors_near_1 ON {schema}.vectors (vector)")
    pages = {f"page{n}": f"text number {n}" for n in range(600)}
    await published(postgres_store, source, pages, random_vectors(600))
    with postgres.connect() as db:
        found = db.execute(
            "SELECT indisvalid, indisunique FROM pg_index"
            f" WHERE indexrelid = '{schema}.vectors_near_1'::regclass"
        )
        assert found.fetchall() == [(True, False)]


async def test_a_nul_in_a_text_or_its_metadata_does_no_harm(postgres_store: PostgresStore) -> None:
    source = await a_source(postgres_store)
    lease, run = await a_run(postgres_store, source)
    metadata = {"a\0b": ["c\0d", "\\u0000", 1.5], "tags": "x"}
    draft = replace(a_draft("page", "before\0after"), metadata=metadata, title="T\0")
    await postgres_store.stage(lease, run, [draft], now=NOW)
    (revived,) = await postgres_store.revive(lease, run, ["page"], now=NOW)
    assert revived.draft.text == "before\ufffdafter"
    assert revived.draft.title == "T\ufffd"
    assert revived.draft.metadata == {"a\ufffdb": ["c\ufffdd", "\\u0000", 1.5], "tags": "x"}


async def test_addresses_may_be_longer_than_an_index_entry(postgres_store: PostgresStore) -> None:
    source = await a_source(postgres_store)
    long = ["https://docs.example/" + chr(97 + n) * 9000 for n in range(3)]
    chance = random.Random(1)
    noise = "https://docs.example/?" + "".join(chr(chance.randrange(33, 0x3000)) for _ in range(5000))
    names = sorted([*long, noise, long[0] + "z", "https://docs.example/Z"])
    await published(postgres_store, source, dict.fromkeys(names, "text"))
    assert set(await postgres_store.known(source.id, names)) == set(names)
    page = await postgres_store.visible_references(source.id, after="", limit=4)
    rest = await postgres_store.visible_references(source.id, after=page[-1], limit=4)
    assert [*page, *rest] == names, "in the order Python has them in"
    assert [one.reference for one in await postgres_store.documents(source.id, after=names[2])] == names[3:]


def test_words_are_told_apart_as_sqlite_does() -> None:
    assert words("os.path.join(a_b)").split() == ["os", "path", "join", "a", "b"]
    assert words("Crème brûlée").split() == ["creme", "brulee"]
    assert words("Cre\u0300me").split() == ["creme"]
    assert words("ガラス").split() == ["ガラ", "ラス"]
    assert words("한국어").split() == ["한국", "국어"]
