"""One SQLite file: opening it, migrating it, and carrying whole units of work to its threads.

One thread writes, a few read; each unit of work is one transaction. Nothing here knows what is stored.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from json import JSONDecodeError
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import apsw

from rowen.adapters.store.shared.database import Database
from rowen.adapters.store.shared.migrations import (
    PARTS,
    Migration,
    downwards,
    parts_at,
    read_migrations,
    steps_of,
    upwards,
)
from rowen.adapters.store.sqlite.dictionaries import UnreadableText
from rowen.adapters.store.sqlite.holder import who_writes
from rowen.adapters.store.sqlite.opening import (
    REFUSED,
    has_no_room_beside,
    nearest,
    open_to_read,
    state_of,
)
from rowen.adapters.store.sqlite.texts import teach
from rowen.adapters.store.sqlite.transaction import SqliteTransaction, bound
from rowen.errors import (
    NotFound,
    PartMissing,
    RowenError,
    StoreBusy,
    StoreDamaged,
    StoreFull,
    StoreReadOnly,
    StoreUnusable,
)
from rowen.eventloop import is_running

if TYPE_CHECKING:
    from rowen.adapters.store.shared.steps import Tables

APPLICATION_ID = 0x526F776E  # "Rown" in the file's header: this database is ours

_CACHE_KB = 8_000
"""Pages that a connection keeps. Larger caches of a writer and four readers would grow with the store. A
first sync of 50,000 datasets takes as much of the processor with four times as much."""

_LOG_PAGES = 4_000
"""How long the log gets before its pages are written to the file. A harvest writes the same pages of indexes
with every batch: with a log of 1,000 pages, SQLite's own choice, each batch wrote them to the file too."""

NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

T = TypeVar("T")


def migrations() -> tuple[Migration, ...]:
    return read_migrations(__package__)


