"""Vectors go to the server in binary; what arrives is what their numbers written out would be."""

from __future__ import annotations

import pytest

from rowen.adapters.store.postgres import halfvec
from rowen.adapters.store.postgres.store import PostgresStore
from rowen.core.section import Passage
from rowen.ports.embedder import Model
from tests.support.postgres import Server
from tests.support.stores import a_postgres_schema

pytestmark = pytest.mark.anyio

EVERY_NUMBER = bytes(range(256))
MODEL = Model(name="numbers", digest="1", dimensions=len(EVERY_NUMBER), alpha=0.5)


async def test_every_number_of_a_vector_arrives_as_it_was_and_as_pgvector_reads_it(postgres: Server) -> None:
    passages = [Passage(hash=bytes([n]) * 32, heading_path="", text=f"crop {n}") for n in range(3)]
    vectors = {one.hash: EVERY_NUMBER[n:] + EVERY_NUMBER[:n] for n, one in enumerate(passages)}
    with a_postgres_schema(postgres) as schema:
        store = PostgresStore(postgres.url, schema=schema)
        before = store.rows_written()
        await store.save_passages(passages, vectors, MODEL)
        # Three passages, three vectors and the model.
        assert store.rows_written() - before == 7
        with postgres.connect() as db:
            rows = db.execute(
                f"SELECT p.hash, v.vector, v.embedding::text FROM {schema}.vectors v"
                f" JOIN {schema}.passages p ON p.id = v.passage_id"
            ).fetchall()
        await store.close()
    assert {bytes(row[0]): bytes(row[1]) for row in rows} == vectors  # type: ignore[call-overload]
    assert all(row[2] == halfvec.as_text(bytes(row[1])).replace(" ", "") for row in rows)  # type: ignore[call-overload]
