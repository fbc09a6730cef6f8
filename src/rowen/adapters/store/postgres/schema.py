"""The schema of a store as something to look at, to bring up to date, and to take back.

The store may have any schema that was ever released, so nothing here uses the queries of the newest one.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

from psycopg.sql import SQL, Identifier

from rowen.adapters.store.postgres.database import Database
from rowen.adapters.store.postgres.migrate import Connection, migrate, migrations, version_of
from rowen.errors import Conflict, NotFound, UserError
from rowen.ports.store.schema import Loss

_DROPPED_TABLE = re.compile(r"\bDROP TABLE (\w+)")
_DROPPED_COLUMN = re.compile(r'\bALTER TABLE (\w+) DROP COLUMN "?(\w+)"?')

T = TypeVar("T")


class PostgresSchema:
    """The `Schema` port. Opening it changes nothing in the database."""

    def __init__(
        self,
        url: str,
        *,
        busy_timeout_s: float,
        now: Callable[[], datetime],
        is_dead: Callable[[str], bool],
    ) -> None:
        self._database = Database(url, busy_timeout_s=busy_timeout_s)
        self._now = now
        self._is_dead = is_dead
        self._shown = self._database.address.shown

    async def close(self) -> None:
        await self._database.close()

    @property
    def latest(self) -> int:
        return migrations()[-1].number

    async def version(self) -> int:
        return await self._with(self._version)

    async def losses(self, to: int) -> list[Loss]:
        return await self._with(lambda db: self._losses(db, to))

    async def upgrade(self) -> None:
        await self._with(lambda db: migrate(db, self._database.address, self.latest))

    async def downgrade(self, to: int) -> None:
        def work(db: Connection) -> None:
            version = self._version(db)
            if not to < version:
                raise UserError(
                    f"store `{self._shown}`: has schema {version}, which is not newer than {to}",
                    hint="`rowen db upgrade` goes the other way",
                )
            self._nobody_works(db)
            migrate(db, self._database.address, to)

        await self._with(work)

    async def _with(self, work: Callable[[Connection], T]) -> T:
        """One transaction on a connection of its own."""

        def unit() -> T:
            with self._database.connected() as db, db.transaction():
                return work(db)

        return await asyncio.to_thread(unit)

    def _version(self, db: Connection) -> int:
        version = version_of(db, self._database.address)
        if version is None:
            raise NotFound(
                f"store `{self._shown}`: not there yet",
                hint="any other command makes it, with its schema",
            )
        return version

    def _nobody_works(self, db: Connection) -> None:
        # Whoever wants a lease from here on waits for us, and then finds the older schema.
        db.execute(SQL("LOCK TABLE {} IN EXCLUSIVE MODE").format(self._table("leases")))
        held = db.execute(
            SQL("SELECT name, owner FROM {} WHERE expires_at > %s").format(self._table("leases")),
            (self._now(),),
        ).fetchall()
        for name, owner in held:
            if not self._is_dead(str(owner)):
                what = "`rowen serve` looks after it" if name == "orchestrator" else "a run is under way"
                raise Conflict(
                    f"store `{self._shown}`: {what}: `{owner}`",
                    hint="stop it first; a lease of a machine that is gone ends within a minute",
                    owner=owner,
                )

    def _losses(self, db: Connection, to: int) -> list[Loss]:
        tables: list[str] = []
        columns: list[tuple[str, str]] = []
        for migration in reversed(migrations()):
            if to < migration.number <= self._version(db):
                tables += _DROPPED_TABLE.findall(migration.down)
                columns += _DROPPED_COLUMN.findall(migration.down)
        losses = [Loss(name, None, self._count(db, SQL("*"), name)) for name in tables]
        return losses + [
            Loss(table, column, self._count(db, Identifier(column), table))
            for table, column in columns
            if table not in tables
        ]

    def _count(self, db: Connection, what: SQL | Identifier, table: str) -> int:
        found = db.execute(SQL("SELECT count({}) FROM {}").format(what, self._table(table))).fetchone()
        return int(found[0]) if found else 0

    def _table(self, name: str) -> Identifier:
        return Identifier(self._database.schema, name)
