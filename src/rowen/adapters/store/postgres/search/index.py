"""The index of the vectors of a large model.

A model with many vectors gets an index of its own; below that, comparing all of them is exact and fast
enough.
"""

from __future__ import annotations

from rowen.adapters.store.postgres.migrate import ADVISORY, Connection
from rowen.adapters.store.postgres.transaction import QUERIES
from rowen.adapters.store.shared.transaction import Transaction

INDEX_AFTER = 100_000
"""Vectors of a model that the server compares one by one in about 60 ms, for searches that have no file of
their own yet. Building the index takes as long as harvesting a third of its texts."""
MAX_INDEXED_DIMENSIONS = 4000
"""Longer vectors are beyond pgvector's index."""
BUILD_MEMORY = "256MB"
"""A graph that does not fit is built far more slowly."""


def models_to_index(db: Transaction, enough: int) -> list[int]:
    return [row[0] for row in db.rows("models_to_index", enough=enough, longest=MAX_INDEXED_DIMENSIONS)]


def index_large_models(db: Connection, enough: int) -> None:
    """Build the indexes that are due, while others go on reading and writing."""
    if db.execute("SELECT pg_try_advisory_lock(%s, 0)", (ADVISORY,)).fetchone() != (True,):
        return  # another process builds them
    db.execute(f"SET maintenance_work_mem = '{BUILD_MEMORY}'")
    due = db.execute(QUERIES.sql("models_to_index"), {"enough": enough, "longest": MAX_INDEXED_DIMENSIONS})
    for model_id, dimensions in due.fetchall():
        # An attempt that was cut short leaves an index that no query uses.
        db.execute(f"DROP INDEX CONCURRENTLY IF EXISTS vectors_near_{model_id:d}")
        db.execute(
            f"CREATE INDEX CONCURRENTLY vectors_near_{model_id:d} ON vectors"
            f" USING hnsw ((embedding::halfvec({dimensions:d})) halfvec_ip_ops) WHERE model_id = {model_id:d}"
        )
