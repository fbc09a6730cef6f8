"""The file below the store: foreign, damaged, locked, full, newer, and two schemas that must agree."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
import re
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import apsw.ext
import pytest

from rowen.adapters.store.shared import topics
from rowen.adapters.store.shared.queries import own, shared
from rowen.adapters.store.sqlite.database import SqliteDatabase, migrations
from rowen.adapters.store.sqlite.store import SqliteStore
from rowen.adapters.store.sqlite.texts import teach
from rowen.adapters.store.sqlite.transaction import QUERIES, SqliteTransaction
from rowen.errors import StoreBusy, StoreFull, StoreUnusable
from tests.contract.helpers import a_generation, a_source, visible

pytestmark = pytest.mark.anyio

STORES = Path(__file__).parents[4] / "src/rowen/adapters/store"
SCHEMA = STORES / "sqlite/schema.sql"


FRAGMENTS = ("language_is", "metadata_has")
"""Conditions, which are no statements by themselves."""


def the_schema(db: apsw.Connection) -> str:
    rows = db.execute(
        "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE '%\\_fts\\_%' ESCAPE '\\' "
        "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type DESC, name"
    )
    return "\n\n".join(f"{row[0]};" for row in rows) + "\n"


def in_memory() -> apsw.Connection:
    db = apsw.Connection(":memory:")
    teach(db)
    return db


def test_the_schema_for_readers_is_what_the_migrations_make() -> None:
    db = in_memory()
    for migration in migrations():
        db.execute(migration.up)
    assert SCHEMA.read_text("utf-8").partition("\n\n")[2] == the_schema(db)


def test_no_two_migrations_have_one_number() -> None:
    numbers = [migration.number for migration in migrations()]
    assert len(numbers) == len(set(numbers))


def test_every_migration_can_be_undone() -> None:
    db = in_memory()
    states = [the_schema(db)]
    for migration in migrations():
        db.execute(migration.up)
        states.append(the_schema(db))
    for migration in reversed(migrations()):
        assert the_schema(db) == states.pop()
        db.execute(migration.down)
    assert the_schema(db) == states.pop()


def test_every_query_is_valid_and_used() -> None:
    db = in_memory()
    for migration in migrations():
        db.execute(migration.up)
    folders = (STORES / "shared", STORES / "sqlite")
    code = "".join(path.read_text("utf-8") for folder in folders for path in folder.rglob("*.py"))
    for name, text in (shared() | own("rowen.adapters.store.sqlite")).items():
        assert text.startswith("-- "), f"{name} says what it is for"
        statement = QUERIES.sql(name)
        if name in FRAGMENTS:
            statement = f"SELECT 1 FROM documents_active d WHERE {statement}"
        apsw.ext.query_info(db, statement)
        assert f'"{name}"' in code, f"{name} is used"


def test_the_columns_of_a_query_stand_in_the_order_of_the_fields_they_fill() -> None:
    db = in_memory()
    for migration in migrations():
        db.execute(migration.up)
    checked = 0
    for module in pkgutil.iter_modules(topics.__path__, f"{topics.__name__}."):
        topic = importlib.import_module(module.name)
        code = inspect.getsource(topic)
        for kind, name in re.findall(r'db\.(?:all|one)\((\w+), "(\w+)"', code):
            filled = [field.name for field in dataclasses.fields(getattr(topic, kind))]
            columns = [column[0] for column in apsw.ext.query_info(db, QUERIES.sql(name)).description]
            # A column that has the name of a field is that field; others are put together from several.
            wrong = [
                one for one, field in zip(columns, filled, strict=False) if one in filled and one != field
            ]
            assert wrong == [], f"{name} for {kind}"
            checked += 1
    assert checked > 15


async def test_a_fresh_file_is_made_with_its_folders(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "rowen.db"
    store = SqliteStore(path)
    await store.close()
    assert path.exists()


async def test_a_connection_keeps_eight_megabytes_of_pages_whether_it_reads_or_writes(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "rowen.db")
    database.open()

    def pages_kb(db: SqliteTransaction) -> int:
        return -int(db.connection.execute("PRAGMA cache_size").get)

    assert (await database.read(pages_kb), await database.write(pages_kb)) == (8_000, 8_000)
    await database.close()


async def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear reader, " * 200)
    with pytest.raises(StoreUnusable, match="not a database"):
        SqliteStore(path)
    assert path.read_text() == "Dear reader, " * 200


async def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    apsw.Connection(str(path)).execute("CREATE TABLE theirs (x)")
    before = path.read_bytes()
    with pytest.raises(StoreUnusable, match="a database of another program"):
        SqliteStore(path)
    assert path.read_bytes() == before


async def test_a_store_of_a_newer_rowen_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "rowen.db"
    await SqliteStore(path).close()
    apsw.Connection(str(path)).execute("PRAGMA user_version = 9999")
    with pytest.raises(StoreUnusable, match="made by a newer Rowen"):
        SqliteStore(path)


async def test_a_folder_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreUnusable, match="cannot be opened"):
        SqliteStore(tmp_path)


async def test_a_locked_database_is_reported_and_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "rowen.db"
    store = SqliteStore(path, busy_timeout_s=0.05)
    source = await a_source(store)
    await a_generation(store, source, {"https://d.example/a": "a"})
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreBusy, match="locked by another process"):
        await a_generation(store, source, {"https://d.example/b": "b"})
    assert len(await visible(store, source)) == 1, "readers do not wait for writers"
    other.execute("ROLLBACK")
    await a_generation(store, source, {"https://d.example/b": "b"})
    assert len(await visible(store, source)) == 2
    await store.close()
    other.close()


async def test_a_full_disk_is_reported_and_the_old_state_stays(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "rowen.db")
    source = await a_source(store)
    await a_generation(store, source, {"https://d.example/a": "a"})

    def no_more_pages(db: apsw.Connection) -> None:
        db.execute(f"PRAGMA max_page_count = {db.execute('PRAGMA page_count').get}")

    await store.database.outside_transaction(no_more_pages)
    with pytest.raises(StoreFull, match="the disk is full"):
        await a_generation(store, source, {f"https://d.example/{n}": f"{n} " * 5000 for n in range(50)})
    assert len(await visible(store, source)) == 1
    await store.database.outside_transaction(lambda db: db.execute("PRAGMA max_page_count = 1000000"))
    await store.close()


async def test_a_store_on_a_full_disk_can_be_read_and_is_written_when_there_is_room(tmp_path: Path) -> None:
    path = tmp_path / "rowen.db"
    store = SqliteStore(path)
    source = await a_source(store)
    await a_generation(store, source, {"https://d.example/a": "a"})
    await store.close()
    with no_room_for_files_of(16_000):
        store = SqliteStore(path)
        assert len(await visible(store, source)) == 1
        with pytest.raises(StoreFull, match="the disk is full"):
            await a_generation(store, source, {"https://d.example/b": "b"})
    await a_generation(store, source, {"https://d.example/b": "b"})
    assert len(await visible(store, source)) == 2
    await store.close()


@contextmanager
def no_room_for_files_of(size: int) -> Iterator[None]:
    """A limit that the index of the log, which lies beside a store, does not keep to."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_two_processes_may_make_the_same_file_at_once(tmp_path: Path) -> None:
    path = tmp_path / "rowen.db"
    one, two = SqliteDatabase(path), SqliteDatabase(path)
    one.open()
    two.open()
    assert one.path == two.path
