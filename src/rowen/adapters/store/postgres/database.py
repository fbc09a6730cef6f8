"""One PostgreSQL database: connecting to it, and carrying whole units of work to its threads.

A few threads write, a few read; each has a connection of its own, and each unit of work is one transaction.
Readers have threads to themselves, so they never wait for a writer that waits for a lock. Nothing here knows
what is stored.
"""

from __future__ import annotations

import re
import select
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import psycopg
from psycopg.types.string import StrDumperUnknown, TextLoader

from rowen.adapters.store.postgres.address import read_address
from rowen.adapters.store.postgres.failures import not_connected, translated
from rowen.adapters.store.postgres.migrate import Connection, prepare, search_path
from rowen.adapters.store.postgres.transaction import PostgresTransaction
from rowen.adapters.store.shared.database import Database
from rowen.adapters.store.shared.values import Json
from rowen.errors import StoreBusy

PATIENCE_S = 10.0
"""How long a server that is away is waited for; it was there when the store was opened."""
RECONNECT_S = 0.3
WRITERS = 4
TRIES = 4
UPGRADE_S = 60.0
"""How long one process waits for another that brings the schema up to date."""
ABANDONED_MS = 60_000
"""A transaction whose process fell asleep is ended by the server after this, with its locks."""

WRITING = "BEGIN ISOLATION LEVEL READ COMMITTED"
# One snapshot for all statements of a reader.
READING = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"

# Another process was faster: run again, the unit finds what the other has written.
_OVERTAKEN = (
    psycopg.errors.SerializationFailure,
    psycopg.errors.DeadlockDetected,
    psycopg.errors.UniqueViolation,
)

READ_AS_TEXT = ("timestamptz", "date", "json", "jsonb")
"""As both databases give them to the store."""
_NUL_IN_JSON = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")

T = TypeVar("T")
Work = Callable[[PostgresTransaction], T]


class _Away(Exception):
    """The connection broke before anything of a unit was made to last."""

    def __init__(self, cause: psycopg.OperationalError) -> None:
        super().__init__(cause)
        self.cause = cause


class _Text(StrDumperUnknown):
    """PostgreSQL has no NUL in texts; fetched pages now and then do."""

    def dump(self, obj: str) -> Any:
        return super().dump(obj.replace("\0", "\ufffd"))


class _JsonText(StrDumperUnknown):
    """PostgreSQL knows no NUL in JSON either, not even as an escape."""

    def dump(self, obj: Json) -> Any:  # type: ignore[override]
        return super().dump(without_nul(obj.text()))


def _prove_alive(db: Connection) -> None:
    """Fail before COMMIT on a connection that the server has ended: after it, a unit may have lasted.

    A server sends nothing unasked to an open transaction but the message that ends it.
    """
    heard = select.poll()
    heard.register(db.pgconn.socket, select.POLLIN)
    if heard.poll(0):
        db.execute("SELECT 1")


def without_nul(json: str) -> str:
    return _NUL_IN_JSON.sub(r"\1\\ufffd", json) if "\\u0000" in json else json


