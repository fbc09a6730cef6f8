"""A whole SQLite store as rows: out in pages from one snapshot, in page by page."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager
from queue import SimpleQueue
from typing import Any, TypeVar
from uuid import uuid4

import apsw

from rowen.adapters.store.sqlite.database import Database
from rowen.adapters.store.sqlite.leases import fence
from rowen.adapters.store.sqlite.queries import sql
from rowen.adapters.store.sqlite.sources import note, save_note
from rowen.core import hashing
from rowen.core.exchange.complete import COPY
from rowen.core.exchange.store_copy import IDENTITY, PARTS, TABLES, Key, Page, Part, Progress, Row, page_of
from rowen.core.lease import Lease
from rowen.core.search.query import indexable

T = TypeVar("T")


class SqliteCopying:
    """The `Copying` port on one SQLite file."""

    def __init__(self, database: Database) -> None:
        self._db = database

    async def identity(self) -> str:
        return await self._db.write(_identity)

    async def is_empty(self) -> bool:
        return not any((await self._db.read(_counts)).values())

    @asynccontextmanager
    async def view(self) -> AsyncIterator[SqliteView]:
        questions: SimpleQueue[Callable[[apsw.Connection], None] | None] = SimpleQueue()

        def answer_all(db: apsw.Connection) -> None:
            for question in iter(questions.get, None):
                question(db)

        # One unit of work for all questions: one transaction, so one snapshot.
        answering = asyncio.create_task(self._db.read(answer_all))
        try:
            yield SqliteView(questions, answering)
        finally:
            questions.put(None)
            await asyncio.gather(answering, return_exceptions=True)

    async def load(self, lease: Lease, part: Part, rows: Sequence[Row], progress: Progress) -> None:
        await self._db.write(_load, lease, part, rows, progress)

    async def clear(self, lease: Lease, progress: Progress) -> None:
        await self._db.write(_clear, lease, progress)

    async def prepare(self) -> None:
        """There is nothing to do: SQLite searches a store that was filled at once like any other."""

    async def finish(self, lease: Lease, issued: Mapping[str, int], progress: Progress) -> None:
        await self._db.write(_finish, lease, issued, progress)


class SqliteView:
    """Questions go to the one thread that holds the snapshot, and are answered in turn."""

    def __init__(
        self,
        questions: SimpleQueue[Callable[[apsw.Connection], None] | None],
        answering: asyncio.Task[None],
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
        def unit(db: apsw.Connection) -> Page:
            rows = _rows(db, part, after, until, max_rows)
            return page_of(part, rows, max_rows=max_rows, max_bytes=max_bytes)

        return await self._ask(unit)

    async def _ask(self, work: Callable[[apsw.Connection], T]) -> T:
        answer: Future[T] = Future()
        self._questions.put(lambda db: answer.set_result(work(db)))
        answered = asyncio.wrap_future(answer)
        await asyncio.wait((answered, self._answering), return_when=asyncio.FIRST_COMPLETED)
        if not answered.done():
            self._answering.result()  # an error ends the snapshot; it is raised here
        return answered.result()


def _identity(db: apsw.Connection) -> str:
    found = note(db, IDENTITY)
    if found is None:
        found = uuid4().hex
        save_note(db, IDENTITY, found)
    return str(found)


def _counts(db: apsw.Connection) -> dict[str, int]:
    counts = {}
    for part in PARTS:
        where, values = _where(part)
        counts[part.name] = int(db.execute(f"SELECT count(*) FROM {part.table} {where}", values).get)
    return counts


def _issued(db: apsw.Connection) -> dict[str, int]:
    return {
        table: seq for table, seq in db.execute("SELECT name, seq FROM sqlite_sequence") if table in TABLES
    }


def _rows(
    db: apsw.Connection, part: Part, after: Key | None, until: Key | None, max_rows: int
) -> Iterator[Row]:
    where, values = _where(part, after, until)
    names = [column.name for column in part.columns]
    limit = "" if part.loose else f" LIMIT {max_rows:d}"
    found = db.execute(
        f"SELECT {_listed(names)} FROM {part.table} {where} ORDER BY {_listed(part.key)}{limit}", values
    )
    if part.digest_of is None:
        yield from found
        return
    place = names.index(part.digest_of)
    for row in found:
        yield (*row, hashing.of_text(row[place]))


def _where(part: Part, after: Key | None = None, until: Key | None = None) -> tuple[str, tuple[Any, ...]]:
    conditions = []
    values: list[Any] = []
    for sign, key in ((">", after), ("<=", until)):
        if key is not None:
            conditions.append(f"({_listed(part.key)}) {sign} ({_places(key)})")
            values += key
    if part.later:
        conditions.append(f'"{part.columns[-1].name}" IS NOT NULL')
    if part.own:
        conditions.append(f'"{part.key[0]}" NOT IN ({_places(part.own)})')
        values += part.own
    return ("WHERE " + " AND ".join(conditions) if conditions else ""), tuple(values)


def _load(db: apsw.Connection, lease: Lease, part: Part, rows: Sequence[Row], progress: Progress) -> None:
    fence(db, lease)
    names = [column.name for column in part.columns]
    if part.later:
        db.executemany(
            f'UPDATE {part.table} SET "{names[-1]}" = ? WHERE "{part.key[0]}" = ?',
            ((value, key) for key, value in rows),
        )
    else:
        # The digest at the end, where there is one, is for others.
        db.executemany(
            f"INSERT INTO {part.table} ({_listed(names)}) VALUES ({_places(names)})",
            (row[: len(names)] for row in rows),
        )
    if part.table == "passages":
        db.executemany(
            sql("fts_insert"),
            ((passage, indexable(str(path)), indexable(str(text))) for passage, _, path, text in rows),
        )
    save_note(db, COPY, progress.note())


def _clear(db: apsw.Connection, lease: Lease, progress: Progress) -> None:
    fence(db, lease)
    for part in reversed(PARTS):
        if not part.later:
            where, values = _where(part)
            db.execute(f"DELETE FROM {part.table} {where}", values)
            db.execute("DELETE FROM sqlite_sequence WHERE name = ?", (part.table,))
    db.execute("INSERT INTO passages_fts (passages_fts) VALUES ('delete-all')")
    save_note(db, COPY, progress.note())


def _finish(db: apsw.Connection, lease: Lease, issued: Mapping[str, int], progress: Progress) -> None:
    fence(db, lease)
    numbered = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'"
    for table in [str(row[0]) for row in db.execute(numbered)]:
        if table in issued:
            here = db.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).get or 0
            db.execute("DELETE FROM sqlite_sequence WHERE name = ?", (table,))
            values = (table, max(issued[table], here))
            db.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", values)
    save_note(db, COPY, progress.note())


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _places(values: Sequence[Any]) -> str:
    return ", ".join("?" * len(values))
