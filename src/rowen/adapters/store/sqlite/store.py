"""`SqliteStore`: the Store port on one SQLite file."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from rowen.adapters.store.shared.store import SharedStore
from rowen.adapters.store.sqlite.database import SqliteDatabase, give_space_back
from rowen.adapters.store.sqlite.transaction import SqliteTransaction

if TYPE_CHECKING:
    from rowen.adapters.store.shared.search.finder import Finder
    from rowen.adapters.store.shared.search.seen.view import View
    from rowen.adapters.store.sqlite.words import InMemory, MemoryWords

BESIDE = "-search"
"""Ends the name of the folder beside the file where searches keep what they know of it."""
WAITS_FOR = 50_000
"""Texts that a search indexes before it answers, ten seconds at most: the file has no index of words."""


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
        return Finder(self._db.read_here, beside, can_write=not self._db.read_only, waits_for=WAITS_FOR)

    @property
    def database(self) -> SqliteDatabase:
        return self._db

    @cached_property
    def _words(self) -> MemoryWords:
        from rowen.adapters.store.sqlite.words import MemoryWords

        return MemoryWords()

    def _keywords(
        self, db: SqliteTransaction, view: View, terms: Sequence[str], prefix: str
    ) -> InMemory | None:
        return self._words.ranking(db, view, terms, prefix)

    async def close(self) -> None:
        await super().close()
        if "_words" in self.__dict__:
            self._words.close()

    async def _size(self) -> int:
        return self._db.path.stat().st_size

    async def _give_space_back(self) -> None:
        await self._db.outside_transaction(give_space_back)
