"""Bringing a PostgreSQL schema up to date, and refusing what is not ours.

All steps of an upgrade are one transaction under one advisory lock, so two processes that start at once do
not collide and a failed upgrade leaves nothing behind.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any

import psycopg
from psycopg.sql import SQL, Identifier

from rowen.adapters.store.postgres.address import Address
from rowen.adapters.store.postgres.failures import problem
from rowen.adapters.store.postgres.jobs import engine
from rowen.adapters.store.shared.migrations import (
    Migration,
    downwards,
    parts_at,
    read_migrations,
    steps_of,
    upwards,
)
from rowen.adapters.store.shared.steps import STEPS, Tables
from rowen.errors import NotFound, StoreUnusable

ADVISORY = 0x526F776E
"""The first half of the keys of our advisory locks: "Rown"."""
MIN_PGVECTOR = (0, 8)
"""The first that reads deeper when a filter leaves too few."""
WORKERS = 3
"""The migration that brings the engine of the workers, which makes its tables itself."""

Connection = psycopg.Connection[tuple[Any, ...]]


def migrations() -> tuple[Migration, ...]:
    return read_migrations(__package__)


def prepare(db: Connection, address: Address, *, create: bool = True, upgrade: bool = True) -> str:
    """Check the database and bring our schema up to date. Answers with the schema that holds pgvector."""
    encoding = db.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        fact = f"its encoding is {encoding}, and texts need UTF8"
        hint = "create the database with `ENCODING 'UTF8' TEMPLATE template0`"
        raise problem(StoreUnusable, address.shown, fact, hint)
    latest = migrations()[-1].number
    extension = _pgvector(db, address)
    version = version_of(db, address)
    if version is not None and version > latest:
        fact = f"made by a newer Rowen (schema {version}, known: {latest})"
        hint = "upgrade Rowen, or point `--db` at another database"
        raise problem(StoreUnusable, address.shown, fact, hint)
    if version is None and not create:
        fact = f"there is no store in its schema `{address.schema}`"
        raise problem(NotFound, address.shown, fact, _nearest(db, address))
    if version is not None and version < latest and not upgrade:
        fact = f"its schema is {version}, and this Rowen needs {latest}"
        hint = "`store.auto_upgrade` is off: run `rowen db upgrade`"
        raise problem(StoreUnusable, address.shown, fact, hint)
    if version != latest or extension is None or (upgrade and _missing(db, address, latest)):
        with db.transaction():
            migrate(db, address, latest)
        extension = _pgvector(db, address)
    assert extension is not None
    return extension


def migrate(db: Connection, address: Address, target: int) -> None:
    """Up or down to a numbered schema, inside the caller's transaction."""
    db.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", (ADVISORY, address.schema))
    _have_pgvector(db, address)
    # Only now: another process may have done the work while we waited.
    version = version_of(db, address)
    schema = Identifier(address.schema)
    if version is None:
        db.execute(SQL("CREATE SCHEMA IF NOT EXISTS {}").format(schema))
        db.execute(SQL("CREATE TABLE {}.schema_version (version integer NOT NULL)").format(schema))
        db.execute(SQL("INSERT INTO {}.schema_version VALUES (0)").format(schema))
        version = 0
    db.execute(search_path(address.schema, _pgvector(db, address) or "public", local=True))
    for part in _missing(db, address, version):
        for step in steps_of(migrations(), part):
            if step.number <= version:
                db.execute(step.up)
    for migration in upwards(migrations(), version, target):
        db.execute(migration.up)
        if migration.name in STEPS:
            STEPS[migration.name].up(_tables(db))
        if migration.number == WORKERS:
            engine.install(db, address.schema)
    for migration in downwards(migrations(), version, target):
        if migration.number == WORKERS:
            engine.uninstall(db, address.schema)
        if migration.name in STEPS:
            STEPS[migration.name].down(_tables(db))
        db.execute(migration.down)
    db.execute("UPDATE schema_version SET version = %s", (target,))


