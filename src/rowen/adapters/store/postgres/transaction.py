"""One open transaction, as units of work see it: named queries in, rows out, every row written counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import psycopg

from rowen.adapters.store.postgres.queries import sql

Row = tuple[Any, ...]

_WRITES = ("INSERT", "UPDATE", "DELETE", "COPY")


class Transaction:
    def __init__(self, connection: psycopg.Connection[Row], schema: str) -> None:
        self.connection = connection
        self.schema = schema
        self.written = 0
        """Rows inserted, updated or deleted so far."""

    def rows(self, name: str, /, **values: Any) -> list[Row]:
        return self.query(sql(name), values)

    def row(self, name: str, /, **values: Any) -> Row | None:
        found = self.rows(name, **values)
        return found[0] if found else None

    def value(self, name: str, /, **values: Any) -> Any:
        """The first column of the first row; None when there is none."""
        found = self.rows(name, **values)
        return found[0][0] if found else None

    def write(self, name: str, /, **values: Any) -> int:
        """How many rows it wrote."""
        with self.connection.cursor() as cursor:
            cursor.execute(sql(name), values)
            return self._counted(cursor)

    def write_many(self, name: str, values: Iterable[Mapping[str, Any]]) -> None:
        """All of them in one trip to the server."""
        with self.connection.cursor() as cursor:
            cursor.executemany(sql(name), values)
            self._counted(cursor)

    def insert_many(self, name: str, values: Sequence[Mapping[str, Any]]) -> list[Any]:
        """The same for a query that returns an id: the ids, in the order of the values."""
        if not values:
            return []
        with self.connection.cursor() as cursor:
            cursor.executemany(sql(name), values, returning=True)
            ids = []
            for result in cursor.results():
                self._counted(result)
                row = result.fetchone()
                ids.append(row[0] if row else None)
            return ids

    def copy(self, name: str, rows: Iterable[Sequence[Any]]) -> None:
        """Many rows at once: a sixteenth of the time of as many inserts."""
        with self.connection.cursor() as cursor:
            with cursor.copy(sql(name)) as copy:
                for row in rows:
                    copy.write_row(row)
            self._counted(cursor)

    def query(self, statement: str, values: Mapping[str, Any]) -> list[Row]:
        """For the few statements that are put together."""
        with self.connection.cursor() as cursor:
            cursor.execute(statement, values)
            self._counted(cursor)
            return cursor.fetchall() if cursor.description else []

    def _counted(self, cursor: psycopg.Cursor[Row]) -> int:
        if (cursor.statusmessage or "").startswith(_WRITES):
            self.written += max(cursor.rowcount, 0)
        return cursor.rowcount
