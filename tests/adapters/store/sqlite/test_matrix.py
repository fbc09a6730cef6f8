from __future__ import annotations

from collections.abc import Iterator

import apsw
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rowen.adapters.store.sqlite import matrix as module
from rowen.adapters.store.sqlite.matrix import VectorMatrix

SCHEMA = """
CREATE TABLE vectors (
  id INTEGER PRIMARY KEY AUTOINCREMENT, passage_id INTEGER NOT NULL, model_id INTEGER NOT NULL,
  vector BLOB NOT NULL, UNIQUE (passage_id, model_id));
CREATE INDEX vectors_by_model ON vectors (model_id, id);
"""
DIMENSIONS = 8


def unit(*values: float) -> bytes:
    vector = np.zeros(DIMENSIONS)
    vector[: len(values)] = values
    return np.rint(127 * vector / np.linalg.norm(vector)).astype(np.int8).tobytes()


def random_vectors(count: int, seed: int = 0, dimensions: int = DIMENSIONS) -> list[bytes]:
    raw = np.random.default_rng(seed).standard_normal((count, dimensions))
    raw /= np.linalg.norm(raw, axis=1, keepdims=True)
    return [row.tobytes() for row in np.rint(raw * 127).astype(np.int8)]


class Table:
    def __init__(self) -> None:
        self.connection = apsw.Connection(":memory:")
        self.connection.execute(SCHEMA)
        self.statements: list[str] = []

    def add(self, vectors: dict[int, bytes], model_id: int = 1) -> None:
        self.connection.executemany(
            "INSERT INTO vectors (passage_id, model_id, vector) VALUES (?, ?, ?)",
            [(passage, model_id, vector) for passage, vector in vectors.items()],
        )

    def remove(self, *passages: int) -> None:
        self.connection.executemany("DELETE FROM vectors WHERE passage_id = ?", [(p,) for p in passages])

    def watch(self) -> None:
        self.connection.trace_v2(apsw.SQLITE_TRACE_STMT, lambda event: self.statements.append(event["sql"]))


@pytest.fixture
def table() -> Iterator[Table]:
    table = Table()
    yield table
    table.connection.close()


def test_the_nearest_come_first_with_their_cosine(table: Table) -> None:
    table.add({10: unit(1), 20: unit(1, 1), 30: unit(-1), 40: unit(0, 1)})
    matrix = VectorMatrix()
    matrix.refresh(table.connection, 1)
    found = matrix.nearest(unit(1), 10)
    assert [passage for passage, _ in found] == [10, 20, 40, 30]
    assert [score for _, score in found] == pytest.approx([1, 0.707, 0, -1], abs=0.01)


def test_an_empty_matrix_finds_nothing(table: Table) -> None:
    matrix = VectorMatrix()
    assert matrix.nearest(unit(1), 5) == []
    matrix.refresh(table.connection, 1)
    assert matrix.nearest(unit(1), 5) == []
    assert len(matrix) == 0


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 1500), st.integers(0, 50), st.integers(0, 5))
def test_block_by_block_equals_all_at_once(count: int, k: int, seed: int) -> None:
    vectors = random_vectors(count, seed)
    table = Table()
    table.add(dict(enumerate(vectors, 1)))
    matrix = VectorMatrix()
    matrix.refresh(table.connection, 1)
    all_at_once = np.array([np.frombuffer(v, np.int8) for v in vectors], np.int64)
    dots = all_at_once @ all_at_once[0]
    expected = sorted(range(1, count + 1), key=lambda passage: (-dots[passage - 1], passage))[:k]
    assert [passage for passage, _ in matrix.nearest(vectors[0], k)] == expected


def test_full_length_vectors_are_compared_without_rounding(table: Table) -> None:
    extreme = bytes([127] * 256)
    table.add({1: extreme, 2: bytes([127] * 255 + [126])})
    matrix = VectorMatrix()
    matrix.refresh(table.connection, 1)
    assert [passage for passage, _ in matrix.nearest(extreme, 2)] == [1, 2]
    assert all(-1 <= score <= 1 for _, score in matrix.nearest(extreme, 2))


def test_equal_vectors_keep_the_order_of_their_passages(table: Table) -> None:
    table.add(dict.fromkeys([5, 3, 9, 1, 7], unit(1)))
    matrix = VectorMatrix()
    matrix.refresh(table.connection, 1)
    assert [passage for passage, _ in matrix.nearest(unit(1), 3)] == [1, 3, 5]


