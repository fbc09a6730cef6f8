"""The schema of a PostgreSQL store, of any age."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

from psycopg.sql import SQL, Identifier

from rowen.adapters.store.postgres.database import PostgresDatabase
from rowen.adapters.store.postgres.migrate import (
    Connection,
    has_table,
    migrate,
    migrations,
    search_path,
    version_of,
)
from rowen.adapters.store.shared.schema import SharedSchema
from rowen.errors import NotFound

T = TypeVar("T")


class PostgresSchema(SharedSchema[Connection]):
    def __init__(
        self,
        url: str,
        *,
        busy_timeout_s: float,
        now: Callable[[], datetime],
        is_dead: Callable[[str], bool],
    ) -> None:
        self._database = PostgresDatabase(url, busy_timeout_s=busy_timeout_s)
        super().__init__(self._database.address.shown, migrations(), now=now, is_dead=is_dead)

    async def close(self) -> None:
        await self._database.close()

    async def _look(self, work: Callable[[Connection], T]) -> T:
        """On a connection of its own."""

        def unit() -> T:
            with self._database.connected() as db, db.transaction():
                return work(db)

        return await asyncio.to_thread(unit)

    async def _move(self, to: int, check: Callable[[Connection], None]) -> None:
        def work(db: Connection) -> None:
            check(db)
            migrate(db, self._database.address, to)

        await self._look(work)

    async def _apply(self, statements: str, check: Callable[[Connection], None]) -> None:
        def work(db: Connection) -> None:
            check(db)
            db.execute(search_path(self._database.schema, "public", local=True))
            db.execute(statements)

        await self._look(work)

    def _version(self, db: Connection) -> int:
        version = version_of(db, self._database.address)
        if version is None:
            raise NotFound(
                f"store `{self._shown}`: not there yet",
                hint="any other command makes it, with its schema",
            )
        return version

    def _held(self, db: Connection, now: datetime, latest: datetime) -> list[tuple[str, str]]:
        # A process that wants a lease from here on waits for us, and then finds the older schema.
        leases = self._table("leases")
        db.execute(SQL("LOCK TABLE {} IN EXCLUSIVE MODE").format(leases))
        query = SQL("SELECT name, owner FROM {} WHERE expires_at > %s AND expires_at <= %s")
        found = db.execute(query.format(leases), (now, latest))
        return [(str(name), str(owner)) for name, owner in found]

    def _count(self, db: Connection, table: str, column: str | None) -> int | None:
        if not has_table(db, self._database.schema, table):
            return None
        what = SQL("*") if column is None else Identifier(column)
        found = db.execute(SQL("SELECT count({}) FROM {}").format(what, self._table(table))).fetchone()
        return int(found[0]) if found else 0

    def _table(self, name: str) -> Identifier:
        return Identifier(self._database.schema, name)
