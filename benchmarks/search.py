"""What a search costs on both stores, and whether the shortcuts on its way change what it finds.

    python benchmarks/search.py [--sections 20000] [--questions 200] [--only sqlite|postgres] [--keep FOLDER]

With `--keep` the file of SQLite stays in a folder, and a later call measures the one it finds there: a
million sections take some minutes to write and follow.

Both stores get the same corpus (`benchmarks/corpus.py`), in bulk. The time is that of the processor: of this
process, and of PostgreSQL's, which is the one of the tests with the settings below. The exhaustive ranking
compares each question's vector with all vectors (made here and not by a store), and gives all places of all
candidates to the ranking instead of those that a store takes for the best.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import psycopg
from corpus import NOW, ONCE, SMALL, Corpus, Section, load_postgres, load_sqlite
from numpy.typing import NDArray

from rowen.adapters.embedders.static import MODEL
from rowen.adapters.store.postgres.store import PostgresStore
from rowen.adapters.store.shared.store import SharedStore
from rowen.adapters.store.sqlite.store import SqliteStore
from rowen.core.search.hit import Filters, SearchMode
from rowen.ports.embedder import Embedder
from rowen.ports.store.search import SearchRequest, SearchResult
from rowen.reading.search import search

ROOT = Path(__file__).resolve().parents[1]
SERVER = {"shared_buffers": "512MB", "work_mem": "32MB", "effective_cache_size": "4GB"}
TOP = 10
WARM_UP = 20
FILTERS = {
    "everything": Filters(),
    "1 % of it": Filters(source_ids=frozenset({SMALL})),
    "by date": Filters(since=datetime.fromisoformat(NOW)),
    "metadata": Filters(metadata={"team": "3"}),
}
AIMS_MS = {20_000: 8, 200_000: 20, 1_000_000: 45}
SMALL_AIM_MS = 15

Load = Callable[[Sequence[Section]], None]
Opened = tuple[SharedStore, Load, Callable[[], float]]


@asynccontextmanager
async def sqlite(folder: Path) -> AsyncIterator[Opened]:
    store = SqliteStore(folder / "rowen.db")
    db = apsw.Connection(str(folder / "rowen.db"))
    for statement in ("PRAGMA synchronous = OFF", *ONCE):
        db.execute(statement)
    try:
        yield store, lambda sections: load_sqlite(db, sections), time.process_time
    finally:
        db.close()
        await store.close()


@asynccontextmanager
async def kept(folder: Path) -> AsyncIterator[Opened]:
    """A store that an earlier call has left."""

    def load(sections: Sequence[Section]) -> None:
        raise AssertionError("it is there already")

    store = SqliteStore(folder / "rowen.db")
    try:
        # The call before may have been interrupted.
        await store.follow()
        yield store, load, time.process_time
    finally:
        await store.close()


def stored_vectors(folder: Path) -> NDArray[np.int8]:
    """All vectors in the order of their sections."""
    db = apsw.Connection(str(folder / "rowen.db"))
    rows = b"".join(row[0] for row in db.execute("SELECT vector FROM vectors ORDER BY passage_id"))
    db.close()
    return np.frombuffer(rows, np.int8).reshape(-1, MODEL.dimensions)


@asynccontextmanager
async def postgres(folder: Path) -> AsyncIterator[Opened]:
    sys.path.insert(0, str(ROOT))
    from tests.support.postgres import own_server

    with own_server() as (server, postmaster):
        with (Path(server.folder) / "data" / "postgresql.conf").open("a") as settings:
            settings.writelines(f"\n{name} = '{value}'" for name, value in SERVER.items())
        postmaster.stop()
        postmaster.start()
        pid = int((Path(server.folder) / "data" / "postmaster.pid").read_text().split()[0])
        store = PostgresStore(server.url, cache=folder)
        db = psycopg.connect(server.url, autocommit=True, options="-c search_path=rowen,public")
        for statement in ONCE:
            db.execute(statement.encode())
        try:
            yield (
                store,
                lambda sections: load_postgres(db, sections),
                lambda: time.process_time() + served_s(pid),
            )
        finally:
            db.close()
            await store.close()


def served_s(server: int) -> float:
    """Seconds of processor that the server's processes have used."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(") ")[2].split()
        except OSError:
            continue
        if int(fields[1]) == server:
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


class Exhaustive:
    """A store that leaves no place out."""

    def __init__(self, store: SharedStore) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def search_snapshot(self, request: SearchRequest) -> SearchResult:
        return await self._store.search_snapshot(replace(request, best=None))


async def timed(
    store: SharedStore,
    embedder: Embedder,
    questions: list[str],
    filters: Filters,
    mode: SearchMode,
) -> list[float]:
    """Milliseconds of this process for each search, from the question to the hits."""
    found = []
    for question in [*questions[:WARM_UP], *questions]:
        before = time.process_time()
        await search(store, embedder, question, filters=filters, mode=mode)
        found.append((time.process_time() - before) * 1000)
    return found[-len(questions) :]


