from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import apsw
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.adapters.store.shared.search import matrix as module
from rowen.adapters.store.shared.search.matrix import VectorMatrix
from rowen.adapters.store.sqlite.transaction import SqliteTransaction, bound

SCHEMA = """
CREATE TABLE passages (id INTEGER PRIMARY KEY, hash BLOB NOT NULL);
CREATE TABLE vectors (
  id INTEGER PRIMARY KEY AUTOINCREMENT, passage_id INTEGER NOT NULL, model_id INTEGER NOT NULL,
  vector BLOB NOT NULL, UNIQUE (passage_id, model_id));
"""
DIMENSIONS = 8


def unit(*values: float) -> bytes:
    vector = np.zeros(DIMENSIONS)
    vector[: len(values)] = values
    return np.rint(127 * vector / np.linalg.norm(vector)).astype(np.int8).tobytes()


def random_vectors(count: int, seed: int = 0) -> list[bytes]:
    raw = np.random.default_rng(seed).standard_normal((count, DIMENSIONS))
    raw /= np.linalg.norm(raw, axis=1, keepdims=True)
    return [row.tobytes() for row in np.rint(raw * 127).astype(np.int8)]


def digest(passage: int) -> bytes:
    return hashlib.sha256(str(passage).encode()).digest()


def key(passage: int) -> int:
    return int.from_bytes(digest(passage)[:8], "big", signed=True)


class Table:
    """Vectors by passage, and a matrix that is asked for them."""

    def __init__(self) -> None:
        self.connection = apsw.Connection(":memory:")
        self.connection.convert_binding = bound
        self.connection.execute(SCHEMA)
        self.db = SqliteTransaction(self.connection)
        self.statements: list[str] = []
        self.connection.trace_v2(apsw.SQLITE_TRACE_STMT, lambda event: self.statements.append(event["sql"]))

    def add(self, vectors: dict[int, bytes], model_id: int = 1) -> None:
        for passage, vector in vectors.items():
            self.connection.execute(
                "INSERT OR IGNORE INTO passages (id, hash) VALUES (?, ?)", (passage, digest(passage))
            )
            self.connection.execute(
                "INSERT INTO vectors (passage_id, model_id, vector) VALUES (?, ?, ?)",
                (passage, model_id, vector),
            )

    def refresh(self, matrix: VectorMatrix, *passages: int) -> None:
        ascending = sorted(passages, key=key)
        keys = np.array([key(one) for one in ascending], np.int64)
        matrix.refresh(self.db, passages, keys, lambda places: np.array(ascending, np.int64)[places])


@pytest.fixture
def table() -> Iterator[Table]:
    table = Table()
    yield table
    table.connection.close()


def nearest(matrix: VectorMatrix, query: bytes, wanted: int) -> list[tuple[int, float]]:
    """By passage, of the first hundred thousand."""
    keys, cosines, _ = matrix.nearest(query, wanted)
    return list(zip(keys.tolist(), cosines.tolist(), strict=True))


def test_the_nearest_come_first_with_their_cosine(table: Table) -> None:
    table.add({10: unit(1), 20: unit(1, 1), 30: unit(-1), 40: unit(0, 1)})
    matrix = VectorMatrix(1, DIMENSIONS)
    table.refresh(matrix, 10, 20, 30, 40)
    found = nearest(matrix, unit(1), 10)
    assert [one for one, _ in found] == [key(10), key(20), key(40), key(30)]
    assert [score for _, score in found] == pytest.approx([1, 0.707, 0, -1], abs=0.01)


def test_an_empty_matrix_finds_nothing(table: Table) -> None:
    matrix = VectorMatrix(1, DIMENSIONS)
    assert nearest(matrix, unit(1), 5) == []
    table.refresh(matrix)
    assert nearest(matrix, unit(1), 5) == []


def test_a_query_of_another_length_is_refused(table: Table) -> None:
    table.add({1: unit(1)})
    matrix = VectorMatrix(1, DIMENSIONS)
    table.refresh(matrix, 1)
    with pytest.raises(ValueError, match="2 dimensions"):
        matrix.nearest(b"12", 1)


@given(st.integers(1, 1500), st.integers(1, 50), st.integers(0, 5))
def test_a_sample_says_what_is_large_enough_and_loses_nothing(count: int, wanted: int, seed: int) -> None:
    dots = np.random.default_rng(seed).integers(-50, 50, count).astype(np.float32)
    keys = np.arange(count, dtype=np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "SAMPLE", 16)
        found = module._best(dots, keys, wanted).tolist()
    assert found == sorted(range(count), key=lambda place: (-dots[place], place))[:wanted]


def test_full_length_vectors_are_compared_without_rounding(table: Table) -> None:
    extreme = bytes([127] * 256)
    table.add({1: extreme, 2: bytes([127] * 255 + [126])})
    matrix = VectorMatrix(1, 256)
    table.refresh(matrix, 1, 2)
    found = nearest(matrix, extreme, 2)
    assert [one for one, _ in found] == [key(1), key(2)]
    assert all(-1 <= score <= 1 for _, score in found)


def test_only_the_rows_asked_for_are_compared(table: Table) -> None:
    table.add(dict(enumerate(random_vectors(50), 1)))
    matrix = VectorMatrix(1, DIMENSIONS)
    table.refresh(matrix, *range(1, 51))
    some = np.array([key(3), key(7), key(1000)], np.int64)
    keys, _, all_there_are = matrix.nearest(unit(1), 10, matrix.rows_of(some))
    assert set(keys.tolist()) == {key(3), key(7)}
    assert all_there_are