class PostgresDatabase(Database[PostgresTransaction]):
    def __init__(
        self,
        url: str,
        *,
        schema: str | None = None,
        busy_timeout_s: float = 5.0,
        patience_s: float = PATIENCE_S,
    ) -> None:
        super().__init__(writers=WRITERS)
        self._patience_s = patience_s
        self.address = read_address(url, schema)
        self._busy_timeout_s = busy_timeout_s
        self._extension = ""
        self._written = 0

    @property
    def schema(self) -> str:
        return self.address.schema

    @contextmanager
    def connected(self) -> Iterator[Connection]:
        """A connection of its own, to a schema of any age; opens nothing else."""
        with self._translated(), self._connect() as db:
            yield db

    def open(self, *, create: bool = True, migrate: bool = True) -> None:
        """Check the database and bring our schema up to date. Called once, before any work.

        Without `migrate` an older schema is refused, and a part that was taken down stays so.
        """
        with self._translated(), self._connect(lock_timeout_s=UPGRADE_S) as db:
            self._extension = prepare(db, self.address, create=create, upgrade=migrate)

    async def outside_transaction(self, work: Callable[[Connection], T]) -> T:
        """For the few statements PostgreSQL refuses inside a transaction. They may wait for others."""
        return await self._ended(self._writers, lambda: self._bare(work))

    def rows_written(self) -> int:
        return self._written

    # below: runs in the threads

    def _write(self, work: Work[T]) -> T:
        with self._translated():
            for _ in range(TRIES - 1):
                try:
                    return self._patient(WRITING, work)
                except _OVERTAKEN:
                    continue
            return self._patient(WRITING, work)

    def _read(self, work: Work[T]) -> T:
        with self._translated():
            return self._patient(READING, work)

    def _bare(self, work: Callable[[Connection], T]) -> T:
        with self._translated(), self._connect(lock_timeout_s=0) as db:
            return work(db)

    def _patient(self, begin: str, work: Work[T]) -> T:
        """A server that is being restarted is waited for, as long as nothing of the unit may have lasted."""
        deadline = time.monotonic() + self._patience_s
        while True:
            try:
                return self._unit(begin, work)
            except (_Away, StoreBusy) as exc:
                if time.monotonic() >= deadline or self._closed:
                    raise (exc.cause if isinstance(exc, _Away) else exc) from None
            time.sleep(RECONNECT_S)

    def _unit(self, begin: str, work: Work[T]) -> T:
        db = self._begun(begin)
        transaction = PostgresTransaction(db, self.address.schema)
        try:
            done = work(transaction)
            _prove_alive(db)
        except psycopg.OperationalError as exc:
            broken = db.broken
            self._roll_back(db)
            if broken:
                raise _Away(exc) from exc
            raise
        except BaseException:
            self._roll_back(db)
            raise
        try:
            db.execute("COMMIT")
        except BaseException:
            self._roll_back(db)
            raise
        with self._guard:
            self._written += transaction.written
        return done

    def _begun(self, begin: str) -> Connection:
        db = self._connection()
        try:
            db.execute(begin)
        except psycopg.OperationalError:
            # A server that was restarted has closed it. Nothing was done on it yet, so a new one will do.
            self._drop(db)
            db = self._connection()
            db.execute(begin)
        return db

    def _roll_back(self, db: Connection) -> None:
        try:
            db.execute("ROLLBACK")
        except psycopg.Error:
            self._drop(db)

    def _connection(self) -> Connection:
        """This thread's own."""
        db: Connection | None = getattr(self._local, "db", None)
        if db is None or db.closed:
            db = self._local.db = self._connect()
            with self._guard:
                self._connections.add(db)
        return db

    def _connect(self, *, lock_timeout_s: float | None = None) -> Connection:
        try:
            db = psycopg.connect(self.address.conninfo, autocommit=True)
        except psycopg.Error as exc:
            raise not_connected(exc, self.address.shown) from exc
        try:
            db.adapters.register_dumper(str, _Text)
            db.adapters.register_dumper(Json, _JsonText)
            for kind in READ_AS_TEXT:
                db.adapters.register_loader(kind, TextLoader)
            waits_s = self._busy_timeout_s if lock_timeout_s is None else lock_timeout_s
            db.execute(
                "SELECT set_config('TimeZone', 'UTC', false), set_config('lock_timeout', %s, false),"
                " set_config('DateStyle', 'ISO', false),"
                " set_config('idle_in_transaction_session_timeout', %s, false)",
                (f"{waits_s * 1000:.0f}", str(ABANDONED_MS)),
            )
            if self._extension:
                db.execute(search_path(self.address.schema, self._extension))
        except BaseException:
            db.close()
            raise
        return db

    def _drop(self, db: Connection) -> None:
        self._local.db = None
        with self._guard:
            self._connections.discard(db)
        db.close()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as exc:
            ours = translated(exc, self.address.shown, timeout_s=self._busy_timeout_s)
            if ours is None:
                raise
            raise ours from exc
