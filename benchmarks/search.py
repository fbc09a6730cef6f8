"""How long a hybrid search takes on both stores, and how much the approximate vector search misses.

    python benchmarks/search.py [--sections 200000] [--questions 200] [--only sqlite|postgres]

Both stores get the same corpus (`benchmarks/corpus.py`), in bulk. The truth for recall is a comparison of
each question's vector with all vectors, made here and not by a store. PostgreSQL is the one of the tests,
with the settings below; it runs beside us on the same machine.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import apsw
import numpy as np
import psycopg
from corpus import ONCE, SMALL, Corpus, Section, load_postgres, load_sqlite
from numpy.typing import NDArray

from rowen.adapters.store.postgres.search import nearest
from rowen.adapters.store.postgres.search.index import INDEX_AFTER, index_large_models
from rowen.adapters.store.postgres.store import PostgresStore
from rowen.adapters.store.sqlite.store import SqliteStore
from rowen.core.search.hit import Filters, SearchMode
from rowen.ports.embedder import Embedder
from rowen.ports.store.search import SearchRequest
from rowen.ports.store.store import Store
from rowen.reading.search import search

ROOT = Path(__file__).resolve().parents[1]
SERVER = {"shared_buffers": "512MB", "work_mem": "32MB", "effective_cache_size": "4GB"}
TOP = 10
WARM_UP = 20
FILTERS = {"everything": Filters(), "1 % of it": Filters(source_ids=frozenset({SMALL}))}

Load = Callable[[Sequence[Section]], None]


@asynccontextmanager
async def sqlite() -> AsyncIterator[tuple[Store, Load]]:
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "rowen.db")
        db = apsw.Connection(str(Path(folder) / "rowen.db"))
        for statement in ("PRAGMA synchronous = OFF", *ONCE):
            db.execute(statement)
        try:
            yield store, lambda sections: load_sqlite(db, sections)
        finally:
            db.close()
            await store.close()


@asynccontextmanager
async def postgres() -> AsyncIterator[tuple[Store, Load]]:
    sys.path.insert(0, str(ROOT))
    from tests.support.postgres import own_server

    with own_server() as (server, postmaster):
        with (Path(server.folder) / "data" / "postgresql.conf").open("a") as settings:
            settings.writelines(f"\n{name} = '{value}'" for name, value in SERVER.items())
        postmaster.stop()
        postmaster.start()
        store = PostgresStore(server.url)
        db = psycopg.connect(server.url, autocommit=True, options="-c search_path=rowen,public")
        for statement in ONCE:
            db.execute(statement.encode())
        try:
            yield store, lambda sections: load_postgres(db, sections)
        finally:
            db.close()
            await store.close()


async def index(store: Store) -> None:
    """What the end of a run, and a server with time, would have done by now."""
    if isinstance(store, PostgresStore):
        await store.database.outside_transaction(lambda db: index_large_models(db, INDEX_AFTER))
        await store.database.outside_transaction(lambda db: db.execute("VACUUM ANALYZE"))


async def timed(
    store: Store, embedder: Embedder, questions: list[str], filters: Filters, mode: SearchMode
) -> list[float]:
    """Milliseconds of each search, from the question to the hits."""
    found = []
    for question in [*questions[:WARM_UP], *questions]:
        before = time.perf_counter()
        await search(store, embedder, question, filters=filters, mode=mode)
        found.append((time.perf_counter() - before) * 1000)
    return found[-len(questions) :]


async def recall(
    store: Store, embedder: Embedder, vectors: NDArray[np.int8], questions: list[str], filters: Filters
) -> float:
    """The share of the ten truly nearest sections that the store names among its first ten."""
    hits = 0
    matrix = vectors.astype(np.float32)
    for question in questions:
        vector = await embedder.embed_query(question)
        request = SearchRequest(terms=(), vector=vector, model=embedder.model, filters=filters)
        answer = (await store.search_snapshot(request)).dense
        named = sorted(answer, key=lambda passage: -answer[passage])[:TOP]
        products = matrix @ np.frombuffer(vector, np.int8).astype(np.float32)
        # Of several that are equally near any will do.
        least = np.partition(products, -TOP)[-TOP]
        hits += sum(passage <= len(products) and products[passage - 1] >= least for passage in named)
    return hits / (TOP * len(questions))


async def filled(store: Store, load: Load, corpus: Corpus) -> tuple[NDArray[np.int8], str]:
    """All vectors in the order of their sections, and how long filling the store took."""
    vectors: list[bytes] = []
    loading_s = 0.0
    async for sections in corpus.batches():
        before = time.monotonic()
        load(sections)
        loading_s += time.monotonic() - before
        vectors += [one.vector for one in sections]
    before = time.monotonic()
    await index(store)
    took = f"loaded in {loading_s:,.0f} s, indexed in {time.monotonic() - before:,.0f} s"
    return np.frombuffer(b"".join(vectors), np.int8).reshape(len(vectors), -1), took


async def measure(name: str, sections: int, count: int) -> None:
    corpus = Corpus(sections)
    await corpus.prepare()
    questions = corpus.questions(count)
    async with STORES[name]() as (store, load):
        vectors, took = await filled(store, load, corpus)
        indexed = name == "postgres" and len(vectors) > INDEX_AFTER
        how = f"by HNSW, ef_search {nearest.EF_SEARCH}" if indexed else "exactly"
        print(f"{name}: {len(vectors):,} sections {took}; vectors searched {how}", flush=True)
        for remark, filters in FILTERS.items():
            for mode in SearchMode:
                p50, p95 = np.percentile(
                    await timed(store, corpus.embedder, questions, filters, mode), [50, 95]
                )
                print(f"  {remark:<10} {mode.value:<9} p50 {p50:8.1f} ms   p95 {p95:8.1f} ms", flush=True)
            among = vectors[: corpus.small] if filters.source_ids else vectors
            share = await recall(store, corpus.embedder, among, questions, filters)
            print(f"  {remark:<10} recall@{TOP} {share:.3f}", flush=True)


STORES = {"sqlite": sqlite, "postgres": postgres}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sections", type=int, default=20_000)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--only", choices=list(STORES))
    options = parser.parse_args()
    for name in [options.only] if options.only else STORES:
        asyncio.run(measure(name, options.sections, options.questions))


if __name__ == "__main__":
    main()