def _tables(db: Connection) -> Tables:
    def ask(statement: str, values: Sequence[Any]) -> list[Any]:
        done = db.execute(statement.replace("?", "%s").encode(), values)
        return done.fetchall() if done.description else []

    def change(statement: str, rows: Iterable[Sequence[Any]]) -> None:
        with db.cursor() as cursor:
            cursor.executemany(statement.replace("?", "%s").encode(), rows)

    return Tables(ask, change, stored_text="text")


def has_table(db: Connection, schema: str, name: str) -> bool:
    found = db.execute(
        "SELECT count(*) FROM pg_class WHERE relname = %s AND relkind = 'r'"
        " AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = %s)",
        (name, schema),
    ).fetchone()
    return bool(found and found[0])


def _missing(db: Connection, address: Address, version: int) -> list[str]:
    parts = parts_at(migrations(), version)
    return [part for part in parts if not has_table(db, address.schema, part)]


def search_path(schema: str, extension: str, *, local: bool = False) -> psycopg.sql.Composed:
    scope = SQL("LOCAL ") if local else SQL("")
    return SQL("SET {}search_path TO {}, {}").format(scope, Identifier(schema), Identifier(extension))


def version_of(db: Connection, address: Address) -> int | None:
    """None for a schema that does not exist yet or is empty."""
    marked = db.execute(
        "SELECT count(*), count(*) FILTER (WHERE relname = 'schema_version') FROM pg_class"
        " WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = %s)",
        (address.schema,),
    ).fetchone()
    things, versions = marked or (0, 0)
    if versions:
        found = db.execute(
            SQL("SELECT version FROM {}.schema_version").format(Identifier(address.schema))
        ).fetchone()
        return int(found[0]) if found else None
    if things:
        raise StoreUnusable(
            f"store `{address.shown}`: the schema `{address.schema}` belongs to another program",
            hint="add `?schema=another_name` to the address",
            store=address.shown,
            schema=address.schema,
        )
    return None


def _nearest(db: Connection, address: Address) -> str:
    """A hint for a schema that is not there: the one that was probably meant."""
    found = db.execute(
        "SELECT nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE c.relname = 'schema_version' ORDER BY nspname"
    ).fetchall()
    close = difflib.get_close_matches(address.schema, [str(row[0]) for row in found], 1, cutoff=0.0)
    if close:
        return f"did you mean `?schema={close[0]}` at the end of the address?"
    return "check the address; `rowen add` makes the store with its first source"


def _pgvector(db: Connection, address: Address) -> str | None:
    """The schema pgvector is installed in; None when it is not."""
    found = db.execute(
        "SELECT n.nspname, e.extversion FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace"
        " WHERE e.extname = 'vector'"
    ).fetchone()
    if found is None:
        return None
    if tuple(int(part) for part in found[1].split(".")[:2]) < MIN_PGVECTOR:
        fact = f"pgvector {found[1]} is too old, 0.8 is the first that will do"
        hint = "install a newer pgvector on the server, then run `ALTER EXTENSION vector UPDATE`"
        raise problem(StoreUnusable, address.shown, fact, hint)
    return str(found[0])


def _have_pgvector(db: Connection, address: Address) -> None:
    if _pgvector(db, address) is not None:
        return
    # A lock of the whole database: stores in other schemas want the same extension.
    db.execute("SELECT pg_advisory_xact_lock(%s, 1)", (ADVISORY,))
    try:
        db.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
    except psycopg.errors.InsufficientPrivilege as exc:
        fact = "pgvector is not set up in this database, and this user may not do it"
        hint = "have an administrator run `CREATE EXTENSION vector` in the database"
        raise problem(StoreUnusable, address.shown, fact, hint) from exc
    except (psycopg.errors.FeatureNotSupported, psycopg.errors.UndefinedFile) as exc:
        fact = "the server has no pgvector"
        hint = "install pgvector on the server (package `postgresql-NN-pgvector`)"
        raise problem(StoreUnusable, address.shown, fact, hint) from exc
