"""`SqliteStore`: the Store port on one SQLite file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rowen.adapters.store.shared.store import SharedStore
from rowen.adapters.store.shared.topics.search import Among, Ranked
from rowen.adapters.store.sqlite.database import SqliteDatabase, give_space_back
from rowen.adapters.store.sqlite.transaction import SqliteTransaction
from rowen.core.search.query import fts5_match

if TYPE_CHECKING:
    from rowen.adapters.store.shared.search.finder import Finder

BESIDE = "-search"
"""Ends the name of the folder beside the file where searches keep what they know of it."""


class SqliteStore(SharedStore):
    _db: SqliteDatabase

    def __init__(
        self,
        path: Path,
        *,
        busy_timeout_s: float = 5.0,
        create: bool = True,
        read_only: bool = False,
        auto_upgrade: bool = True,
    ) -> None:
        self._db = SqliteDatabase(path, busy_timeout_s=busy_timeout_s, create=create, read_only=read_only)
        self._db.open(migrate=auto_upgrade)

    def _open_finder(self) -> Finder:
        from rowen.adapters.store.shared.search.finder import Finder

        path = self._db.path
        beside = path.with_name(path.name + BESIDE)
        return Finder(self._db.read_here, beside, can_write=not self._db.read_only)

    @property
    def database(self) -> SqliteDatabase:
        return self._db

    def _keywords(self, db: SqliteTransaction, terms: Sequence[str], prefix: str) -> _Listed:
        match = fts5_match(terms, prefix)

        def best_of(wanted: int) -> Ranked:
            return [(row[0], row[1]) for row in db.rows("keyword", match=match, limit=wanted)]

        return _Listed(best_of)

    async def _size(self) -> int:
        return self._db.path.stat().st_size

    async def _give_space_back(self) -> None:
        await self._db.outside_transaction(give_space_back)


class _Listed:
    """A ranking that gives so many of its best and can do nothing else."""

    can_choose = False

    def __init__(self, best_of: Callable[[int], Ranked]) -> None:
        self._best_of = best_of

    def best(self, wanted: int, *, thorough: bool, among: Among | None) -> tuple[Ranked, bool]:
        ranked = self._best_of(wanted)
        return ranked, len(ranked) < wanted
