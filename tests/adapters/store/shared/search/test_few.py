"""Lists with the interface of arrays answer as numpy's arrays do."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.adapters.store.shared.search.arrays import few, library
from rowen.adapters.store.shared.search.arrays.library import NotFew, in_few, np

NUMBERS = st.lists(st.integers(-50, 50), max_size=12)
SOME = st.lists(st.integers(-50, 50), min_size=1, max_size=12)
Work = Callable[[Any, Any, Any], Any]


def plain(value: Any) -> Any:
    """Numbers of Python, in lists and tuples."""
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    return value.tolist() if hasattr(value, "tolist") else value


# Each takes the library and two arrays of whole numbers, of any length.
OF_ANY: dict[str, Work] = {
    "and": lambda np, a, b: (a > 3) & (a < 20),
    "or": lambda np, a, b: (a > 3) | (a == -2),
    "not": lambda np, a, b: ~(a != 4),
    "compare": lambda np, a, b: ((a >= 0).tolist(), (a <= 1).tolist()),
    "arithmetic": lambda np, a, b: (a * 3 - 2 + a) << 2 >> 1,
    "from the left": lambda np, a, b: 5 - (2 + (3 * a)),
    "negative": lambda np, a, b: -a,
    "powers": lambda np, a, b: 0.5 ** (a * a),
    "divide": lambda np, a, b: a / (a * a + 1),
    "divide in 32 bits": lambda np, a, b: (a.astype(np.float32) if np is numpy else a) / np.float32(16129),
    "mask": lambda np, a, b: a[a > 0],
    "slices": lambda np, a, b: (a[2:], a[:-1], a[::3]),
    "set by mask": lambda np, a, b: _set(a, a > 0, 7),
    "set all": lambda np, a, b: _set(a, slice(None), 1),
    "clip": lambda np, a, b: (a.clip(-3, 9), np.clip(a, 0, 4), np.minimum(a, 3), np.maximum(a, -1)),
    "greater of two": lambda np, a, b: np.maximum(a, 3 - a),
    "lowest bits": lambda np, a, b: ((a * a) & 3, (1 << 60) * (a > 0)),
    "sum": lambda np, a, b: (int(a.sum()), int((a > 0).sum()), np.count_nonzero(a > 2)),
    "greatest": lambda np, a, b: int(a.max(initial=-99)),
    "sort": lambda np, a, b: (np.sort(a), np.argsort(a, kind="stable"), a.argsort(kind="stable")),
    "unique": lambda np, a, b: np.unique(a, return_index=True, return_inverse=True),
    "unique alone": lambda np, a, b: np.unique(a),
    "isin": lambda np, a, b: (np.isin(a, b), np.isin(a, [1, 2])),
    "where": lambda np, a, b: (np.where(a > 0, a, -1), np.where(a > 0, a * 2, a)),
    "flatnonzero": lambda np, a, b: np.flatnonzero(a > 0),
    "concatenate": lambda np, a, b: np.concatenate((a, b, a[:1])),
    "append": lambda np, a, b: np.append(a, 4).astype(np.int64),
    "cumsum": lambda np, a, b: (np.cumsum(a), np.cumsum(a > 0), np.cumsum(a, dtype=np.int64)),
    "diff": lambda np, a, b: (np.diff(a), np.diff(a, prepend=-1), np.diff(a, prepend=a[:1] - 1)),
    "repeat": lambda np, a, b: np.repeat(np.arange(len(a)), np.maximum(a, 0)),
    "made": lambda np, a, b: (
        *(np.zeros(3), np.zeros(2, bool), np.ones(2), np.ones(2, bool), np.full(2, -1, np.int64)),
        *(np.arange(4), np.empty(0, np.int64), np.ones_like(a), np.array([1, 2], np.float64)),
    ),
    "lexsort": lambda np, a, b: np.lexsort((a, -(a >> 3))),
    "searchsorted": lambda np, a, b: (
        np.searchsorted(np.sort(a), b),
        np.sort(a).searchsorted(b, "right"),
        np.searchsorted(np.sort(a), b, "left"),
    ),
    "bincount": lambda np, a, b: np.bincount(a * a, (a > 0), 2501)[:40],
    "to numbers": lambda np, a, b: (a.astype(np.float64), a.astype(np.int32, copy=False), a.astype(bool)),
    "from bytes": lambda np, a, b: np.frombuffer(
        b"".join(int(one).to_bytes(8, "big", signed=True) for one in a.tolist()), ">i8"
    ).astype(np.int64),
    "from a generator": lambda np, a, b: np.fromiter((int(one) for one in b), np.int64),
}
# These need a number.
OF_SOME: dict[str, Work] = {
    "mean": lambda np, a, b: float(a.mean()),
    "ends": lambda np, a, b: (int(a.min()), int(a.max()), int(a[-1]), int(a[0])),
    "by places": lambda np, a, b: a[np.arange(len(a)) * 0],
    "from the end": lambda np, a, b: a[np.zeros(2, np.int64) - 1 if np is numpy else few.Few([-1, -1])],
    "set by places": lambda np, a, b: _set(a, np.argsort(a, kind="stable"), np.arange(len(a))),
    "set one": lambda np, a, b: _set(a, 0, 99),
    "add at places": lambda np, a, b: _add(a, np.arange(len(a)), a),
    "partition": lambda np, a, b: int(np.partition(a, len(a) // 2)[len(a) // 2]),
    "grid": lambda np, a, b: _grid(np, a),
}


def _set(array: Any, at: Any, value: Any) -> Any:
    array[at] = value
    return array


def _add(array: Any, at: Any, value: Any) -> Any:
    array[at] += value
    return array


def _grid(np: Any, a: Any) -> Any:
    grid = np.zeros((3, len(a)))
    grid[0, np.arange(len(a))] = a * 0.5
    grid[2, np.flatnonzero(a > 0)] = 1.5
    total = np.zeros(len(a))
    total += grid[0]
    total += grid[[0, 2]].max(axis=0)
    return total


def compared(work: Work, a: list[int], b: list[int]) -> None:
    expected = work(numpy, numpy.array(a, numpy.int64), numpy.array(b, numpy.int64))
    assert plain(work(few, few.array(a, few.int64), few.array(b, few.int64))) == plain(expected)


@pytest.mark.parametrize("name", OF_ANY)
@given(NUMBERS, NUMBERS)
def test_lists_answer_as_arrays_do(name: str, a: list[int], b: list[int]) -> None:
    compared(OF_ANY[name], a, b)


@pytest.mark.parametrize("name", OF_SOME)
@given(SOME, NUMBERS)
def test_lists_with_a_number_answer_as_arrays_do(name: str, a: list[int], b: list[int]) -> None:
    compared(OF_SOME[name], a, b)


@given(st.lists(st.binary(min_size=8, max_size=8), min_size=1, max_size=5), st.binary(min_size=8, max_size=8))
def test_dot_products_are_those_of_signed_bytes(rows: list[bytes], asked: bytes) -> None:
    vectors = few.frombuffer(b"".join(rows), few.int8).reshape(len(rows), -1)
    expected = numpy.frombuffer(b"".join(rows), numpy.int8).reshape(len(rows), -1).astype(int)
    dots = vectors.dots(few.frombuffer(asked, few.int8))
    assert dots.tolist() == (expected @ numpy.frombuffer(asked, numpy.int8).astype(int)).tolist()
    assert few.concatenate((few.empty((0, 8), few.int8), vectors[few.array([0])])) == [rows[0]]


def test_numbers_of_files_are_read_as_numpy_reads_them(tmp_path: Path) -> None:
    file = tmp_path / "numbers"
    file.write_bytes(numpy.array([1, 2, 2**32 - 1], numpy.uint32).tobytes())
    assert few.fromfile(file, few.uint32, 2).tolist() == [1, 2]
    assert few.fromfile(file, few.uint32, 9).tolist() == [1, 2, 2**32 - 1]
    assert few.memmap(file, few.uint32, "r", shape=(3,)).view(few.ndarray).tolist() == [1, 2, 2**32 - 1]
    with pytest.raises(ValueError, match="greater than file size"):
        few.memmap(file, few.uint32, "r", shape=(4,))


@pytest.mark.parametrize(
    "work",
    [
        lambda: np.linalg,
        lambda: np.arange(3).reshape(3, 1),
        lambda: np.memmap(Path("x"), np.int8, "r", shape=(2, 2)),
        lambda: np.fromfile(Path("x"), np.int64, few.MOST_READ + 1),
        library.needs_numpy,
        lambda: library.few_at_most(3, 2),
    ],
)
def test_what_lists_cannot_do_is_a_reason_to_use_numpy(work: Callable[[], Any]) -> None:
    with in_few(), pytest.raises(NotFew):
        work()


def test_lists_are_used_in_one_thread_and_only_meanwhile() -> None:
    found: list[type] = []
    assert type(np.arange(2)) is numpy.ndarray, "its name is known from now on"
    with in_few():
        assert type(np.arange(2)) is few.Few
        other = threading.Thread(target=lambda: found.append(type(np.arange(2))))
        other.start()
        other.join()
    assert found == [numpy.ndarray]
    assert type(np.arange(2)) is numpy.ndarray
    library.needs_numpy()
    library.few_at_most(3, 2)