class SqliteDatabase(Database[SqliteTransaction]):
    is_near = True

    def __init__(
        self, path: Path, *, busy_timeout_s: float = 5.0, create: bool = True, read_only: bool = False
    ) -> None:
        super().__init__(writers=1)
        self.path = path
        self._busy_timeout_ms = int(busy_timeout_s * 1000)
        self._writing: apsw.Connection | None = None
        self._create = create
        self.read_only = read_only
        """Asked for, or found out when the file was opened."""
        self._has_no_room = False
        """It is read only because its disk is full."""

    def open(self, *, migrate: bool = True, look: bool = False) -> None:
        """Create or check the file and bring its schema up to date. Called once, before any work.

        Without `migrate` an older schema is refused, and a part that was taken down stays so. A caller that
        will only `look` at the schema, or move it, gets it as it is.
        """
        self._open_first(migrate, look)

    async def outside_transaction(self, work: Callable[[apsw.Connection], T]) -> T:
        """For the few statements SQLite refuses inside a transaction."""
        if not is_running():
            return self._bare(work)
        return await self._ended(self._writers, lambda: self._bare(work))

    def bare(self, work: Callable[[apsw.Connection], T]) -> T:
        """The same for a caller in a thread of its own."""
        return self._writers.submit(self._bare, work).result()

    def close_now(self) -> None:
        self._closed = True
        self._close()

    def can_be_written(self) -> bool:
        effective = os.access in os.supports_effective_ids
        return all(
            os.access(path, os.W_OK, effective_ids=effective) for path in (self.path, self.path.parent)
        )

    def rows_written(self) -> int:
        return self._writing.total_changes() if self._writing is not None else 0

    def migrate_to(self, number: int, *, check: Callable[[apsw.Connection], None] = lambda db: None) -> None:
        """Up or down to a numbered schema. `check` looks first, in the same transaction, and may raise."""
        self.bare(lambda db: _migrate(db, number, check))

    def apply(self, statements: str, *, check: Callable[[apsw.Connection], None]) -> None:
        """Carry out statements that change the schema, after `check`, in one transaction."""

        def work(db: apsw.Connection) -> None:
            with _transaction(db, "IMMEDIATE"):
                check(db)
                db.execute(statements)

        self.bare(work)

    # below: runs in the threads

    def _write(self, work: Callable[[SqliteTransaction], T]) -> T:
        with self._translated():
            db = self._connection_for_writing()
            with _transaction(db, "IMMEDIATE"):
                return work(SqliteTransaction(db))

    def _read(self, work: Callable[[SqliteTransaction], T]) -> T:
        with self._translated():
            db = self._connection_for_reading()
            with _transaction(db, "DEFERRED"):
                return work(SqliteTransaction(db))

    def _bare(self, work: Callable[[apsw.Connection], T]) -> T:
        with self._translated():
            return work(self._connection_for_writing())

    def _open_first(self, migrate: bool, look: bool) -> None:
        there = self._is_there()
        if not there and not self._create:
            raise self._problem(NotFound, "there is no such file", nearest(self.path))
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as exc:
            raise self._problem(StoreUnusable, f"its folder cannot be made: {exc.strerror}") from exc
        with self._translated():
            if not self.read_only:
                self._writing = self._open_to_write(there)
            self._check(self._writing or self._connection_for_reading(), migrate, look)

    def _is_there(self) -> bool:
        """An empty file is what an interrupted first command leaves; there is nothing in it to be read."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return False
        except OSError as exc:
            raise self._problem(StoreUnusable, f"cannot be opened: {exc.strerror}") from exc
        return found.st_size > 0 or not self.path.is_file()

    def _open_to_write(self, there: bool) -> apsw.Connection | None:
        """None where the system lets us only read, or the disk is too full to write."""
        db = apsw.Connection(str(self.path))
        try:
            self._prepared(db)
            if there:
                self._check_ours(db)
            if not db.readonly("main"):
                db.execute("PRAGMA journal_mode = WAL").get  # noqa: B018
                return db
        except apsw.Error as exc:
            no_room = has_no_room_beside(exc)
            if not there or not (no_room or isinstance(exc, REFUSED)):
                raise
            self._has_no_room = no_room
        with self._guard:
            self._connections.discard(db)
        db.close()
        self.read_only = True
        return None

    def _check(self, db: apsw.Connection, migrate: bool, look: bool) -> None:
        if self.read_only:
            self._check_ours(db)
        latest = migrations()[-1].number
        version = user_version(db)
        if version > latest:
            fact = f"made by a newer Rowen (schema {version}, known: {latest})"
            raise self._problem(StoreUnusable, fact, "upgrade Rowen, or point `--db` at another file")
        if version == 0 and not self._create:
            raise self._problem(NotFound, "an empty database, there is no store in it", nearest(self.path))
        if look:
            return
        if version and version < latest and not migrate:
            fact = f"its schema is {version}, and this Rowen needs {latest}"
            raise self._problem(StoreUnusable, fact, "`store.auto_upgrade` is off: run `rowen db upgrade`")
        # A part that is missing can wait until the store may be written.
        if version < latest or (migrate and not self.read_only and _missing(db, latest)):
            if self.read_only:
                fact = f"opened to read only, and its schema is {version}: this Rowen needs {latest}"
                raise self._problem(StoreReadOnly, fact, "run `rowen db upgrade`, where it can be written")
            _migrate(db, latest)

    def _check_ours(self, db: apsw.Connection) -> None:
        application_id = db.execute("PRAGMA application_id").get
        tables = db.execute("SELECT count(*) FROM sqlite_schema").get
        if application_id != APPLICATION_ID and tables:
            hint = "point `--db` (or `ROWEN_DB`) at another file"
            raise self._problem(StoreUnusable, "a database of another program", hint)

    def _prepared(self, db: apsw.Connection) -> apsw.Connection:
        with self._guard:
            self._connections.add(db)
        db.convert_binding = bound
        teach(db)
        db.set_busy_timeout(self._busy_timeout_ms)
        db.wal_autocheckpoint(_LOG_PAGES)
        db.execute(f"PRAGMA foreign_keys = ON; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -{_CACHE_KB}")
        return db

    def _connection_for_writing(self) -> apsw.Connection:
        if self._writing is None and self._has_no_room:
            # There may be room by now.
            self._writing = self._open_to_write(there=True)
            self.read_only = self._writing is None
        if self._writing is None:
            if self._has_no_room:
                raise self._full()
            if self.read_only:
                raise self._read_only()
            raise AssertionError("the database was not opened")
        return self._writing

    def _connection_for_reading(self) -> apsw.Connection:
        db: apsw.Connection | None = getattr(self._local, "db", None)
        state: object = getattr(self._local, "state", None)
        if db is not None:
            if state is None or state == state_of(self.path):
                return db
            with self._guard:
                self._connections.discard(db)
            db.close()
        before = state_of(self.path) if self.read_only else None
        if self.read_only:
            opened, alone = open_to_read(self.path)
        else:
            opened, alone = apsw.Connection(str(self.path)), False
        self._local.db = db = self._prepared(opened)
        self._local.state = before if alone else None
        return db

    def _read_only(self) -> RowenError:
        hint = "use a store that can be written; this one can be searched, shown and exported"
        return self._problem(StoreReadOnly, "read-only, and this writes to it", hint)

    def _full(self) -> RowenError:
        fact = "the disk is full; what was visible before is unchanged"
        return self._problem(StoreFull, fact, "free some space and run the same command again")

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except RowenError:
            raise
        except (apsw.BusyError, apsw.LockedError) as exc:
            holder = who_writes(self.path) or "another process"
            fact = f"locked by {holder} for more than {self._busy_timeout_ms / 1000:g} s"
            hint = "wait for it to end; `store.busy_timeout_s` says how long to wait"
            raise self._problem(StoreBusy, fact, hint) from exc
        except (apsw.FullError, apsw.IOError) as exc:
            if _cut_short(exc):
                raise self._damaged(exc) from exc
            if not _out_of_space(exc):
                raise self._problem(StoreUnusable, f"the disk answered with an error: {exc}") from exc
            raise self._full() from exc
        except apsw.NotADBError as exc:
            hint = "point `--db` (or `ROWEN_DB`) at another file; if it was a store, try `rowen db rescue`"
            raise self._problem(StoreUnusable, "not a database, or its beginning is damaged", hint) from exc
        except (apsw.CorruptError, UnicodeDecodeError, JSONDecodeError, UnreadableText) as exc:
            raise self._damaged(exc) from exc
        except apsw.SQLError as exc:
            part = next((part for part in PARTS if f"no such table: {part}" in str(exc)), None)
            if part is None:
                raise
            raise PartMissing.of(part) from exc
        except apsw.ReadOnlyError as exc:
            raise self._read_only() from exc
        except REFUSED as exc:
            fact = f"cannot be opened: {exc}"
            raise self._problem(StoreUnusable, fact, "check the path and its permissions") from exc
        except Exception as exc:
            # A row that is not what it was when it was written looks like a bug to the code that reads it.
            if self._is_damaged():
                raise self._damaged(exc) from exc
            raise

    def _is_damaged(self) -> bool:
        try:
            db, _ = open_to_read(self.path)
            try:
                return str(db.execute("PRAGMA quick_check(1)").get) != "ok"
            finally:
                db.close()
        except (apsw.CorruptError, apsw.NotADBError):
            return True
        except apsw.Error:
            return False

    def _damaged(self, exc: Exception) -> RowenError:
        return self._problem(StoreDamaged, f"damaged: {exc}", StoreDamaged.HINT)

    def _problem(self, kind: type[RowenError], fact: str, hint: str | None = None) -> RowenError:
        return kind(f"store `{self.path}`: {fact}", hint=hint, path=str(self.path))


def _cut_short(exc: apsw.Error) -> bool:
    """The file ends before a page that it should have."""
    return getattr(exc, "extendedresult", 0) in (apsw.SQLITE_IOERR_SHORT_READ, apsw.SQLITE_IOERR_CORRUPTFS)


def _out_of_space(exc: apsw.Error) -> bool:
    if isinstance(exc, apsw.FullError):
        return True
    cause: BaseException | None = exc
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno in NO_SPACE:
            return True
        cause = cause.__cause__
    # A file-size limit or a full disk reaches SQLite as a failed write of a page or of the log.
    failed_writes = (apsw.SQLITE_IOERR_WRITE, apsw.SQLITE_IOERR_TRUNCATE)
    return has_no_room_beside(exc) or getattr(exc, "extendedresult", 0) in failed_writes


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


@contextmanager
def _pointing_anywhere(db: apsw.Connection) -> Iterator[None]:
    """A table is made anew under its name: what points at it neither goes with the old one nor follows it."""
    before = db.execute("PRAGMA foreign_keys").get
    # SQLite ignores it inside a transaction.
    db.execute("PRAGMA foreign_keys = OFF")
    try:
        yield
    finally:
        db.execute(f"PRAGMA foreign_keys = {before:d}")


def user_version(db: apsw.Connection) -> int:
    """The number of the schema a file has."""
    return int(db.execute("PRAGMA user_version").get)


def give_space_back(db: apsw.Connection) -> None:
    """Leave no room in the file that nothing fills. It takes as much room again for a moment."""
    db.execute("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")


def has_table(db: apsw.Connection, name: str) -> bool:
    there = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?"
    return bool(db.execute(there, (name,)).get)


def _missing(db: apsw.Connection, version: int) -> list[str]:
    return [part for part in parts_at(migrations(), version) if not has_table(db, part)]


def _tables(db: apsw.Connection) -> Tables:
    from rowen.adapters.store.shared.steps import Tables

    def ask(statement: str, values: Sequence[Any]) -> list[Any]:
        return db.execute(statement, tuple(values)).fetchall()

    def change(statement: str, rows: Iterable[Sequence[Any]]) -> None:
        db.executemany(statement, rows)

    return Tables(ask, change, stored_text="text_of(text)")


def _migrate(
    db: apsw.Connection, target: int, check: Callable[[apsw.Connection], None] = lambda db: None
) -> None:
    from rowen.adapters.store.shared.steps import STEPS

    known = migrations()
    # The version is read again inside: two processes may open a fresh file at the same moment.
    with _pointing_anywhere(db), _transaction(db, "IMMEDIATE"):
        check(db)
        version = user_version(db)
        for part in _missing(db, version):
            for step in steps_of(known, part):
                if step.number <= version:
                    db.execute(step.up)
        for migration in upwards(known, version, target):
            db.execute(migration.up)
            if migration.name in STEPS:
                STEPS[migration.name].up(_tables(db))
        for migration in downwards(known, version, target):
            if migration.name in STEPS:
                STEPS[migration.name].down(_tables(db))
            db.execute(migration.down)
            if migration.name in STEPS:
                STEPS[migration.name].down_after(_tables(db))
        db.execute(f"PRAGMA user_version = {target}; PRAGMA application_id = {APPLICATION_ID}")
