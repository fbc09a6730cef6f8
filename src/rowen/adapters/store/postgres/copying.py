"""A whole PostgreSQL store as rows: out in pages from one snapshot, in by COPY, page by page."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from queue import SimpleQueue
from typing import Any, TypeVar
from uuid import uuid4

import orjson
from psycopg.sql import SQL, Composable, Composed, Identifier

from rowen.adapters.store.postgres import texts
from rowen.adapters.store.postgres.database import Database
from rowen.adapters.store.postgres.leases import fence
from rowen.adapters.store.postgres.migrate import Connection
from rowen.adapters.store.postgres.rows import json_out, words
from rowen.adapters.store.postgres.sources import note, save_note
from rowen.adapters.store.postgres.transaction import Transaction
from rowen.core.exchange.complete import COPY
from rowen.core.exchange.store_copy import (
    IDENTITY,
    PARTS,
    TABLES,
    Column,
    Key,
    Kind,
    Page,
    Part,
    Progress,
    Row,
    page_of,
)
from rowen.core.lease import Lease
from rowen.errors import RowenError

FETCHED = 20
"""Rows that come from the server at a time: a text may be large."""

T = TypeVar("T")


class PostgresCopying:
    """The `Copying` port on one PostgreSQL schema."""

    def __init__(self, database: Database, *, index_after: int = texts.INDEX_AFTER) -> None:
        self._db = database
        self._index_after = index_after

    async def identity(self) -> str:
        return await self._db.write(_identity)

    async def is_empty(self) -> bool:
        return not any((await self._db.read(_counts)).values())

    @asynccontextmanager
    async def view(self) -> AsyncIterator[PostgresView]:
        questions: SimpleQueue[Callable[[Transaction], None] | None] = SimpleQueue()

        def answer_all(db: Transaction) -> None:
            # Between two questions the other store takes its time.
            db.connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
            for question in iter(questions.get, None):
                question(db)

        # One unit of work for all questions: one transaction, so one snapshot.
        answering = asyncio.create_task(self._db.read(answer_all))
        try:
            yield PostgresView(questions, answering)
        finally:
            questions.put(None)
            await asyncio.gather(answering, return_exceptions=True)

    async def load(self, lease: Lease, part: Part, rows: Sequence[Row], progress: Progress) -> None:
        await self._db.write(_load, lease, part, rows, progress)

    async def clear(self, lease: Lease, progress: Progress) -> None:
        await self._db.write(_clear, lease, progress)

    async def prepare(self) -> None:
        # Search answers without these too, only later: the next run builds what is missing.
        with suppress(RowenError):
            await self._db.outside_transaction(lambda db: texts.index_large_models(db, self._index_after))
            await self._db.outside_transaction(_analyze)

    async def finish(self, lease: Lease, issued: Mapping[str, int], progress: Progress) -> None:
        await self._db.write(_finish, lease, issued, progress)


class PostgresView:
    """Questions go to the one thread that holds the snapshot, and are answered in turn."""

    def __init__(
        self, questions: SimpleQueue[Callable[[Transaction], None] | None], answering: asyncio.Task[None]
    ) -> None:
        self._questions = questions
        self._answering = answering

    async def counts(self) -> Mapping[str, int]:
        return await self._ask(_counts)

    async def issued(self) -> Mapping[str, int]:
        return await self._ask(_issued)

    async def page(
        self, part: Part, *, after: Key | None, until: Key | None = None, max_rows: int, max_bytes: int
    ) -> Page:
        def unit(db: Transaction) -> Page:
            rows = _rows(db, part, after, until, max_rows)
            return page_of(part, rows, max_rows=max_rows, max_bytes=max_bytes)

        return await self._ask(unit)

    async def _ask(self, work: Callable[[Transaction], T]) -> T:
        answer: Future[T] = Future()
        self._questions.put(lambda db: answer.set_result(work(db)))
        answered = asyncio.wrap_future(answer)
        await asyncio.wait((answered, self._answering), return_when=asyncio.FIRST_COMPLETED)
        if not answered.done():
            self._answering.result()  # an error ends the snapshot; it is raised here
        return answered.result()


def _identity(db: Transaction) -> str:
    found = note(db, IDENTITY)
    if found is None:
        found = uuid4().hex
        save_note(db, IDENTITY, found)
    return str(found)


def _counts(db: Transaction) -> dict[str, int]:
    counts = {}
    for part in PARTS:
        where, values = _where(part)
        query = SQL("SELECT count(*) FROM {} {}").format(Identifier(part.table), where)
        (counted,) = db.connection.execute(query, values).fetchall()
        counts[part.name] = int(counted[0])
    return counts


NUMBERED = """
SELECT c.relname, a.attname, pg_get_serial_sequence(quote_ident(c.relname), a.attname)::regclass::text,
       pg_sequence_last_value(pg_get_serial_sequence(quote_ident(c.relname), a.attname)::regclass)
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND a.attidentity <> ''
"""


def _numbered(db: Transaction) -> list[tuple[str, str, str, int]]:
    """Tables whose rows get their numbers from the server: column, sequence, the highest number given."""
    found = db.connection.execute(NUMBERED).fetchall()
    return [(row[0], row[1], row[2], row[3] or 0) for row in found if row[0] in TABLES]


def _issued(db: Transaction) -> dict[str, int]:
    return {table: given for table, _, _, given in _numbered(db)}


def _rows(db: Transaction, part: Part, after: Key | None, until: Key | None, max_rows: int) -> Iterator[Row]:
    where, values = _where(part, after, until)
    digest = () if part.digest_of is None else (Identifier("digest"),)
    query = SQL("SELECT {} FROM {} {} ORDER BY {}").format(
        SQL(", ").join([*map(_selected, part.columns), *digest]),
        Identifier(part.table),
        where,
        _key(part),
    )
    if not part.loose:
        query += SQL(" LIMIT {}").format(max_rows)
    # A cursor of the server: without one the driver takes in the whole answer before the first row is seen.
    with db.connection.cursor(name="rows") as cursor:
        cursor.itersize = FETCHED
        cursor.execute(query, values)
        for row in cursor:
            yield tuple(
                _value_in(part.columns[place], value) if place < len(part.columns) else value
                for place, value in enumerate(row)
            )


def _selected(column: Column) -> Composable:
    name = Identifier(column.name)
    return SQL("{}::text").format(name) if column.kind is Kind.JSON else name


def _value_in(column: Column, value: Any) -> Any:
    if value is None:
        return None
    match column.kind:
        case Kind.TIME:
            moment: datetime = value
            return moment.astimezone(UTC).isoformat(timespec="microseconds")
        case Kind.DATE:
            return value.isoformat()
        case Kind.JSON:
            return orjson.dumps(orjson.loads(value), option=orjson.OPT_SORT_KEYS).decode()
        case Kind.FLAG:
            return int(value)
    return value


def _value_out(column: Column, value: Any) -> Any:
    if value is None:
        return None
    match column.kind:
        case Kind.JSON:
            # Only its own form of JSON is without NUL.
            return json_out(orjson.loads(value)) if "\\u0000" in value else value
        case Kind.FLAG:
            return bool(value)
    return value


def _where(part: Part, after: Key | None = None, until: Key | None = None) -> tuple[Composed, list[Any]]:
    conditions: list[Composable] = []
    values: list[Any] = []
    for sign, key in ((SQL(">"), after), (SQL("<="), until)):
        if key is not None:
            places = SQL(", ").join([SQL("%s")] * len(key))
            conditions.append(SQL("({}) {} ({})").format(_key(part), sign, places))
            values += key
    if part.later:
        conditions.append(SQL("{} IS NOT NULL").format(Identifier(part.columns[-1].name)))
    if part.own:
        conditions.append(SQL("{} <> ALL (%s)").format(Identifier(part.key[0])))
        values.append(list(part.own))
    if not conditions:
        return Composed([]), values
    return SQL("WHERE {}").format(SQL(" AND ").join(conditions)), values


def _key(part: Part) -> Composed:
    kinds = {column.name: column.kind for column in part.columns}
    return SQL(", ").join(
        SQL('{} COLLATE "C"').format(Identifier(name)) if kinds[name] is Kind.TEXT else Identifier(name)
        for name in part.key
    )


def _load(db: Transaction, lease: Lease, part: Part, rows: Sequence[Row], progress: Progress) -> None:
    fence(db, lease)
    if part.later:
        _fill(db, part, rows)
    elif part.table == "passages":
        _insert_passages(db, rows)
    elif part.table == "vectors":
        _copy_in(db, part, "embedding", map(_embedded, rows))
    else:
        _copy_in(db, part, "digest" if part.digest_of else None, rows)
    db.written += len(rows)
    save_note(db, COPY, progress.note())


def _embedded(row: tuple[Any, ...]) -> Row:
    return (*row, texts.as_embedding(row[-1]))


def _copy_in(db: Transaction, part: Part, more: str | None, rows: Iterable[Row]) -> None:
    names = [*(column.name for column in part.columns), *([more] if more else [])]
    query = SQL("COPY {} ({}) FROM STDIN").format(
        Identifier(part.table), SQL(", ").join(map(Identifier, names))
    )
    with db.connection.cursor() as cursor, cursor.copy(query) as copy:
        for row in rows:
            values = (_value_out(*pair) for pair in zip(part.columns, row, strict=False))
            copy.write_row((*values, *row[len(part.columns) :]))


def _insert_passages(db: Transaction, rows: Sequence[Row]) -> None:
    # Not by COPY, and in the words of `passages_insert`: the server makes the words.
    db.connection.execute(
        "INSERT INTO passages (id, hash, heading_path, text, words)"
        " SELECT id, hash, heading_path, text, setweight(to_tsvector('rowen', heading_words), 'A')"
        " || setweight(to_tsvector('rowen', text_words), 'D')"
        " FROM unnest(%s::bigint[], %s::bytea[], %s::text[], %s::text[], %s::text[], %s::text[])"
        " AS given (id, hash, heading_path, text, heading_words, text_words)",
        (
            [row[0] for row in rows],
            [row[1] for row in rows],
            [row[2] for row in rows],
            [row[3] for row in rows],
            [words(str(row[2])) for row in rows],
            [words(str(row[3])) for row in rows],
        ),
    )


def _fill(db: Transaction, part: Part, rows: Sequence[Row]) -> None:
    table, key, column = (Identifier(name) for name in (part.table, part.key[0], part.columns[-1].name))
    db.connection.execute(
        SQL(
            "UPDATE {table} SET {column} = given.value FROM unnest(%s::bigint[], %s::bigint[])"
            " AS given (key, value) WHERE {table}.{key} = given.key"
        ).format(table=table, key=key, column=column),
        ([row[0] for row in rows], [row[1] for row in rows]),
    )


def _clear(db: Transaction, lease: Lease, progress: Progress) -> None:
    fence(db, lease)
    emptied = [part for part in PARTS if not part.later and not part.own]
    # What is not copied and belongs to rows that are has to be named here: the server refuses to leave it.
    names = [*(part.table for part in emptied), "shard_turns", "questions"]
    tables = SQL(", ").join(map(Identifier, names))
    db.connection.execute(SQL("TRUNCATE {} RESTART IDENTITY").format(tables))
    for part in PARTS:
        if part.own:
            where, values = _where(part)
            db.connection.execute(SQL("DELETE FROM {} {}").format(Identifier(part.table), where), values)
    save_note(db, COPY, progress.note())


def _finish(db: Transaction, lease: Lease, issued: Mapping[str, int], progress: Progress) -> None:
    fence(db, lease)
    for table, column, sequence, given in _numbered(db):
        highest = SQL("SELECT coalesce(max({}), 0) FROM {}").format(Identifier(column), Identifier(table))
        (there,) = db.connection.execute(highest).fetchall()
        last = max(int(there[0]), given, issued.get(table, 0))
        if last:
            db.connection.execute("SELECT setval(%s::regclass, %s)", (sequence, last))
    save_note(db, COPY, progress.note())


def _analyze(db: Connection) -> None:
    for table in TABLES:
        db.execute(SQL("ANALYZE {}").format(Identifier(table)))
