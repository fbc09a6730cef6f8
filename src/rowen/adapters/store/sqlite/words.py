"""The words of texts in memory, for searches that the index beside the store cannot answer.

A store that may only be read can be without an index, a disk can be full, the library of the index can be
missing. Then the texts that readers see are put into an FTS5 table of this process, once. A text is known by
its key, the beginning of its hash, as everywhere in `shared/search/`.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

import apsw

from rowen.adapters.store.shared.search.arrays.library import np
from rowen.adapters.store.shared.search.index import key_of
from rowen.adapters.store.shared.slices import said_as_far_as_known
from rowen.core.search.query import fts5_match, indexable

if TYPE_CHECKING:
    from rowen.adapters.store.shared.search.seen.view import View
    from rowen.adapters.store.shared.topics.search import Among, Ranked
    from rowen.adapters.store.sqlite.transaction import SqliteTransaction

MOST = 50_000
"""Texts that a search waits for: a few seconds, once."""
BATCH = 5_000

TABLE = (
    "CREATE VIRTUAL TABLE words USING fts5 (heading, body, content='',"
    " tokenize='porter unicode61 remove_diacritics 2')"
)
# A word in the headings weighs five times.
BEST = (
    "SELECT rowid, -bm25(words, 5.0, 1.0) AS score FROM words WHERE words MATCH ? ORDER BY score DESC LIMIT ?"
)


class MemoryWords:
    """Safe to share between threads."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._db: apsw.Connection | None = None
        self._there: set[int] = set()

    def ranking(
        self, db: SqliteTransaction, view: View, terms: Sequence[str], prefix: str
    ) -> InMemory | None:
        """None: readers see more texts than a search can wait for."""
        if len(view.keys) > MOST:
            return None
        with self._guard:
            self._db = self._db or _opened()
            absent = [slot for slot, key in enumerate(view.keys.tolist()) if key not in self._there]
            for start in range(0, len(absent), BATCH):
                passages = [int(view.passage[view.first[slot]]) for slot in absent[start : start + BATCH]]
                found = said_as_far_as_known(db, passages).values()
                with self._db:
                    self._db.executemany(
                        "INSERT INTO words (rowid, heading, body) VALUES (?, ?, ?)",
                        ((key_of(o.hash), indexable(o.heading_path), indexable(o.text)) for o in found),
                    )
                self._there.update(key_of(one.hash) for one in found)
        return InMemory(self, view, fts5_match(terms, prefix))

    def best(self, match: str, wanted: int) -> list[tuple[int, float]]:
        with self._guard:
            assert self._db is not None
            return [(row[0], row[1]) for row in self._db.execute(BEST, (match, wanted))]

    def close(self) -> None:
        with self._guard:
            if self._db is not None:
                self._db.close()
            self._db, self._there = None, set()


class InMemory:
    """A ranking that gives so many of its best and can do nothing else."""

    can_choose = False

    def __init__(self, words: MemoryWords, view: View, match: str) -> None:
        self._words = words
        self._view = view
        self._match = match

    def best(self, wanted: int, *, thorough: bool, among: Among | None) -> tuple[Ranked, bool]:
        ranked = self._words.best(self._match, wanted)
        slots = self._view.slots_of_keys(np.array([key for key, _ in ranked], np.int64))
        passages = self._view.passages_of(slots[slots >= 0]).tolist()
        scores = [score for (_, score), slot in zip(ranked, slots.tolist(), strict=True) if slot >= 0]
        return list(zip(passages, scores, strict=True)), len(ranked) < wanted


def _opened() -> apsw.Connection:
    db = apsw.Connection(":memory:")
    db.execute(TABLE)
    return db
