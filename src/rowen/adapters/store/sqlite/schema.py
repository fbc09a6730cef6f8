"""The schema of a store as something to look at, to bring up to date, and to take back.

The file may have any schema that was ever released, so nothing here uses the queries of the newest one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import apsw

from rowen.adapters.store.sqlite.database import Database, migrations, user_version
from rowen.adapters.store.sqlite.rows import time_out
from rowen.errors import Conflict, UserError
from rowen.ports.store.schema import Loss

_DROPPED_TABLE = re.compile(r"\bDROP TABLE (\w+)")
_DROPPED_COLUMN = re.compile(r"\bALTER TABLE (\w+) DROP COLUMN (\w+)")


class SqliteSchema:
    """The `Schema` port. Opening it changes nothing in the file."""

    def __init__(
        self,
        path: Path,
        *,
        busy_timeout_s: float,
        now: Callable[[], datetime],
        is_dead: Callable[[str], bool],
    ) -> None:
        self._database = Database(path, busy_timeout_s=busy_timeout_s)
        self._now = now
        self._is_dead = is_dead
        self._database.open(migrate=False)

    async def close(self) -> None:
        await self._database.close()

    @property
    def latest(self) -> int:
        return migrations()[-1].number

    async def version(self) -> int:
        return await self._database.read(user_version)

    async def losses(self, to: int) -> list[Loss]:
        return await self._database.read(_losses, to)

    async def upgrade(self) -> None:
        self._database.migrate_to(self.latest)

    async def downgrade(self, to: int) -> None:
        version = await self.version()
        if not to < version:
            raise UserError(
                f"store `{self._database.path}`: has schema {version}, which is not newer than {to}",
                hint="`rowen db upgrade` goes the other way",
            )
        self._database.migrate_to(to, check=self._nobody_works)

    def _nobody_works(self, db: apsw.Connection) -> None:
        now = time_out(self._now())
        held = db.execute("SELECT name, owner FROM leases WHERE expires_at > ?", (now,)).fetchall()
        for name, owner in held:
            if not self._is_dead(str(owner)):
                what = "`rowen serve` looks after it" if name == "orchestrator" else "a run is under way"
                raise Conflict(
                    f"store `{self._database.path}`: {what}: `{owner}`",
                    hint="stop it first; a lease of a machine that is gone ends within a minute",
                    owner=owner,
                )


def _losses(db: apsw.Connection, to: int) -> list[Loss]:
    there = {str(row[0]) for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    tables: list[str] = []
    columns: list[tuple[str, str]] = []
    for migration in reversed(migrations()):
        if to < migration.number <= user_version(db):
            tables += [name for name in _DROPPED_TABLE.findall(migration.down) if name in there]
            columns += _DROPPED_COLUMN.findall(migration.down)
    losses = [Loss(name, None, int(db.execute(f'SELECT count(*) FROM "{name}"').get)) for name in tables]
    for table, column in columns:
        if table not in tables:
            rows = db.execute(f'SELECT count("{column}") FROM "{table}"').get
            losses.append(Loss(table, column, int(rows)))
    return losses
