"""Empty stores for tests, made without running every migration each time.

SQLite: a copy of one file that was migrated once. PostgreSQL: a schema that an earlier test of this process
used, with its rows deleted and its counters set back; one whose tables a test changed is not used again.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import psycopg

from rowen.adapters.store.postgres.store import PostgresStore
from rowen.adapters.store.sqlite.store import SqliteStore
from rowen.ports.store.store import Store
from tests.support.postgres import Server

_spare: dict[str, list[tuple[str, object]]] = {}
"""Schemas that wait for the next test and what they look like, by the server they are on."""

_connections: dict[str, psycopg.Connection[Any]] = {}
"""One connection of this process to each server, to look at schemas and empty them. A new one would first
read the catalogue, which takes longer than the work."""

# Everything that a test may add to a schema or take from it, and whether it was analysed.
SHAPE = """
SELECT (SELECT array_agg((relname, relkind, relhastriggers, reltuples >= 0) ORDER BY relname)::text
        FROM pg_class WHERE relnamespace = s.oid),
       (SELECT count(*) FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid WHERE relnamespace = s.oid),
       (SELECT count(*) FROM pg_constraint WHERE connamespace = s.oid),
       (SELECT count(*) FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid WHERE relnamespace = s.oid),
       (SELECT array_agg(proname ORDER BY proname)::text FROM pg_proc WHERE pronamespace = s.oid),
       (SELECT array_agg(typname ORDER BY typname)::text FROM pg_type WHERE typnamespace = s.oid)
FROM pg_namespace s WHERE nspname = %s
"""

THINGS = """
SELECT relname FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace WHERE relkind = %s AND nspname = %s
"""


def a_sqlite_file(path: Path) -> Path:
    """A store of the newest schema at `path`; one that is there already stays as it is."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_migrated_file())
    return path


def a_sqlite_store(path: Path) -> SqliteStore:
    return SqliteStore(a_sqlite_file(path))


@contextmanager
def a_postgres_schema(server: Server) -> Iterator[str]:
    """The name of a schema that holds an empty store and is used by no other test at the same time."""
    spare = _spare.setdefault(server.folder, [])
    name, shape = spare.pop() if spare else _migrated_schema(server)
    try:
        yield name
    finally:
        db = _connection(server)
        if _shape(db, name) == shape and _emptied(db, name):
            spare.append((name, shape))
        else:
            db.execute(f"DROP SCHEMA IF EXISTS {name} CASCADE")


def disconnect(server: Server) -> None:
    """Before the server ends."""
    if server.folder in _connections:
        _connections.pop(server.folder).close()


def _connection(server: Server) -> psycopg.Connection[Any]:
    if server.folder not in _connections:
        _connections[server.folder] = server.connect()
    return _connections[server.folder]


def _migrated_schema(server: Server) -> tuple[str, object]:
    name = server.unused_schema()
    _close(PostgresStore(server.url, schema=name))
    return name, _shape(_connection(server), name)


def _shape(db: psycopg.Connection[Any], schema: str) -> object:
    return db.execute(SHAPE, (schema,)).fetchone()


def _emptied(db: psycopg.Connection[Any], schema: str) -> bool:
    """Delete all rows and set the counters back; False if another connection still holds a table."""
    tables, counters = (
        [name for (name,) in db.execute(THINGS, (kind, schema)).fetchall()] for kind in ("r", "S")
    )
    try:
        db.execute(
            "SET lock_timeout = '5s'; SET session_replication_role = replica;"
            + "".join(f"DELETE FROM {schema}.{name};" for name in tables if name != "schema_version")
            + "".join(f"SELECT setval('{schema}.{name}', 1, false);" for name in counters)
        )
    except psycopg.errors.LockNotAvailable:
        return False
    return True


@cache
def _migrated_file() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rowen.db"
        _close(SqliteStore(path))
        return path.read_bytes()


def _close(store: Store) -> None:
    # In a thread, because the caller's thread may run an event loop.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(store.close())).result()