def test_a_refresh_reads_only_what_was_added(table: Table) -> None:
    table.add(dict(enumerate(random_vectors(100))))
    matrix = VectorMatrix()
    matrix.refresh(table.connection, 1)
    read: list[tuple[object, ...]] = []
    table.connection.row_trace = lambda cursor, row: (read.append(row), row)[1]
    table.add({200: unit(1), 201: unit(0, 1)})
    matrix.refresh(table.connection, 1)
    assert [row[1] for row in read if len(row) == 3] == [200, 201]
    assert len(matrix) == 102
    assert matrix.nearest(unit(1), 1)[0][0] == 200


def test_a_table_larger_than_any_slice_grows_step_by_step(table: Table) -> None:
    vectors = random_vectors(2 * module._SLICE + 1)
    matrix = VectorMatrix()
    for start, end in ((0, 5), (5, len(vectors) - 3), (len(vectors) - 3, len(vectors))):
        table.add({n: vectors[n] for n in range(start, end)})
        matrix.refresh(table.connection, 1)
        assert len(matrix) == end
        for n in (0, start, end - 1):
            assert (n, 1.0) in [(p, round(score, 1)) for p, score in matrix.nearest(vectors[n], 20)]


def test_a_refresh_without_news_is_one_cheap_question(table: Table) -> None:
    table.add(dict(enumerate(random_vectors(100))))
    matrix = VectorMatrix()
    matrix.refresh(table.connection, 1)
    table.watch()
    matrix.refresh(table.connection, 1)
    assert table.statements == [module._STATE]


def test_removed_vectors_are_forgotten(table: Table) -> None:
    table.add({1: unit(1), 2: unit(1, 1), 3: unit(0, 1)})
    matrix = VectorMatrix()
    matrix.refresh(table.connection, 1)
    table.remove(2)
    matrix.refresh(table.connection, 1)
    assert [passage for passage, _ in matrix.nearest(unit(1), 5)] == [1, 3]


def test_as_many_added_as_removed_is_noticed(table: Table) -> None:
    table.add({1: unit(1), 2: unit(1, 1), 3: unit(0, 1)})
    matrix = VectorMatrix()
    matrix.refresh(table.connection, 1)
    table.remove(3)
    table.add({3: unit(0, 0, 1)})
    matrix.refresh(table.connection, 1)
    assert [passage for passage, _ in matrix.nearest(unit(0, 0, 1), 1)] == [3]
    assert len(matrix) == 3


def test_everything_removed_is_nothing_found(table: Table) -> None:
    table.add({1: unit(1)})
    matrix = VectorMatrix()
    matrix.refresh(table.connection, 1)
    table.remove(1)
    matrix.refresh(table.connection, 1)
    assert matrix.nearest(unit(1), 5) == []


def test_vectors_of_two_models_never_meet(table: Table) -> None:
    table.add({1: unit(1)}, model_id=1)
    table.add({2: unit(1)}, model_id=2)
    matrix = VectorMatrix()
    for model_id in (1, 2, 1):
        matrix.refresh(table.connection, model_id)
        assert [passage for passage, _ in matrix.nearest(unit(1), 5)] == [model_id]


def test_a_query_of_another_length_is_a_bug(table: Table) -> None:
    table.add({1: unit(1)})
    matrix = VectorMatrix()
    matrix.refresh(table.connection, 1)
    with pytest.raises(ValueError, match="dimensions"):
        matrix.nearest(b"\x01\x02", 5)


def test_a_failed_refresh_is_made_good_by_the_next(table: Table) -> None:
    table.add({1: unit(1)})
    matrix = VectorMatrix()
    matrix.refresh(table.connection, 1)
    table.add({2: unit(0, 1)})
    table.connection.authorizer = lambda op, *rest: (
        apsw.SQLITE_DENY if op == apsw.SQLITE_READ and rest[1] == "vector" else apsw.SQLITE_OK
    )
    with pytest.raises(apsw.AuthError):
        matrix.refresh(table.connection, 1)
    assert [passage for passage, _ in matrix.nearest(unit(1), 5)] == [1], "the old state still answers"
    table.connection.authorizer = None
    matrix.refresh(table.connection, 1)
    assert [passage for passage, _ in matrix.nearest(unit(0, 1), 5)] == [2, 1]