async def served(
    store: SharedStore, embedder: Embedder, questions: list[str], filters: Filters, cpu_s: Callable[[], float]
) -> float:
    """Mean milliseconds of a search with those of the server; its clock is too coarse for one search."""
    before = cpu_s()
    for question in questions:
        await search(store, embedder, question, filters=filters)
    return (cpu_s() - before) * 1000 / len(questions)


async def agreement(store: SharedStore, embedder: Embedder, questions: list[str], filters: Filters) -> float:
    """The share of questions with the same first ten documents as by exhaustive ranking."""
    same = 0
    for question in questions:
        shown = await search(store, embedder, question, filters=filters, limit=TOP)
        whole = await search(Exhaustive(store), embedder, question, filters=filters, limit=TOP)
        same += [hit.url for hit in shown.hits] == [hit.url for hit in whole.hits]
    return same / len(questions)


async def recall(
    store: SharedStore, embedder: Embedder, vectors: NDArray[np.int8], questions: list[str], filters: Filters
) -> float:
    """The share of the ten truly nearest sections that the store names among its first ten."""
    hits = 0
    matrix = vectors.astype(np.float32)
    for question in questions:
        vector = await embedder.embed_query(question)
        request = SearchRequest(terms=(), vector=vector, model=embedder.model, filters=filters, best=TOP)
        answer = (await store.search_snapshot(request)).dense
        named = sorted(answer, key=lambda passage: -answer[passage])[:TOP]
        products = matrix @ np.frombuffer(vector, np.int8).astype(np.float32)
        # Of several that are equally near any will do.
        least = np.partition(products, -TOP)[-TOP]
        hits += sum(passage <= len(products) and products[passage - 1] >= least for passage in named)
    return hits / (TOP * len(questions))


async def filled(store: SharedStore, load: Load, corpus: Corpus) -> tuple[NDArray[np.int8], str]:
    """All vectors in the order of their sections, and what filling the store took."""
    vectors: list[bytes] = []
    loading_s = 0.0
    async for sections in corpus.batches():
        before = time.process_time()
        load(sections)
        loading_s += time.process_time() - before
        vectors += [one.vector for one in sections]
    before = time.process_time()
    # What the end of a run would have done by now.
    await store.follow()
    took = f"loaded in {loading_s:,.1f} s, followed in {time.process_time() - before:,.1f} s of processor"
    return np.frombuffer(b"".join(vectors), np.int8).reshape(len(vectors), -1), took


async def measure(name: str, sections: int, count: int, keep: Path | None) -> None:
    corpus = Corpus(sections)
    await corpus.prepare()
    questions = corpus.questions(count)
    with tempfile.TemporaryDirectory() as temporary:
        folder = keep or Path(temporary)
        is_there = (folder / "rowen.db").exists()
        async with (kept if is_there else STORES[name])(folder) as (store, load, cpu_s):
            if is_there:
                vectors, took = stored_vectors(folder), "as they were left"
                assert len(vectors) == sections, f"{len(vectors):,} sections are in {folder}"
            else:
                vectors, took = await filled(store, load, corpus)
            print(f"{name}: {len(vectors):,} sections {took}", flush=True)
            before = time.process_time()
            await search(store, corpus.embedder, questions[0])
            print(f"  the first search {(time.process_time() - before) * 1000:8.0f} ms", flush=True)
            for remark, filters in FILTERS.items():
                for mode in SearchMode:
                    taken = await timed(store, corpus.embedder, questions, filters, mode)
                    p50, p95 = np.percentile(taken, [50, 95])
                    aim = SMALL_AIM_MS if filters.source_ids else AIMS_MS.get(sections)
                    said = f"   aim {aim}" if aim and mode is SearchMode.HYBRID else ""
                    line = f"  {remark:<10} {mode.value:<9} p50 {p50:6.1f} ms   p95 {p95:6.1f} ms{said}"
                    print(line, flush=True)
                if name == "postgres":
                    mean = await served(store, corpus.embedder, questions, filters, cpu_s)
                    print(f"  {remark:<10} hybrid, with the server's   mean {mean:6.1f} ms", flush=True)
                share = await agreement(store, corpus.embedder, questions, filters)
                print(f"  {remark:<10} the same first {TOP} as by exhaustive ranking {share:.3f}", flush=True)
            for remark, some in (("everything", vectors), ("1 % of it", vectors[: corpus.small])):
                share = await recall(store, corpus.embedder, some, questions, FILTERS[remark])
                print(f"  {remark:<10} recall@{TOP} of vectors {share:.3f}", flush=True)


STORES = {"sqlite": sqlite, "postgres": postgres}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sections", type=int, default=20_000)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--only", choices=list(STORES))
    parser.add_argument("--keep", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    # What is kept is a file of SQLite.
    names = ["sqlite"] if options.keep else [options.only] if options.only else list(STORES)
    for name in names:
        asyncio.run(measure(name, options.sections, options.questions, options.keep))


if __name__ == "__main__":
    main()
