"""A whole store as rows: out in pages from one snapshot, in page by page."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager
from queue import SimpleQueue
from typing import Any, Generic, TypeVar
from uuid import uuid4

from rowen.adapters.store.shared.database import Database
from rowen.adapters.store.shared.topics import handoffs
from rowen.adapters.store.shared.topics.leases import fence
from rowen.adapters.store.shared.topics.notes import read_note, write_note
from rowen.adapters.store.shared.transaction import Transaction
from rowen.core.exchange.store_copy import IDENTITY, PARTS, Key, Page, Part, Progress, Row, page_of
from rowen.core.lease import Lease
from rowen.core.rules.complete import COPY
from rowen.errors import StoreDamaged

T = TypeVar("T")
Tx = TypeVar("Tx", bound=Transaction)


class SharedCopying(ABC, Generic[Tx]):
    """The `Copying` port on one database."""

    def __init__(self, database: Database[Tx]) -> None:
        self._db = database

    async def identity(self) -> str:
        return await self._db.write(_identity)

    async def is_empty(self) -> bool:
        return not any((await self._db.read(self.counts)).values())

    @asynccontextmanager
    async def view(self) -> AsyncIterator[SnapshotView[Tx]]:
        questions: SimpleQueue[Callable[[Tx], None] | None] = SimpleQueue()

        def answer_all(db: Tx) -> None:
            self._begin_view(db)
            for question in iter(questions.get, None):
                question(db)

        # One unit of work for all questions: one transaction, so one snapshot.
        answering = asyncio.create_task(self._db.read(answer_all))
        try:
            yield SnapshotView(self, questions, answering)
        finally:
            questions.put(None)
            await asyncio.gather(answering, return_exceptions=True)

    async def load(self, lease: Lease, part: Part, rows: Sequence[Row], progress: Progress) -> None:
        if part.name == "contents" and not all(isinstance(row[2], str) for row in rows):
            raise StoreDamaged("the store that is copied is damaged: a text cannot be read")
        await self._noted(lease, progress, lambda db: self._insert(db, part, rows))

    async def clear(self, lease: Lease, progress: Progress) -> None:
        await self._noted(lease, progress, self._delete_all)

    async def finish(self, lease: Lease, issued: Mapping[str, int], progress: Progress) -> None:
        await self._noted(lease, progress, lambda db: self._number_from(db, issued))

    async def _noted(self, lease: Lease, progress: Progress, work: Callable[[Tx], None]) -> None:
        def unit(db: Tx) -> None:
            fence(db, lease)
            work(db)
            write_note(db, COPY, progress.note())

        await self._db.write(unit)

    # below: on an open transaction

    def counts(self, db: Tx) -> dict[str, int]:
        counted = {}
        for part in PARTS:
            if part.table in handoffs.TABLES and not handoffs.there(db):
                continue
            where, values = self._where(part)
            counted[part.name] = int(db.query(f"SELECT count(*) FROM {part.table}{where}", values)[0][0])
        return counted

    @abstractmethod
    def issued(self, db: Tx) -> dict[str, int]:
        """The highest numbers ever given to rows, by table."""

    def rows(self, db: Tx, part: Part, after: Key | None, until: Key | None, max_rows: int) -> Iterator[Row]:
        where, values = self._where(part, after, until)
        limit = "" if part.loose else f" LIMIT {max_rows:d}"
        order = f"ORDER BY {', '.join(self._key(part))}{limit}"
        return self._select(db, part, f"FROM {part.table}{where} {order}", values)

    def _where(
        self, part: Part, after: Key | None = None, until: Key | None = None
    ) -> tuple[str, dict[str, Any]]:
        conditions = []
        values: dict[str, Any] = {}
        for sign, name, key in ((">", "after", after), ("<=", "until", until)):
            if key is not None:
                places = {f"{name}{number}": value for number, value in enumerate(key)}
                conditions.append(f"({', '.join(self._key(part))}) {sign} ({named(places)})")
                values |= places
        if part.later:
            conditions.append(f'"{part.columns[-1].name}" IS NOT NULL')
        if part.own:
            own = {f"own{number}": name for number, name in enumerate(part.own)}
            conditions.append(f'"{part.key[0]}" NOT IN ({named(own)})')
            values |= own
        return (" WHERE " + " AND ".join(conditions) if conditions else ""), values

    def _key(self, part: Part) -> list[str]:
        """The columns of a part's key, as they are compared and sorted."""
        return [f'"{name}"' for name in part.key]

    def _begin_view(self, db: Tx) -> None:
        """Called once, before the first question."""

    @abstractmethod
    def _select(self, db: Tx, part: Part, rest: str, values: Mapping[str, Any]) -> Iterator[Row]:
        """The rows of a part, one by one; `rest` is the SELECT from its FROM on."""

    @abstractmethod
    def _insert(self, db: Tx, part: Part, rows: Sequence[Row]) -> None: ...

    @abstractmethod
    def _delete_all(self, db: Tx) -> None:
        """Everything that is copied, and what a store makes from it."""

    @abstractmethod
    def _number_from(self, db: Tx, issued: Mapping[str, int]) -> None:
        """New rows get numbers beyond these and beyond the ones that are here."""


class SnapshotView(Generic[Tx]):
    """Questions go to the one thread that holds the snapshot, which answers one after the other."""

    def __init__(
        self,
        copying: SharedCopying[Tx],
        questions: SimpleQueue[Callable[[Tx], None] | None],
        answering: asyncio.Task[None],
    ) -> None:
        self._copying = copying
        self._questions = questions
        self._answering = answering

    async def counts(self) -> Mapping[str, int]:
        return await self._ask(self._copying.counts)

    async def issued(self) -> Mapping[str, int]:
        return await self._ask(self._copying.issued)

    async def page(
        self, part: Part, *, after: Key | None, until: Key | None = None, max_rows: int, max_bytes: int
    ) -> Page:
        def unit(db: Tx) -> Page:
            rows = self._copying.rows(db, part, after, until, max_rows)
            page = page_of(part, rows, max_rows=max_rows, max_bytes=max_bytes)
            if page.last is not None and (page.last == after or len(page.last) < len(part.key)):
                # SQLite reads what was overwritten with zeros as rows without values, again and again.
                raise StoreDamaged(f"store damaged: the rows of `{part.table}` are not in their order")
            return page

        return await self._ask(unit)

    async def _ask(self, work: Callable[[Tx], T]) -> T:
        answer: Future[T] = Future()
        self._questions.put(lambda db: answer.set_result(work(db)))
        answered = asyncio.wrap_future(answer)
        await asyncio.wait((answered, self._answering), return_when=asyncio.FIRST_COMPLETED)
        if not answered.done():
            self._answering.result()  # an error ends the snapshot; it is raised here
        return answered.result()


def listed(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def named(values: Mapping[str, Any]) -> str:
    return ", ".join(f":{name}" for name in values)


def _identity(db: Transaction) -> str:
    found = read_note(db, IDENTITY)
    if found is None:
        found = uuid4().hex
        write_note(db, IDENTITY, found)
    return str(found)