def test_with_everything_here_the_store_is_not_asked(table: Table) -> None:
    table.add({1: unit(1), 2: unit(0, 1)})
    matrix = VectorMatrix(1, DIMENSIONS)
    table.refresh(matrix, 1, 2)
    table.statements.clear()
    table.refresh(matrix, 1, 2)
    table.add({3: unit(1)}, model_id=2)
    table.statements.clear()
    table.refresh(matrix, 1, 2)
    assert table.statements == []


def test_vectors_that_come_later_are_taken_in_once_they_are_wanted(table: Table) -> None:
    table.add({1: unit(1)})
    matrix = VectorMatrix(1, DIMENSIONS)
    table.refresh(matrix, 1)
    table.add({2: unit(1, 1)})
    table.refresh(matrix, 1)
    assert len(matrix) == 1, "nobody can see the second one"
    table.refresh(matrix, 1, 2)
    assert [one for one, _ in nearest(matrix, unit(1), 5)] == [key(1), key(2)]


def test_a_row_with_a_smaller_number_that_comes_later_is_found(table: Table) -> None:
    table.add({1: unit(1), 2: unit(0, 1)})
    table.connection.execute("DELETE FROM vectors WHERE passage_id = 1")
    matrix = VectorMatrix(1, DIMENSIONS)
    table.refresh(matrix, 1, 2)
    table.connection.execute("INSERT INTO vectors VALUES (1, 1, 1, ?)", (unit(1),))
    table.refresh(matrix, 1, 2)
    assert len(matrix) == 2


def test_many_texts_without_a_vector_are_looked_up_now_and_then(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FEW", 0)
    table.add({1: unit(1)})
    now = 0.0
    matrix = VectorMatrix(1, DIMENSIONS, clock=lambda: now)
    table.refresh(matrix, 1, 2)
    table.statements.clear()
    table.refresh(matrix, 1, 2)
    assert len(table.statements) == 1, "is there a newer one?"
    now = module.LOOK_AGAIN_S
    table.refresh(matrix, 1, 2)
    assert len(table.statements) == 3


def test_what_was_stored_is_read_from_the_file(table: Table, tmp_path: Path) -> None:
    table.add(dict(enumerate(random_vectors(20), 1)))
    first = VectorMatrix(1, DIMENSIONS, tmp_path, name="m")
    table.refresh(first, *range(1, 21))
    first.store()
    assert first.loose == 0
    second = VectorMatrix(1, DIMENSIONS, tmp_path, name="m")
    table.statements.clear()
    table.refresh(second, *range(1, 21))
    assert table.statements == []
    assert nearest(second, unit(1), 20) == nearest(first, unit(1), 20)


def test_two_processes_add_to_one_file(table: Table, tmp_path: Path) -> None:
    vectors = random_vectors(30)
    table.add(dict(enumerate(vectors[:10], 1)))
    one, two = (VectorMatrix(1, DIMENSIONS, tmp_path, name="m") for _ in range(2))
    for matrix in (one, two):
        table.refresh(matrix, *range(1, 11))
    one.store()
    table.add(dict(enumerate(vectors[10:], 11)))
    table.refresh(two, *range(1, 31))
    two.store()
    third = VectorMatrix(1, DIMENSIONS, tmp_path, name="m")
    table.statements.clear()
    table.refresh(third, *range(1, 31))
    assert (table.statements, len(third)) == ([], 30)


@pytest.mark.parametrize("damage", ["stamp", "rows", "keys", "of another model", "made elsewhere"])
def test_a_file_that_is_damaged_or_foreign_is_as_good_as_none(
    table: Table, tmp_path: Path, damage: str
) -> None:
    vectors = dict(enumerate(random_vectors(20), 1))
    table.add(vectors)
    first = VectorMatrix(1, DIMENSIONS, tmp_path, name="m")
    table.refresh(first, *range(1, 21))
    first.store()
    if damage == "stamp":
        (tmp_path / "vectors-m.json").write_text("{")
    elif damage == "made elsewhere":
        other = Table()
        other.add({n: unit(1) for n in range(100, 200)})
        foreign = VectorMatrix(1, DIMENSIONS, tmp_path / "other", name="m")
        other.refresh(foreign, *range(100, 200))
        foreign.store()
        for file in (tmp_path / "other").iterdir():
            file.replace(tmp_path / file.name)
    elif damage == "of another model":
        stamp = tmp_path / "vectors-m.json"
        stamp.write_text(stamp.read_text().replace('"dimensions": 8', '"dimensions": 4'))
    else:
        (file,) = tmp_path.glob(f"*.{damage}")
        file.write_bytes(file.read_bytes()[:-3])
    matrix = VectorMatrix(1, DIMENSIONS, tmp_path, name="m")
    table.refresh(matrix, *range(1, 21))
    assert {one for one, _ in nearest(matrix, unit(1), 200)} >= {key(one) for one in vectors}
    matrix.store()
    again = VectorMatrix(1, DIMENSIONS, tmp_path, name="m")
    table.statements.clear()
    table.refresh(again, *range(1, 21))
    assert table.statements == []


def test_rows_of_texts_that_are_gone_are_dropped_when_it_is_asked_for(table: Table, tmp_path: Path) -> None:
    table.add(dict(enumerate(random_vectors(20), 1)))
    matrix = VectorMatrix(1, DIMENSIONS, tmp_path, name="m")
    table.refresh(matrix, *range(1, 21))
    matrix.store()
    matrix.store(keep=np.sort(np.array([key(3), key(4)], np.int64)))
    assert len(matrix) == 2
    assert len(list(tmp_path.glob("*.rows"))) == 1
    assert next(tmp_path.glob("*.rows")).stat().st_size == 2 * DIMENSIONS
