"""`PostgresStore`: the Store port on one PostgreSQL database."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from psycopg.sql import SQL, Identifier

from rowen.adapters.store.postgres.database import PostgresDatabase
from rowen.adapters.store.postgres.migrate import Connection
from rowen.adapters.store.postgres.search.index import INDEX_AFTER, index_large_models, models_to_index
from rowen.adapters.store.postgres.search.keywords import Keywords
from rowen.adapters.store.postgres.search.nearest import Nearest
from rowen.adapters.store.postgres.transaction import QUERIES
from rowen.adapters.store.shared.store import SharedStore
from rowen.adapters.store.shared.transaction import Transaction
from rowen.core import hashing
from rowen.core.lease import Lease
from rowen.core.run import Run
from rowen.errors import RowenError
from rowen.ports.store.runs import RunEnd

if TYPE_CHECKING:
    from rowen.adapters.store.shared.search.finder import Finder
    from rowen.adapters.store.shared.search.seen.view import View

MOST_AT_ONCE = 20_000
"""Vectors that a search fetches itself; more come in a thread, and the server compares meanwhile."""


class PostgresStore(SharedStore):
    _db: PostgresDatabase
    # Runs may be on any machine, and searches on others.
    follows_ahead = False

    def __init__(
        self,
        url: str,
        *,
        schema: str | None = None,
        busy_timeout_s: float = 5.0,
        create: bool = True,
        index_after: int = INDEX_AFTER,
        auto_upgrade: bool = True,
        cache: Path | None = None,
    ) -> None:
        """`cache` is a folder on this machine for what searches keep of stores; None: nothing is kept."""
        self._db = PostgresDatabase(url, schema=schema, busy_timeout_s=busy_timeout_s)
        self._index_after = index_after
        self._db.open(create=create, migrate=auto_upgrade)
        self._cache = cache

    def _open_finder(self) -> Finder:
        from rowen.adapters.store.shared.search.finder import Finder

        name = hashing.of_text(f"{self._db.address.shown} {self._db.schema}").hex()[:16]
        folder = self._cache / name if self._cache else None
        return Finder(self._db.read_here, folder, most_at_once=MOST_AT_ONCE)

    @property
    def database(self) -> PostgresDatabase:
        return self._db

    async def finish_run(self, lease: Lease, run: Run, end: RunEnd, *, now: datetime) -> None:
        await super().finish_run(lease, run, end, now=now)
        await self._index()

    def _keywords(self, db: Transaction, view: View, terms: Sequence[str], prefix: str) -> Keywords:
        return Keywords(db, terms, prefix)

    def _nearest(self, db: Transaction, model_id: int, vector: bytes) -> Nearest:
        return Nearest(db, model_id, len(vector), vector)

    async def _size(self) -> int:
        return int(await self._db.read(lambda db: db.value("size")))

    async def _give_space_back(self) -> None:
        await self._db.outside_transaction(_vacuum)
        await self._index()

    async def _index(self) -> None:
        """Give the models that have grown large their index.

        At the end of a run, not as they grow: building it once takes a quarter of the time of adding to it.
        """
        # The run is stored, and search answers without an index too: the next run tries again.
        with suppress(RowenError):
            if await self._db.read(lambda db: models_to_index(db, self._index_after)):
                await self._db.outside_transaction(lambda db: index_large_models(db, self._index_after))


def _vacuum(db: Connection) -> None:
    # Not FULL: that locks readers out. The room is used again, and the end of each file is cut off.
    for (table,) in db.execute(QUERIES.sql("our_tables")).fetchall():
        db.execute(SQL("VACUUM (ANALYZE) {}").format(Identifier(table)))
