"""The rows of a whole SQLite store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rowen.adapters.store.shared.copying import SharedCopying, listed
from rowen.adapters.store.sqlite import texts
from rowen.adapters.store.sqlite.texts import MOMENTS, PACKED, opened
from rowen.adapters.store.sqlite.transaction import SqliteTransaction
from rowen.core import hashing
from rowen.core.exchange.store_copy import PARTS, TABLES, Part, Row

RECORD = (
    "deflated(body, CASE WHEN goes_on_from IS NOT NULL"
    " THEN coalesce((SELECT c.text FROM contents c WHERE c.id = goes_on_from), '') END)"
)
"""As every database has it, put together with the text that it goes on from."""


class SqliteCopying(SharedCopying[SqliteTransaction]):
    async def prepare(self) -> None:
        """There is nothing to do: SQLite searches a store that was filled at once like any other."""

    def issued(self, db: SqliteTransaction) -> dict[str, int]:
        found = db.query("SELECT name, seq FROM sqlite_sequence", {})
        return {table: seq for table, seq in found if table in TABLES}

    def _select(
        self, db: SqliteTransaction, part: Part, rest: str, values: Mapping[str, Any]
    ) -> Iterator[Row]:
        names = [column.name for column in part.columns]
        own = {"body": RECORD} if part.name == "records" else {}
        read = ", ".join(own.get(name) or texts.read(part.table, name) for name in names)
        found = db.connection.execute(f"SELECT {read} {rest}", values)
        if part.name in PACKED:
            place = names.index(PACKED[part.name])
            for row in found:
                yield (*row[:place], opened(row[place], db.connection), *row[place + 1 :])
            return
        if part.digest_of is None:
            yield from found
            return
        place = names.index(part.digest_of)
        for row in found:
            yield (*row, hashing.of_text(row[place]))

    def _insert(self, db: SqliteTransaction, part: Part, rows: Sequence[Row]) -> None:
        names = [column.name for column in part.columns]
        if part.later:
            db.connection.executemany(
                f'UPDATE {part.table} SET "{names[-1]}" = ? WHERE "{part.key[0]}" = ?',
                ((value, key) for key, value in rows),
            )
        else:
            written = {"text": "packed(?)"} if part.name == "contents" else {}
            written |= dict.fromkeys(MOMENTS.get(part.name, ()), "moment(?)")
            places = [written.get(name, "?") for name in names]
            # The digest at the end, where there is one, is for others.
            db.connection.executemany(
                f"INSERT INTO {part.table} ({listed(names)}) VALUES ({', '.join(places)})",
                (row[: len(names)] for row in rows),
            )

    def _delete_all(self, db: SqliteTransaction) -> None:
        for part in reversed(PARTS):
            if not part.later:
                where, values = self._where(part)
                db.query(f"DELETE FROM {part.table}{where}", values)
                db.query("DELETE FROM sqlite_sequence WHERE name = :table", {"table": part.table})

    def _number_from(self, db: SqliteTransaction, issued: Mapping[str, int]) -> None:
        here: dict[str, int] = dict(db.query("SELECT name, seq FROM sqlite_sequence", {}))
        numbered = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'"
        for (table,) in db.query(numbered, {}):
            if table in issued:
                values = {"table": table, "seq": max(issued[table], here.get(table, 0))}
                db.query("DELETE FROM sqlite_sequence WHERE name = :table", values)
                db.query("INSERT INTO sqlite_sequence (name, seq) VALUES (:table, :seq)", values)
