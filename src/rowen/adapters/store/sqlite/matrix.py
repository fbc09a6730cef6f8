"""The vectors of one model, in memory, and the nearest of them to a query.

A cache, rebuilt from the rows whenever in doubt, never the truth. Exact: every vector is compared. It does
not know which passages are visible; the caller filters, or passes the passages to choose from.

It follows the table by its ids, so it relies on `vectors.id` never being used twice (AUTOINCREMENT) and on a
vector never being changed in place.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import apsw
    import numpy as np
    from numpy.typing import NDArray


_STATE = "SELECT (SELECT count(*) FROM vectors), (SELECT max(id) FROM vectors)"
_COUNT = "SELECT count(*) FROM vectors WHERE model_id = ?"
_LOAD = "SELECT id, passage_id, vector FROM vectors WHERE model_id = ? AND id > ? ORDER BY id"

_SLICE = 2000
"""Rows taken from the database at a time."""

_BLOCK = 512
"""Vectors widened to float32 at a time: half a megabyte, which stays in the processor's second cache. 250,000
vectors of 256 dimensions take 14 ms so; blocks of 2,048 take 24 ms, a permanent float32 matrix 21 ms and four
times the memory, 32-bit integers 55 ms."""


class VectorMatrix:
    """Safe to share between reading threads: what is published is replaced, not changed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._state: tuple[object, ...] | None = None
        self._last_id = 0
        self._passages: NDArray[np.int64] | None = None
        self._vectors: NDArray[np.int8] | None = None
        # What readers use: passage ids and vectors of the same length, views of the two above.
        self._current: tuple[NDArray[np.int64], NDArray[np.int8]] | None = None

    def __len__(self) -> int:
        return len(self._current[0]) if self._current else 0

    def refresh(self, connection: apsw.Connection, model_id: int) -> None:
        """Take in what was added; start afresh if anything was removed or another model is asked for.

        With nothing new it costs one look at the table's count and its highest id.
        """
        with self._lock:
            state = (model_id, *_row(connection, _STATE))
            if state == self._state:
                return
            same_model = self._state is not None and self._state[0] == model_id
            # Only whole answers are published: an error on the way leaves the old state to be compared again.
            self._state = None
            if not same_model:
                self._forget()
            self._append(connection, model_id)
            if len(self) != _row(connection, _COUNT, model_id)[0]:
                self._forget()
                self._append(connection, model_id)
            self._state = state

    def nearest(self, query: bytes, k: int) -> list[tuple[int, float]]:
        """The `k` passages nearest to the query, best first, with their cosine."""
        current = self._current
        if current is None or k <= 0:
            return []
        import numpy as np

        passages, vectors = current
        # 256 products of two signed bytes add up to less than 2**24: float32 does it without rounding.
        wanted = np.frombuffer(query, np.int8).astype(np.float32)
        if len(wanted) != vectors.shape[1]:
            raise ValueError(f"query vector has {len(wanted)} dimensions, the matrix {vectors.shape[1]}")
        dots = np.empty(len(passages), np.float32)
        block = np.empty((min(_BLOCK, len(passages)), vectors.shape[1]), np.float32)
        for start in range(0, len(passages), _BLOCK):
            end = min(start + _BLOCK, len(passages))
            widened = block[: end - start]
            np.copyto(widened, vectors[start:end])
            np.dot(widened, wanted, out=dots[start:end])
        return _best(passages, dots, k)

    def _forget(self) -> None:
        self._passages = self._vectors = self._current = None
        self._last_id = 0

    def _append(self, connection: apsw.Connection, model_id: int) -> None:
        rows = connection.execute(_LOAD, (model_id, self._last_id))
        # Slice by slice: a quarter of a million small objects at once would double the time.
        loaded: list[tuple[Sequence[int], Sequence[int], bytes]] = []
        while slice_ := list(islice(rows, _SLICE)):
            ids, passages, blobs = zip(*slice_, strict=True)
            loaded.append((ids, passages, b"".join(blobs)))
        if not loaded:
            return
        import numpy as np

        fresh_passages = np.concatenate([np.array(passages, np.int64) for _, passages, _ in loaded])
        fresh = np.frombuffer(b"".join(blobs for *_, blobs in loaded), np.int8).reshape(
            len(fresh_passages), -1
        )
        held = len(self)
        total = held + len(fresh)
        if self._passages is None or self._vectors is None or total > len(self._passages):
            # Room for a quarter more, so that a long harvest does not copy everything each time. Memory that
            # is not written to costs nothing.
            room = total + total // 4
            grown_passages = np.empty(room, np.int64)
            grown_vectors = np.empty((room, fresh.shape[1]), np.int8)
            if self._current:
                grown_passages[:held], grown_vectors[:held] = self._current
            self._passages, self._vectors = grown_passages, grown_vectors
        # Readers see only the rows before `held`, so filling the spare ones disturbs no search.
        self._passages[held:total] = fresh_passages
        self._vectors[held:total] = fresh
        self._last_id = loaded[-1][0][-1]
        self._current = (self._passages[:total], self._vectors[:total])


def _row(connection: apsw.Connection, sql: str, *values: int) -> tuple[object, ...]:
    row = connection.execute(sql, values).fetchone()
    assert row is not None  # an aggregate always answers
    return tuple(row)


def _best(passages: NDArray[np.int64], dots: NDArray[np.float32], k: int) -> list[tuple[int, float]]:
    import numpy as np

    if k < len(dots):
        # Everything as good as the k-th: which of several equals are kept must not depend on the partition.
        threshold = np.partition(dots, len(dots) - k)[len(dots) - k]
        keep = np.flatnonzero(dots >= threshold)
        passages, dots = passages[keep], dots[keep]
    order = np.lexsort((passages, -dots))[:k]
    cosines = np.clip(dots[order] / np.float32(127 * 127), -1, 1)
    return list(zip(passages[order].tolist(), cosines.tolist(), strict=True))
