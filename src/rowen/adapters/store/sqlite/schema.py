"""The schema of a SQLite file, of any age."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import apsw

from rowen.adapters.store.shared.schema import SharedSchema
from rowen.adapters.store.shared.values import time_out
from rowen.adapters.store.sqlite.database import (
    SqliteDatabase,
    give_space_back,
    has_table,
    migrations,
    user_version,
)
from rowen.errors import StoreBusy, StoreFull
from rowen.eventloop import asyncio

T = TypeVar("T")


class SqliteSchema(SharedSchema[apsw.Connection]):
    def __init__(
        self,
        path: Path,
        *,
        busy_timeout_s: float,
        now: Callable[[], datetime],
        is_dead: Callable[[str], bool],
    ) -> None:
        super().__init__(str(path), migrations(), now=now, is_dead=is_dead)
        self._database = SqliteDatabase(path, busy_timeout_s=busy_timeout_s, create=False)
        self._database.open(look=True)

    async def close(self) -> None:
        await self._database.close()

    async def upgrade(self) -> None:
        before = await self.version()
        await super().upgrade()
        if before < self.latest:
            # The store is upgraded, whether or not its file can be made smaller now.
            with suppress(StoreBusy, StoreFull):
                await asyncio.to_thread(self._database.bare, give_space_back)

    async def _look(self, work: Callable[[apsw.Connection], T]) -> T:
        return await self._database.read(lambda db: work(db.connection))

    async def _move(self, to: int, check: Callable[[apsw.Connection], None]) -> None:
        await asyncio.to_thread(self._database.migrate_to, to, check=check)

    async def _apply(self, statements: str, check: Callable[[apsw.Connection], None]) -> None:
        await asyncio.to_thread(self._database.apply, statements, check=check)

    def _version(self, db: apsw.Connection) -> int:
        return user_version(db)

    def _held(self, db: apsw.Connection, now: datetime, latest: datetime) -> list[tuple[str, str]]:
        query = "SELECT name, owner FROM leases WHERE expires_at > ? AND expires_at <= ?"
        found = db.execute(query, (time_out(now), time_out(latest)))
        return [(str(name), str(owner)) for name, owner in found]

    def _count(self, db: apsw.Connection, table: str, column: str | None) -> int | None:
        if not has_table(db, table):
            return None
        what = "*" if column is None else f'"{column}"'
        return int(db.execute(f'SELECT count({what}) FROM "{table}"').get)
