"""The vectors of one model, and the nearest of them to a query. A follower of the rows, never the truth.

Exact: every vector is compared. What was read from the store lies in a file that all processes map, where one
may be made, and what came since in memory, until it is added to the file. A vector belongs to a text for
good, so a row is known by the key of its text (`seen/view.py`): it is never wrong, only missing or not
needed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from rowen.adapters.store.shared.search.arrays.library import np
from rowen.adapters.store.shared.search.files import Stamped, append, numbers, writing
from rowen.adapters.store.shared.transaction import Row, Transaction
from rowen.records import NamedTuple

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_LISTED = 5_000
"""Texts whose vectors are asked for by name; for more, the table is read on from where it was left."""
FEW = 100
"""So few are looked up by every search."""
LOOK_AGAIN_S, LOOKING_SHARE = 1.0, 50
"""More are looked up again after a while, and after so many times what the last look took, though no newer
row was seen: the vector of an older text may come later."""
SLICE = 2_000
SAMPLE = 8_192
LENGTH = 127
"""Of every vector but those of empty texts."""

Passages = Callable[["NDArray[np.int64]"], "NDArray[np.int64]"]
"""The numbers of passages, by their place among the keys."""


class _Held(NamedTuple):
    """Replaced as a whole: `stored` rows of the file, and those in memory."""

    begun: str
    stored: NDArray[np.int8]
    loose: NDArray[np.int8]
    keys: NDArray[np.int64]
    """Of the rows of both, in their order."""
    ascending: NDArray[np.int64]
    rows: NDArray[np.int64]
    """Of the ascending keys."""


class VectorMatrix:
    """Safe to share between reading threads."""

    def __init__(
        self,
        model_id: int,
        dimensions: int,
        folder: Path | None = None,
        *,
        name: str = "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._model_id = model_id
        self._dimensions = dimensions
        plain = "".join(character for character in name if character.isalnum() or character == "-")
        self._files = Stamped(folder, f"vectors-{plain}") if folder else None
        self._clock = clock
        self._guard = threading.Lock()
        self._held: _Held | None = None
        self._last_id = 0
        self._look_again_at = 0.0
        self._complete: object = None
        self.is_loaded = False
        """The rows of the store were looked at once."""

    def __len__(self) -> int:
        return len(self._held.keys) if self._held else 0

    @property
    def state(self) -> object:
        """Another one when rows have come or gone."""
        return self._held

    @property
    def loose(self) -> int:
        """Rows that are not in the file."""
        return len(self._held.loose) if self._held else 0

    def open(self) -> None:
        """Take what the file has."""
        if self._held is None:
            with self._guard:
                self._held = self._held or self._from_file()

    def refresh(self, db: Transaction, token: object, keys: NDArray[np.int64], passages: Passages) -> None:
        """Have the vectors of these ascending keys, as far as the store has them.

        `token` names the keys: once all of them are here, nothing is looked at until it changes. On the way
        rows of other texts may be taken in as well.
        """
        self.open()
        if self._complete == token:
            return
        with self._guard:
            missing = self._missing(keys)
            if len(missing):
                last = int(db.value("vectors_last", model=self._model_id) or 0)
                if last > self._last_id:
                    self._take(db.each("vectors_after", model=self._model_id, after=self._last_id))
                    self._last_id = last
                    missing = self._missing(keys)
            if len(missing) and (len(missing) <= FEW or self._clock() >= self._look_again_at):
                missing = self._looked_up(db, keys, missing, passages)
            self._complete = None if len(missing) else token
            self.is_loaded = True

    def _looked_up(
        self, db: Transaction, keys: NDArray[np.int64], missing: NDArray[np.int64], passages: Passages
    ) -> NDArray[np.int64]:
        """What is still missing after a look at the texts themselves, in any order of their rows."""
        began = self._clock()
        if len(missing) <= MOST_LISTED:
            listed = passages(missing).tolist()
            self._take(db.rows("vectors_of", model=self._model_id, passages=listed))
        else:
            self._take(db.each("vectors_after", model=self._model_id, after=0))
        ended = self._clock()
        self._look_again_at = ended + max(LOOK_AGAIN_S, LOOKING_SHARE * (ended - began))
        return self._missing(keys)

    def nearest(
        self, query: bytes, wanted: int, among: NDArray[np.int64] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], bool]:
        """Keys and cosines of the nearest so many, best first, and whether there are no more.

        `among` are the rows to choose from (`rows_of`).
        """
        held = self._held
        if held is None or not len(held.keys):
            return np.empty(0, np.int64), np.empty(0), True
        asked = np.frombuffer(query, np.int8)
        if len(asked) != self._dimensions:
            raise ValueError(f"query vector has {len(asked)} dimensions, the matrix {self._dimensions}")
        if among is not None:
            stored = len(held.stored)
            parts = (held.stored[among[among < stored]], held.loose[among[among >= stored] - stored])
            keys = held.keys[among]
        else:
            parts, keys = (held.stored, held.loose), held.keys
        dots = np.concatenate([_dots(asked, part) for part in parts])
        best = _best(dots, keys, wanted)
        cosines = np.clip(dots[best] / np.float32(LENGTH * LENGTH), -1, 1)
        return keys[best], cosines.astype(np.float64), len(best) < wanted

    def rows_of(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """The rows of these keys, ascending; those without a vector are left out."""
        held = self._held
        if held is None or not len(held.ascending):
            return np.empty(0, np.int64)
        at = np.minimum(np.searchsorted(held.ascending, keys), len(held.ascending) - 1)
        return np.sort(held.rows[at[held.ascending[at] == keys]])

    def store(self, *, keep: NDArray[np.int64] | None = None) -> None:
        """Move what is in memory to the file. With `keep`, rows of other keys than these are dropped."""
        if self._files is None:
            return
        with self._guard, writing(self._files.folder) as mine:
            if mine and self._held is not None:
                self._write(self._held, keep)

    def _missing(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        held = self._held
        if held is None or not len(held.ascending):
            return np.arange(len(keys))
        at = np.minimum(np.searchsorted(held.ascending, keys), len(held.ascending) - 1)
        return np.flatnonzero(held.ascending[at] != keys)

    def _take(self, rows: Iterable[Row]) -> None:
        """Take in rows of hash and vector; those that are here already are passed over."""
        found = iter(rows)
        keys: list[NDArray[np.int64]] = []
        vectors: list[NDArray[np.int8]] = []
        # Slice by slice: a quarter of a million small objects at once would double the time.
        while slice_ := list(islice(found, SLICE)):
            hashes, blobs = zip(*slice_, strict=True)
            keys.append(np.frombuffer(b"".join(one[:8] for one in hashes), ">i8").astype(np.int64))
            vectors.append(np.frombuffer(b"".join(blobs), np.int8).reshape(len(blobs), -1))
        if not keys:
            return
        held = self._held
        assert held is not None
        new_keys, places = np.unique(np.concatenate(keys), return_index=True)
        fresh = ~np.isin(new_keys, held.keys) if len(held.keys) else np.ones(len(new_keys), bool)
        # In the order they came: rows that were stored together are searched together.
        chosen = np.sort(places[fresh])
        loose = np.concatenate((held.loose, np.concatenate(vectors)[chosen]))
        all_keys = np.concatenate((held.keys, np.concatenate(keys)[chosen]))
        self._held = _held(held.begun, held.stored, loose, all_keys)

    def _from_file(self) -> _Held:
        nothing = np.empty((0, self._dimensions), np.int8)
        stamp = self._files.read() if self._files else None
        if self._files is None or stamp is None:
            return _held("", nothing, nothing, np.empty(0, np.int64))
        try:
            begun, count = str(stamp["begun"]), int(stamp["count"])
            if stamp["dimensions"] != self._dimensions or not count:
                raise ValueError("vectors of another length")
            keys = numbers(self._files.path(begun, "keys"), count)
            shape = (count, self._dimensions)
            stored = np.memmap(self._files.path(begun, "rows"), np.int8, "r", shape=shape)
            self._last_id = int(stamp["last_id"])
        except (OSError, ValueError, KeyError, TypeError):
            return _held("", nothing, nothing, np.empty(0, np.int64))
        return _held(begun, stored.view(np.ndarray), nothing, keys)

    def _write(self, held: _Held, keep: NDArray[np.int64] | None) -> None:
        assert self._files is not None
        mine_last = self._last_id
        there = self._from_file()
        self._last_id = max(mine_last, self._last_id)
        if keep is not None or not there.begun:
            rows = held.rows if keep is None else self.rows_of(keep)
            rows = np.sort(rows)
            stored = len(held.stored)
            vectors = np.concatenate(
                (held.stored[rows[rows < stored]], held.loose[rows[rows >= stored] - stored])
            )
            keys, begun, at = held.keys[rows], self._files.begin(), 0
        else:
            new = ~np.isin(held.keys[len(held.stored) :], there.keys)
            vectors, keys = held.loose[new], held.keys[len(held.stored) :][new]
            begun, at = there.begun, len(there.keys)
        if len(keys):
            append(self._files.path(begun, "rows"), vectors, at=at)
            append(self._files.path(begun, "keys"), keys, at=at)
        if len(keys) + at:
            self._files.write(
                begun=begun, count=at + len(keys), dimensions=self._dimensions, last_id=self._last_id
            )
        self._held = self._from_file()


def _held(begun: str, stored: NDArray[np.int8], loose: NDArray[np.int8], keys: NDArray[np.int64]) -> _Held:
    order = keys.argsort(kind="stable")
    return _Held(begun, stored, loose, keys, keys[order], order)


def _dots(asked: NDArray[np.int8], vectors: NDArray[np.int8]) -> NDArray[np.float32]:
    if not len(vectors):
        return np.empty(0, np.float32)
    import simsimd

    in_lists: Callable[[object], NDArray[np.float32]] | None = getattr(vectors, "dots", None)
    if in_lists is not None:
        return in_lists(asked)

    # Whole numbers below 2**24: 32 bits hold them without rounding.
    dots: NDArray[np.float32] = np.asarray(simsimd.cdist(asked[None], vectors, "dot", out_dtype="float32"))[0]
    return dots


def _best(dots: NDArray[np.float32], keys: NDArray[np.int64], wanted: int) -> NDArray[np.int64]:
    """Places of the largest so many, largest first; equals in the order of their keys."""
    kept = np.arange(len(dots))
    if wanted < len(dots):
        least = -np.inf
        if len(dots) > 4 * SAMPLE:
            # Which number is large enough is asked of a sample first: to part a million costs more than to
            # compare them.
            step = len(dots) // SAMPLE
            sample = dots[::step]
            rank = min(len(sample), int(2 * wanted / step) + 16)
            least = np.partition(sample, len(sample) - rank)[len(sample) - rank]
        some = np.flatnonzero(dots >= least)
        if len(some) < wanted:
            some = np.arange(len(dots))
        among = dots[some]
        if wanted < len(among):
            # Everything as good as the last one: which of several equals are kept must not depend on this.
            threshold = np.partition(among, len(among) - wanted)[len(among) - wanted]
            some = some[among >= threshold]
        kept = some
    return kept[np.lexsort((keys[kept], -dots[kept]))[:wanted]]
