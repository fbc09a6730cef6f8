"""One SQLite file: opening it, migrating it, and carrying whole units of work to its threads.

One thread writes, a few read; each unit of work is one transaction. Nothing here knows what is stored.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import apsw

from rowen.adapters.store.shared.database import Database
from rowen.adapters.store.shared.migrations import Migration, downwards, read_migrations, upwards
from rowen.adapters.store.sqlite.transaction import SqliteTransaction, bound
from rowen.errors import RowenError, StoreBusy, StoreFull, StoreUnusable

APPLICATION_ID = 0x526F776E  # "Rown" in the file's header: this database is ours

T = TypeVar("T")


def migrations() -> tuple[Migration, ...]:
    return read_migrations(__package__)


class SqliteDatabase(Database[SqliteTransaction]):
    def __init__(self, path: Path, *, busy_timeout_s: float = 5.0) -> None:
        super().__init__(writers=1)
        self.path = path
        self._busy_timeout_ms = int(busy_timeout_s * 1000)
        self._writing: apsw.Connection | None = None

    def open(self, *, migrate: bool = True) -> None:
        """Create or check the file and bring its schema up to date. Called once, before any work.

        Without `migrate` the schema stays as it is, for a caller that looks at it or takes it back.
        """
        self._writers.submit(self._open_writer, migrate).result()

    async def outside_transaction(self, work: Callable[[apsw.Connection], T]) -> T:
        """For the few statements SQLite refuses inside a transaction."""
        return await self._ended(self._writers, lambda: self._bare(work))

    def rows_written(self) -> int:
        return self._writing.total_changes() if self._writing is not None else 0

    def migrate_to(self, number: int, *, check: Callable[[apsw.Connection], None] = lambda db: None) -> None:
        """Up or down to a numbered schema. `check` looks first, in the same transaction, and may raise."""
        self._writers.submit(self._bare, lambda db: _migrate(db, number, check)).result()

    # below: runs in the threads

    def _write(self, work: Callable[[SqliteTransaction], T]) -> T:
        db = self._connection_for_writing()
        with self._translated(), _transaction(db, "IMMEDIATE"):
            return work(SqliteTransaction(db))

    def _read(self, work: Callable[[SqliteTransaction], T]) -> T:
        with self._translated():
            db = self._connection_for_reading()
            with _transaction(db, "DEFERRED"):
                return work(SqliteTransaction(db))

    def _bare(self, work: Callable[[apsw.Connection], T]) -> T:
        with self._translated():
            return work(self._connection_for_writing())

    def _open_writer(self, migrate: bool) -> None:
        existed = self.path.exists()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as exc:
            raise self._problem(StoreUnusable, f"its folder cannot be made: {exc.strerror}") from exc
        with self._translated():
            db = self._connect()
            self._writing = db
            if existed:
                self._check_ours(db)
            db.execute("PRAGMA journal_mode = WAL")
            latest = migrations()[-1].number
            version = user_version(db)
            if version > latest:
                fact = f"made by a newer Rowen (schema {version}, known: {latest})"
                raise self._problem(StoreUnusable, fact, "upgrade Rowen, or point `--db` at another file")
            if migrate and version < latest:
                _migrate(db, latest)

    def _check_ours(self, db: apsw.Connection) -> None:
        application_id = db.execute("PRAGMA application_id").get
        tables = db.execute("SELECT count(*) FROM sqlite_schema").get
        if application_id != APPLICATION_ID and tables:
            hint = "point `--db` (or `ROWEN_DB`) at another file"
            raise self._problem(StoreUnusable, "a database of another program", hint)

    def _connect(self) -> apsw.Connection:
        db = apsw.Connection(str(self.path))
        with self._guard:
            self._connections.add(db)
        db.convert_binding = bound
        db.set_busy_timeout(self._busy_timeout_ms)
        db.execute("PRAGMA foreign_keys = ON; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -32000")
        return db

    def _connection_for_writing(self) -> apsw.Connection:
        if self._writing is None:
            raise AssertionError("the database was not opened")
        return self._writing

    def _connection_for_reading(self) -> apsw.Connection:
        db: apsw.Connection | None = getattr(self._local, "db", None)
        if db is None:
            db = self._local.db = self._connect()
        return db

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except RowenError:
            raise
        except (apsw.BusyError, apsw.LockedError) as exc:
            fact = f"locked by another process for more than {self._busy_timeout_ms / 1000:g} s"
            hint = "wait for the other command to end, or find it with `rowen status`"
            raise self._problem(StoreBusy, fact, hint) from exc
        except (apsw.FullError, apsw.IOError) as exc:
            if not _out_of_space(exc):
                raise self._problem(StoreUnusable, f"the disk answered with an error: {exc}") from exc
            fact = "the disk is full; what was visible before is unchanged"
            raise self._problem(StoreFull, fact, "free some space and run the same command again") from exc
        except (apsw.NotADBError, apsw.CorruptError) as exc:
            hint = "point `--db` (or `ROWEN_DB`) at another file; this one was left as it is"
            raise self._problem(StoreUnusable, f"not a database, or a damaged one: {exc}", hint) from exc
        except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError, apsw.AuthError) as exc:
            fact = f"cannot be opened for writing: {exc}"
            raise self._problem(StoreUnusable, fact, "check the path and its permissions") from exc

    def _problem(self, kind: type[RowenError], fact: str, hint: str | None = None) -> RowenError:
        return kind(f"store `{self.path}`: {fact}", hint=hint, path=str(self.path))


def _out_of_space(exc: apsw.Error) -> bool:
    if isinstance(exc, apsw.FullError):
        return True
    cause: BaseException | None = exc
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            return True
        cause = cause.__cause__
    # A file-size limit or a full disk reaches SQLite as a failed write of a page or of the log.
    return getattr(exc, "extendedresult", 0) in (apsw.SQLITE_IOERR_WRITE, apsw.SQLITE_IOERR_TRUNCATE)


@contextmanager
def _transaction(db: apsw.Connection, kind: str) -> Iterator[None]:
    try:
        # Inside: a statement that fails may have begun the transaction all the same.
        db.execute(f"BEGIN {kind}")
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def user_version(db: apsw.Connection) -> int:
    """The number of the schema a file has."""
    return int(db.execute("PRAGMA user_version").get)


def _migrate(
    db: apsw.Connection, target: int, check: Callable[[apsw.Connection], None] = lambda db: None
) -> None:
    known = migrations()
    # The version is read again inside: two processes may open a fresh file at the same moment.
    with _transaction(db, "IMMEDIATE"):
        check(db)
        version = user_version(db)
        for migration in upwards(known, version, target):
            db.execute(migration.up)
        for migration in downwards(known, version, target):
            db.execute(migration.down)
        db.execute(f"PRAGMA user_version = {target}; PRAGMA application_id = {APPLICATION_ID}")
