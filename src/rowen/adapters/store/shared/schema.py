"""The schema of a store as something to look at, to bring up to date, and to take back.

The store may have any schema that was ever released, so nothing here uses the queries of the newest one.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from rowen.adapters.store.shared.migrations import Migration, downwards, parts_at, steps_of
from rowen.core.lease import LEASE_TTL_S
from rowen.core.rules.clocks import SKEW
from rowen.errors import Conflict, UserError
from rowen.ports.database.schema import Loss

_DROPPED_TABLE = re.compile(r"\bDROP TABLE (\w+)")
_MADE_OF_OTHERS = {("sections", "kept"), ("passages", "chars"), ("handoffs", "body_bytes")}
"""Columns that tell nothing the rest does not."""
_GIVEN_BACK = {"dictionaries", "drafts"}
"""Tables whose rows stand elsewhere on the way down."""
_DROPPED_COLUMN = re.compile(r'\bALTER TABLE (\w+) DROP COLUMN "?(\w+)"?')

C = TypeVar("C")
"""A connection of the database's driver."""
T = TypeVar("T")


class SharedSchema(ABC, Generic[C]):
    """The `Schema` port. Opening it changes nothing in the database."""

    def __init__(
        self,
        shown: str,
        known: Sequence[Migration],
        *,
        now: Callable[[], datetime],
        is_dead: Callable[[str], bool],
    ) -> None:
        self._shown = shown
        self._known = known
        self._now = now
        self._is_dead = is_dead

    @property
    def latest(self) -> int:
        return self._known[-1].number

    async def version(self) -> int:
        return await self._look(self._version)

    async def losses(self, to: int) -> list[Loss]:
        return await self._look(lambda db: self._losses(db, to))

    async def missing(self) -> list[str]:
        return await self._look(self._missing)

    async def part_rows(self, part: str) -> int:
        return await self._look(lambda db: self._count(db, part, None)) or 0

    async def take_down(self, part: str) -> None:
        await self._apply(steps_of(self._known, part)[0].down, lambda db: self._check_part(db, part))

    async def upgrade(self) -> None:
        await self._move(self.latest, lambda db: None)

    async def downgrade(self, to: int) -> None:
        await self._move(to, lambda db: self._check(db, to))

    @abstractmethod
    async def _look(self, work: Callable[[C], T]) -> T:
        """On a transaction."""

    @abstractmethod
    async def _move(self, to: int, check: Callable[[C], None]) -> None:
        """Up or down to a numbered schema. `check` comes first, in the same transaction, and may raise."""

    @abstractmethod
    async def _apply(self, statements: str, check: Callable[[C], None]) -> None:
        """Carry out statements after `check`, in one transaction."""

    @abstractmethod
    def _version(self, db: C) -> int: ...

    @abstractmethod
    def _held(self, db: C, now: datetime, latest: datetime) -> list[tuple[str, str]]:
        """The leases that end between these times, with their owners. None is given before we end."""

    @abstractmethod
    def _count(self, db: C, table: str, column: str | None) -> int | None:
        """How many rows of a table have a value in a column; None when there is no such table."""

    def _check(self, db: C, to: int) -> None:
        version = self._version(db)
        if not to < version:
            raise UserError(
                f"store `{self._shown}`: has schema {version}, which is not newer than {to}",
                hint="`rowen db upgrade` goes the other way",
            )
        self._check_idle(db)

    def _check_part(self, db: C, part: str) -> None:
        if part in self._missing(db) or part not in parts_at(self._known, self._version(db)):
            hint = "`rowen db upgrade` brings it back"
            raise UserError(f"store `{self._shown}`: has no `{part}` already", hint=hint)
        self._check_idle(db)

    def _missing(self, db: C) -> list[str]:
        parts = parts_at(self._known, self._version(db))
        return [part for part in parts if self._count(db, part, None) is None]

    def _check_idle(self, db: C) -> None:
        now = self._now()
        # A clock that was ahead wrote an end that is later than that of any lease; its process is gone.
        for name, owner in self._held(db, now, now + SKEW + timedelta(seconds=LEASE_TTL_S)):
            if not self._is_dead(owner):
                what = "`rowen serve` looks after it" if name == "orchestrator" else "a run is under way"
                raise Conflict(
                    f"store `{self._shown}`: {what}: `{owner}`",
                    hint="stop it first; a lease of a machine that is gone ends within a minute",
                    owner=owner,
                )

    def _losses(self, db: C, to: int) -> list[Loss]:
        tables: list[str] = []
        columns: list[tuple[str, str]] = []
        for migration in downwards(self._known, self._version(db), to):
            tables += [one for one in _DROPPED_TABLE.findall(migration.down) if one not in _GIVEN_BACK]
            columns += _DROPPED_COLUMN.findall(migration.down)
        dropped: list[tuple[str, str | None]] = [(table, None) for table in tables]
        dropped += [
            (table, column)
            for table, column in columns
            if table not in tables and (table, column) not in _MADE_OF_OTHERS
        ]
        counted = [(table, column, self._count(db, table, column)) for table, column in dropped]
        return [Loss(table, column, rows) for table, column, rows in counted if rows is not None]
