"""One SQLite file: opening it, migrating it, and carrying whole units of work to its threads.

One thread writes, a few read; each unit of work is one transaction. Nothing here knows what is stored.
"""

from __future__ import annotations

import asyncio
import errno
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

import apsw

from rowen.errors import RowenError, StoreBusy, StoreFull, StoreUnusable

APPLICATION_ID = 0x526F776E  # "Rown" in the file's header: this database is ours
READERS = 4

P = ParamSpec("P")
T = TypeVar("T")


class Migration:
    def __init__(self, number: int, name: str, up: str, down: str) -> None:
        self.number, self.name, self.up, self.down = number, name, up, down


def migrations() -> list[Migration]:
    folder = resources.files(__package__) / "migrations"
    ups = sorted(f.name for f in folder.iterdir() if f.name.endswith(".up.sql"))
    return [
        Migration(
            int(name[:4]),
            name[5 : -len(".up.sql")],
            (folder / name).read_text("utf-8"),
            (folder / name.replace(".up.", ".down.")).read_text("utf-8"),
        )
        for name in ups
    ]


class Database:
    def __init__(self, path: Path, *, busy_timeout_s: float = 5.0) -> None:
        self._path = path
        self._busy_timeout_ms = int(busy_timeout_s * 1000)
        self._local = threading.local()
        self._connections: list[apsw.Connection] = []
        self._guard = threading.Lock()
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="rowen-write")
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="rowen-read")
        self._writing: apsw.Connection | None = None
        self._closed = False

    @property
    def path(self) -> Path:
        return self._path

    def open(self, *, migrate: bool = True) -> None:
        """Create or check the file and bring its schema up to date. Called once, before any work.

        Without `migrate` the schema stays as it is, for whoever wants to look at it or take it back.
        """
        self._writer.submit(self._open_writer, migrate).result()

    async def write(
        self, work: Callable[Concatenate[apsw.Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        return await self._shielded(self._writer, lambda: self._write(work, *args, **kwargs))

    async def read(
        self, work: Callable[Concatenate[apsw.Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        return await self._shielded(self._readers, lambda: self._read(work, *args, **kwargs))

    async def outside_transaction(self, work: Callable[[apsw.Connection], T]) -> T:
        """For the few statements SQLite refuses inside a transaction."""
        return await self._shielded(self._writer, lambda: self._bare(work))

    def rows_written(self) -> int:
        return self._writing.total_changes() if self._writing is not None else 0

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        await asyncio.get_running_loop().run_in_executor(None, self._close)

    def migrate_to(self, number: int, *, check: Callable[[apsw.Connection], None] = lambda db: None) -> None:
        """Up or down to a numbered schema. `check` looks first, in the same transaction, and may raise."""
        self._writer.submit(self._migrate_to, number, check).result()

    # below: runs in the threads

    async def _shielded(self, pool: ThreadPoolExecutor, unit: Callable[[], T]) -> T:
        # A unit of work that has begun ends: cancelling the waiter must not leave its outcome unknown.
        return await asyncio.shield(asyncio.get_running_loop().run_in_executor(pool, unit))

    def _write(
        self, work: Callable[Concatenate[apsw.Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        db = self._connection_for_writing()
        with self._translated(), _transaction(db, "IMMEDIATE"):
            return work(db, *args, **kwargs)

    def _read(
        self, work: Callable[Concatenate[apsw.Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        with self._translated():
            db = self._connection_for_reading()
            with _transaction(db, "DEFERRED"):
                return work(db, *args, **kwargs)

    def _bare(self, work: Callable[[apsw.Connection], T]) -> T:
        with self._translated():
            return work(self._connection_for_writing())

    def _migrate_to(self, number: int, check: Callable[[apsw.Connection], None]) -> None:
        with self._translated():
            _migrate(self._connection_for_writing(), number, check)

    def _open_writer(self, migrate: bool) -> None:
        existed = self._path.exists()
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as exc:
            raise StoreUnusable(
                f"store `{self._path}`: its folder cannot be made: {exc.strerror}", path=str(self._path)
            ) from exc
        with self._translated():
            db = self._connect()
            self._writing = db
            if existed:
                self._check_ours(db)
            db.execute("PRAGMA journal_mode = WAL")
            latest = migrations()[-1].number
            version = user_version(db)
            if version > latest:
                raise StoreUnusable(
                    f"store `{self._path}`: made by a newer Rowen (schema {version}, known: {latest})",
                    hint="upgrade Rowen, or point `--db` at another file",
                    path=str(self._path),
                )
            if migrate and version < latest:
                _migrate(db, latest)

    def _check_ours(self, db: apsw.Connection) -> None:
        application_id = db.execute("PRAGMA application_id").get
        tables = db.execute("SELECT count(*) FROM sqlite_schema").get
        if application_id != APPLICATION_ID and tables:
            raise StoreUnusable(
                f"store `{self._path}`: a database of another program",
                hint="point `--db` (or `ROWEN_DB`) at another file",
                path=str(self._path),
            )

    def _connect(self) -> apsw.Connection:
        db = apsw.Connection(str(self._path))
        with self._guard:
            self._connections.append(db)
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

    def _close(self) -> None:
        self._readers.shutdown(wait=True)
        self._writer.shutdown(wait=True)
        for db in self._connections:
            db.close()
        self._connections.clear()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except RowenError:
            raise
        except (apsw.BusyError, apsw.LockedError) as exc:
            raise StoreBusy(
                f"store `{self._path}`: locked by another process for more than "
                f"{self._busy_timeout_ms / 1000:g} s",
                hint="wait for the other command to end, or find it with `rowen status`",
                path=str(self._path),
            ) from exc
        except apsw.FullError as exc:
            raise _full(self._path) from exc
        except apsw.IOError as exc:
            if _out_of_space(exc):
                raise _full(self._path) from exc
            raise StoreUnusable(
                f"store `{self._path}`: the disk answered with an error: {exc}", path=str(self._path)
            ) from exc
        except (apsw.NotADBError, apsw.CorruptError) as exc:
            raise StoreUnusable(
                f"store `{self._path}`: not a database, or a damaged one: {exc}",
                hint="point `--db` (or `ROWEN_DB`) at another file; this one was left as it is",
                path=str(self._path),
            ) from exc
        except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError, apsw.AuthError) as exc:
            raise StoreUnusable(
                f"store `{self._path}`: cannot be opened for writing: {exc}",
                hint="check the path and its permissions",
                path=str(self._path),
            ) from exc


def _full(path: Path) -> StoreFull:
    return StoreFull(
        f"store `{path}`: the disk is full; what was visible before is unchanged",
        hint="free some space and run the same command again",
        path=str(path),
    )


def _out_of_space(exc: apsw.IOError) -> bool:
    cause: BaseException | None = exc
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            return True
        cause = cause.__cause__
    # A file-size limit or a full disk reaches SQLite as a failed write of a page or of the log.
    return getattr(exc, "extendedresult", 0) in (apsw.SQLITE_IOERR_WRITE, apsw.SQLITE_IOERR_TRUNCATE)


@contextmanager
def _transaction(db: apsw.Connection, kind: str) -> Iterator[None]:
    db.execute(f"BEGIN {kind}")
    try:
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
        for migration in known:
            if version < migration.number <= target:
                db.execute(migration.up)
        for migration in reversed(known):
            if target < migration.number <= version:
                db.execute(migration.down)
        db.execute(f"PRAGMA user_version = {target}; PRAGMA application_id = {APPLICATION_ID}")
