"""The rows of a whole PostgreSQL store; they come in by COPY."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from psycopg.sql import SQL, Identifier

from rowen.adapters.store.postgres import halfvec
from rowen.adapters.store.postgres.database import PostgresDatabase, without_nul
from rowen.adapters.store.postgres.migrate import Connection
from rowen.adapters.store.postgres.search.index import INDEX_AFTER, index_large_models
from rowen.adapters.store.postgres.transaction import QUERIES, PostgresTransaction
from rowen.adapters.store.shared.copying import SharedCopying, listed
from rowen.adapters.store.shared.search.words import words
from rowen.adapters.store.shared.slices import said_as_far_as_known
from rowen.adapters.store.shared.values import Json, json_in, time_in, time_out
from rowen.core.exchange.store_copy import PARTS, TABLES, Column, Kind, Part, Row
from rowen.errors import RowenError

FETCHED = 20
"""Rows that come from the server at a time: a text may be large."""

NUMBERED = """
SELECT c.relname, a.attname, pg_get_serial_sequence(quote_ident(c.relname), a.attname)::regclass::text,
       pg_sequence_last_value(pg_get_serial_sequence(quote_ident(c.relname), a.attname)::regclass)
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND a.attidentity <> ''
"""

NOT_COPIED = ("planned_answers", "questions", "shard_turns")
"""Tables whose rows belong to rows that are copied."""


class PostgresCopying(SharedCopying[PostgresTransaction]):
    def __init__(self, database: PostgresDatabase, *, index_after: int = INDEX_AFTER) -> None:
        super().__init__(database)
        self._database = database
        self._index_after = index_after

    async def prepare(self) -> None:
        # Search answers without these too, only later: the next run builds what is missing.
        with suppress(RowenError):
            await self._database.outside_transaction(lambda db: index_large_models(db, self._index_after))
            await self._database.outside_transaction(_analyze)

    def issued(self, db: PostgresTransaction) -> dict[str, int]:
        return {table: given for table, _, _, given in _numbered(db)}

    def _begin_view(self, db: PostgresTransaction) -> None:
        # Between two questions the other store takes its time.
        db.query("SET LOCAL idle_in_transaction_session_timeout = 0", {})

    def _key(self, part: Part) -> list[str]:
        kinds = {column.name: column.kind for column in part.columns}
        return [f'"{name}" COLLATE "C"' if kinds[name] is Kind.TEXT else f'"{name}"' for name in part.key]

    def _select(
        self, db: PostgresTransaction, part: Part, rest: str, values: Mapping[str, Any]
    ) -> Iterator[Row]:
        names = [*(column.name for column in part.columns), *(["digest"] if part.digest_of else [])]
        # A cursor of the server: without one the driver takes in the whole answer before the first row.
        with db.connection.cursor(name="rows") as cursor:
            cursor.itersize = FETCHED
            cursor.execute(QUERIES.translated(f"SELECT {listed(names)} {rest}"), values)
            for row in cursor:
                ours = (_value_in(*pair) for pair in zip(part.columns, row, strict=False))
                yield (*ours, *row[len(part.columns) :])

    def _insert(self, db: PostgresTransaction, part: Part, rows: Sequence[Row]) -> None:
        if part.later:
            _fill(db, part, rows)
        elif part.table == "passages":
            _insert_passages(db, rows)
        elif part.name == "sections":
            _copy_in(db, part, None, rows)
            place = [column.name for column in part.columns].index("passage_id")
            _make_words(db, list({row[place] for row in rows}))
        elif part.table == "vectors":
            _copy_in(db, part, "embedding", map(_embedded, rows))
        else:
            _copy_in(db, part, "digest" if part.digest_of else None, rows)

    def _delete_all(self, db: PostgresTransaction) -> None:
        emptied = [part.table for part in PARTS if not part.later and not part.own]
        # The server insists that tables are named whose rows belong to what is emptied.
        db.query(f"TRUNCATE {listed([*emptied, *NOT_COPIED])} RESTART IDENTITY", {})
        for part in PARTS:
            if part.own:
                where, values = self._where(part)
                db.query(f"DELETE FROM {part.table}{where}", values)

    def _number_from(self, db: PostgresTransaction, issued: Mapping[str, int]) -> None:
        for table, column, sequence, given in _numbered(db):
            there = db.query(f'SELECT coalesce(max("{column}"), 0) FROM "{table}"', {})[0][0]
            last = max(int(there), given, issued.get(table, 0))
            if last:
                db.query("SELECT setval(:sequence::regclass, :last)", {"sequence": sequence, "last": last})


def _numbered(db: PostgresTransaction) -> list[tuple[str, str, str, int]]:
    """Tables whose rows get their numbers from the server: column, sequence, the highest number given."""
    return [(row[0], row[1], row[2], row[3] or 0) for row in db.query(NUMBERED, {}) if row[0] in TABLES]


def _value_in(column: Column, value: Any) -> Any:
    if value is None:
        return None
    match column.kind:
        case Kind.TIME:
            return time_out(time_in(value))
        case Kind.JSON:
            return Json(json_in(value)).text()
        case Kind.FLAG:
            return int(value)
    return value


def _value_out(column: Column, value: Any) -> Any:
    if value is None:
        return None
    match column.kind:
        case Kind.JSON:
            # The store's own form of JSON is the one whose NUL is known.
            return without_nul(Json(json_in(value)).text()) if "\\u0000" in value else value
        case Kind.FLAG:
            return bool(value)
    return value


def _embedded(row: tuple[Any, ...]) -> Row:
    return (*row, halfvec.as_text(row[-1]))


def _copy_in(db: PostgresTransaction, part: Part, more: str | None, rows: Iterable[Row]) -> None:
    names = [*(column.name for column in part.columns), *([more] if more else [])]
    db.copy_into(
        f"COPY {part.table} ({listed(names)}) FROM STDIN",
        (
            (
                *(_value_out(*pair) for pair in zip(part.columns, row, strict=False)),
                *row[len(part.columns) :],
            )
            for row in rows
        ),
    )


def _insert_passages(db: PostgresTransaction, rows: Sequence[Row]) -> None:
    db.query(
        "INSERT INTO passages (id, hash, heading_path, text, chars, words)"
        " SELECT id, hash, heading_path, text, chars, '' FROM unnest(:ids::bigint[], :hashes::bytea[],"
        " :paths::text[], :texts::text[], :chars::integer[]) AS given (id, hash, heading_path, text, chars)",
        dict(
            zip(("ids", "hashes", "paths", "texts", "chars"), map(list, zip(*rows, strict=True)), strict=True)
        ),
    )


def _make_words(db: PostgresTransaction, passages: list[Any]) -> None:
    """The words of passages that have none, as `passages_insert` makes them: only their sections say them."""
    without = "SELECT id FROM passages WHERE id IN list(:ids) AND words = '' ORDER BY id"
    found = said_as_far_as_known(db, [row[0] for row in db.query(without, {"ids": passages})])
    if not found:
        return
    db.query(
        "UPDATE passages SET words = setweight(to_tsvector('rowen', path_words), 'A')"
        " || setweight(to_tsvector('rowen', text_words), 'D')"
        " FROM unnest(:ids::bigint[], :path_words::text[], :text_words::text[])"
        " AS given (number, path_words, text_words) WHERE id = number",
        {
            "ids": list(found),
            "path_words": [words(one.heading_path) for one in found.values()],
            "text_words": [words(one.text) for one in found.values()],
        },
    )


def _fill(db: PostgresTransaction, part: Part, rows: Sequence[Row]) -> None:
    db.query(
        f'UPDATE {part.table} SET "{part.columns[-1].name}" = given.value'
        " FROM unnest(:keys::bigint[], :values::bigint[]) AS given (key, value)"
        f' WHERE {part.table}."{part.key[0]}" = given.key',
        {"keys": [row[0] for row in rows], "values": [row[1] for row in rows]},
    )


def _analyze(db: Connection) -> None:
    for table in TABLES:
        db.execute(SQL("ANALYZE {}").format(Identifier(table)))
