"""The schema below the PostgreSQL store: foreign, newer, raced for, and two descriptions that must agree."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from rowen.adapters.store.postgres.address import read_address
from rowen.adapters.store.postgres.database import PostgresDatabase
from rowen.adapters.store.postgres.migrate import migrate, migrations
from rowen.adapters.store.postgres.store import PostgresStore
from rowen.adapters.store.postgres.transaction import QUERIES
from rowen.adapters.store.shared.queries import own, shared
from rowen.adapters.store.shared.transaction import Lock
from rowen.errors import StoreUnusable
from tests.support.postgres import Server

pytestmark = pytest.mark.anyio

STORES = Path(__file__).parents[4] / "src/rowen/adapters/store"
FOLDER = STORES / "postgres"

# What the engine of the workers makes itself is not ours to describe.
DESCRIBED = """
WITH ours AS (
  SELECT oid, relname, relkind FROM pg_class
  WHERE relnamespace = %(schema)s::regnamespace
    AND NOT starts_with(relname, 'pgqueuer') AND relname <> 'schema_version'
)
SELECT concat_ws(' ', o.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity,
                 c.collname, pg_get_expr(d.adbin, d.adrelid))
FROM ours o JOIN pg_attribute a ON a.attrelid = o.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_attrdef d ON d.adrelid = o.oid AND d.adnum = a.attnum
LEFT JOIN pg_collation c ON c.oid = a.attcollation
WHERE o.relkind IN ('r', 'v')
UNION ALL
SELECT concat_ws(' ', o.relname, pg_get_constraintdef(c.oid))
FROM ours o JOIN pg_constraint c ON c.conrelid = o.oid
UNION ALL
SELECT pg_get_indexdef(oid) FROM ours WHERE relkind = 'i'
UNION ALL
SELECT pg_get_viewdef(oid) FROM ours WHERE relkind = 'v'
UNION ALL
SELECT concat_ws(' ', dictname, dictinitoption) FROM pg_ts_dict WHERE dictnamespace = %(schema)s::regnamespace
UNION ALL
SELECT concat_ws(' ', f.cfgname, m.maptokentype, d.dictname)
FROM pg_ts_config f JOIN pg_ts_config_map m ON m.mapcfg = f.oid JOIN pg_ts_dict d ON d.oid = m.mapdict
WHERE f.cfgnamespace = %(schema)s::regnamespace
"""
VALUE = re.compile(r"%\((\w+)\)s")
FRAGMENTS = ("language_is", "metadata_has")
"""Conditions, which are no statements by themselves."""


@pytest.fixture
def schema(postgres: Server) -> Iterator[str]:
    with postgres.schema() as name:
        yield name


def described(server: Server, schema: str) -> list[str]:
    with server.connect() as db:
        lines = [str(row[0]).replace(f"{schema}.", "") for row in db.execute(DESCRIBED, {"schema": schema})]
    return sorted(lines)


def test_the_schema_for_readers_is_what_the_migrations_make(postgres: Server, schema: str) -> None:
    PostgresDatabase(postgres.url, schema=schema).open()
    with postgres.schema() as read, postgres.connect() as db:
        db.execute(f"CREATE SCHEMA {read}")
        db.execute(f"SET search_path TO {read}, public")
        db.execute((FOLDER / "schema.sql").read_text("utf-8"))
        assert described(postgres, read) == described(postgres, schema)


def test_every_migration_can_be_undone(postgres: Server, schema: str) -> None:
    database = PostgresDatabase(postgres.url, schema=schema)
    database.open()

    def migrate_to(number: int) -> None:
        with database.connected() as db, db.transaction():
            migrate(db, database.address, number)

    migrate_to(0)
    states = [described(postgres, schema)]
    for migration in migrations():
        migrate_to(migration.number)
        states.append(described(postgres, schema))
    for migration in reversed(migrations()):
        assert described(postgres, schema) == states.pop()
        migrate_to(migration.number - 1)
    assert described(postgres, schema) == states.pop() == []


def test_every_query_is_valid_and_used(postgres: Server, schema: str) -> None:
    PostgresDatabase(postgres.url, schema=schema).open()
    folders = (STORES / "shared", FOLDER)
    code = "".join(path.read_text("utf-8") for folder in folders for path in folder.rglob("*.py"))
    code += "".join(f'"lock_{one.value}"' for one in Lock)
    here = shared() | own("rowen.adapters.store.postgres")
    with postgres.connect() as db:
        db.execute(f"SET search_path TO {schema}, public")
        for name, text in here.items():
            assert text.startswith("-- "), f"{name} says what it is for"
            assert f'"{name}"' in code, f"{name} is used"
            if "COPY " not in text:
                statement = QUERIES.sql(name)
                for number, value in enumerate(dict.fromkeys(VALUE.findall(statement)), 1):
                    statement = statement.replace(f"%({value})s", f"${number}")
                statement = statement.replace("%%", "%")
                if name in FRAGMENTS:
                    statement = f"SELECT 1 FROM documents_active d WHERE {statement}"
                db.execute(f"PREPARE {name}_ AS {statement}")


def test_processes_that_start_at_once_do_not_collide(postgres: Server, schema: str) -> None:
    with ThreadPoolExecutor(6) as threads:
        for done in [threads.submit(PostgresDatabase(postgres.url, schema=schema).open) for _ in range(6)]:
            done.result()
    with postgres.connect() as db:
        found = db.execute(f"SELECT version FROM {schema}.schema_version").fetchall()
    assert found == [(migrations()[-1].number,)]


def test_stores_that_start_at_once_in_a_fresh_database_share_one_extension(
    postgres: Server, database: str
) -> None:
    url = postgres.url_of("postgres", database=database)
    with ThreadPoolExecutor(4) as threads:
        for done in [threads.submit(PostgresDatabase(url, schema=f"store_{n}").open) for n in range(4)]:
            done.result()


async def test_a_schema_of_another_program_is_left_alone(postgres: Server, schema: str) -> None:
    with postgres.connect() as db:
        db.execute(f"CREATE SCHEMA {schema} CREATE TABLE theirs (x int)")
        with pytest.raises(StoreUnusable, match="belongs to another program"):
            PostgresStore(postgres.url, schema=schema)
        assert described(postgres, schema) == ["theirs x integer f "]


async def test_a_store_of_a_newer_rowen_is_left_alone(postgres: Server, schema: str) -> None:
    await PostgresStore(postgres.url, schema=schema).close()
    with postgres.connect() as db:
        db.execute(f"UPDATE {schema}.schema_version SET version = 9999")
    with pytest.raises(StoreUnusable, match="made by a newer Rowen"):
        PostgresStore(postgres.url, schema=schema)


def test_a_network_that_is_gone_is_noticed_unless_the_address_says_when() -> None:
    plain = conninfo_to_dict(read_address("postgresql://db.example/rowen").conninfo)
    assert (plain["tcp_user_timeout"], plain["keepalives_idle"]) == ("30000", "15")
    told = conninfo_to_dict(read_address("postgresql://db.example/rowen?tcp_user_timeout=5000").conninfo)
    assert told["tcp_user_timeout"] == "5000"


async def test_the_address_may_name_the_schema(postgres: Server, schema: str) -> None:
    await PostgresStore(f"{postgres.url}&schema={schema}").close()
    assert described(postgres, schema)
    with pytest.raises(StoreUnusable, match="not a name of a schema"):
        PostgresStore(f"{postgres.url}&schema=a%22;drop")


@pytest.fixture
def database(postgres: Server) -> Iterator[str]:
    """An empty database of its own."""
    name = f"lonely_{uuid.uuid4().hex[:12]}"
    with postgres.connect() as db:
        db.execute(f"CREATE DATABASE {name} TEMPLATE template0")
        yield name
        db.execute(f"DROP DATABASE {name} WITH (FORCE)")


async def test_a_server_without_pgvector_is_said_plainly(postgres: Server, database: str) -> None:
    with postgres.connect() as db:
        db.execute(f"ALTER DATABASE {database} SET extension_control_path = '/nowhere'")
    with pytest.raises(StoreUnusable, match="the server has no pgvector") as caught:
        PostgresStore(postgres.url_of("postgres", database=database))
    assert "install pgvector" in str(caught.value.hint)


async def test_a_user_who_may_not_set_up_pgvector_is_told_who_can(postgres: Server, database: str) -> None:
    with postgres.connect() as db:
        db.execute("CREATE ROLE humble LOGIN")
        try:
            with pytest.raises(StoreUnusable, match="may not do it") as caught:
                PostgresStore(postgres.url_of("humble", database=database))
        finally:
            db.execute("DROP ROLE humble")
    assert "CREATE EXTENSION vector" in str(caught.value.hint)


async def test_a_failed_start_leaves_nothing_behind(postgres: Server, database: str) -> None:
    with postgres.connect() as db:
        db.execute(f"ALTER DATABASE {database} SET extension_control_path = '/nowhere'")
    with pytest.raises(StoreUnusable):
        PostgresStore(postgres.url_of("postgres", database=database))
    with psycopg.connect(postgres.url_of("postgres", database=database)) as db:
        assert db.execute("SELECT 1 FROM pg_namespace WHERE nspname = 'rowen'").fetchone() is None


async def test_texts_need_a_database_that_can_hold_them(postgres: Server) -> None:
    with postgres.connect() as db:
        db.execute("CREATE DATABASE ascii TEMPLATE template0 ENCODING 'SQL_ASCII'")
        try:
            with pytest.raises(StoreUnusable, match="its encoding is SQL_ASCII"):
                PostgresStore(postgres.url_of("postgres", database="ascii"))
        finally:
            db.execute("DROP DATABASE ascii WITH (FORCE)")
