"""Passages, their words and their vectors in PostgreSQL, each stored once.

A model with many vectors gets an index of its own; below that, comparing all of them is exact and fast
enough. Each function is one unit of work on an open transaction, except the building of an index, which takes
too long to be one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rowen.adapters.store.postgres.migrate import ADVISORY, Connection
from rowen.adapters.store.postgres.queries import sql
from rowen.adapters.store.postgres.rows import words
from rowen.adapters.store.postgres.transaction import Transaction
from rowen.core.section import Passage
from rowen.ports.embedder import Model
from rowen.ports.store.passages import EmbeddingGap, PassageState

INDEX_AFTER = 20_000
"""Vectors of a model that are compared one by one in about 20 ms."""
MAX_INDEXED_DIMENSIONS = 4000
"""Longer vectors are beyond pgvector's index."""
BUILD_MEMORY = "256MB"
"""A graph that does not fit is built far more slowly."""


def passage_states(db: Transaction, hashes: Sequence[bytes], model: Model) -> dict[bytes, PassageState]:
    rows = db.rows("passage_states", model=find_model(db, model), hashes=list(hashes))
    return {row[0]: PassageState(passage_id=row[1], embedded=row[2]) for row in rows}


def embedding_gap(db: Transaction, model: Model, source_id: int | None) -> EmbeddingGap:
    ((passages, missing, chars),) = db.rows("embedding_gap", model=find_model(db, model), source=source_id)
    return EmbeddingGap(passages=passages, missing=missing, missing_chars=chars)


def unembedded(db: Transaction, model: Model, limit: int) -> list[Passage]:
    rows = db.rows("unembedded", model=find_model(db, model), limit=limit)
    return [Passage(hash=row[0], heading_path=row[1], text=row[2]) for row in rows]


def save_passages(
    db: Transaction, passages: Sequence[Passage], vectors: Mapping[bytes, bytes], model: Model
) -> None:
    db.rows("texts_used", key=ADVISORY)
    store_vectors(db, vectors, passage_ids(db, passages), model)


def save_vectors(db: Transaction, vectors: Mapping[bytes, bytes], model: Model) -> None:
    db.rows("texts_used", key=ADVISORY)
    store_vectors(db, vectors, dict(db.rows("passages_find", hashes=list(vectors))), model)


def find_model(db: Transaction, model: Model) -> int:
    """0 for a model that has no vectors here yet."""
    return db.value("model_find", name=model.name, digest=model.digest, dimensions=model.dimensions) or 0


def passage_ids(db: Transaction, passages: Sequence[Passage]) -> dict[bytes, int]:
    """Ids of all these passages; the ones met for the first time are stored with their words."""
    wanted = {passage.hash: passage for passage in passages}
    ids: dict[bytes, int] = dict(db.rows("passages_find", hashes=list(wanted)))
    # In one order for all, so that two who meet the same texts wait for each other and do not lock up.
    missing = [wanted[digest] for digest in sorted(wanted.keys() - ids.keys())]
    if missing:
        # Not by COPY: the server makes the words.
        ids |= dict(
            db.rows(
                "passages_insert",
                hashes=[passage.hash for passage in missing],
                heading_paths=[passage.heading_path for passage in missing],
                texts=[passage.text for passage in missing],
                heading_words=[words(passage.heading_path) for passage in missing],
                text_words=[words(passage.text) for passage in missing],
            )
        )
    return ids


def store_vectors(
    db: Transaction, vectors: Mapping[bytes, bytes], ids: Mapping[bytes, int], model: Model
) -> None:
    by_passage = {ids[digest]: vector for digest, vector in vectors.items() if digest in ids}
    if not by_passage:
        return
    model_id = find_model(db, model) or db.value(
        "model_insert", name=model.name, digest=model.digest, dimensions=model.dimensions
    )
    missing = sorted(row[0] for row in db.rows("vectors_missing", passages=list(by_passage), model=model_id))
    db.copy(
        "vectors_insert",
        ((passage, model_id, by_passage[passage], as_embedding(by_passage[passage])) for passage in missing),
    )


def as_embedding(vector: bytes) -> str:
    """The signed bytes as pgvector reads numbers."""
    return str(memoryview(vector).cast("b").tolist())


def models_to_index(db: Transaction, enough: int) -> list[int]:
    return [row[0] for row in db.rows("models_to_index", enough=enough, longest=MAX_INDEXED_DIMENSIONS)]


def index_large_models(db: Connection, enough: int) -> None:
    """Build the indexes that are due, while others go on reading and writing."""
    if db.execute("SELECT pg_try_advisory_lock(%s, 0)", (ADVISORY,)).fetchone() != (True,):
        return  # somebody is at it
    db.execute(f"SET maintenance_work_mem = '{BUILD_MEMORY}'")
    due = db.execute(sql("models_to_index"), {"enough": enough, "longest": MAX_INDEXED_DIMENSIONS})
    for model_id, dimensions in due.fetchall():
        # An attempt that was cut short leaves an index nobody uses.
        db.execute(f"DROP INDEX CONCURRENTLY IF EXISTS vectors_near_{model_id:d}")
        db.execute(
            f"CREATE INDEX CONCURRENTLY vectors_near_{model_id:d} ON vectors"
            f" USING hnsw ((embedding::halfvec({dimensions:d})) halfvec_ip_ops) WHERE model_id = {model_id:d}"
        )
