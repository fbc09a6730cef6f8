"""What can go wrong with a server: refused, lost, restarted, locked, full. And no password is ever said."""

from __future__ import annotations

import traceback
from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest

from rowen.adapters.store.postgres.failures import CLASSES, CODES, Verdict, translated, verdict
from rowen.adapters.store.postgres.store import PostgresStore
from rowen.adapters.store.postgres.transaction import PostgresTransaction
from rowen.errors import RowenError, StoreBusy, StoreFull, StoreUnreachable, StoreUnusable
from tests.contract.helpers import NOW, a_generation, a_source, visible
from tests.support.postgres import GUARDED, Server, own_server
from tests.support.stores import a_postgres_schema

pytestmark = pytest.mark.anyio

A, B = "https://docs.example/a", "https://docs.example/b"
SECRET = "hunter2"


@pytest.fixture
async def store(postgres: Server) -> AsyncIterator[PostgresStore]:
    with a_postgres_schema(postgres) as schema:
        opened = PostgresStore(f"{postgres.url}&application_name={schema}", schema=schema, busy_timeout_s=0.1)
        yield opened
        await opened.close()


def its_schema(store: PostgresStore) -> str:
    return store.database.schema


def every_class(root: type[psycopg.Error]) -> list[type[psycopg.Error]]:
    return [root, *(found for below in root.__subclasses__() for found in every_class(below))]


def test_every_error_of_the_driver_has_a_verdict() -> None:
    classes = every_class(psycopg.Error)
    codes = {found.sqlstate for found in classes if found.sqlstate}
    assert len(codes) > 200
    assert {code[:2] for code in codes} == set(CLASSES), "a class of errors without a verdict"
    assert set(CODES) <= codes
    for found in classes:
        error = found("said")
        meaning = verdict(error)
        ours = translated(error, "store", timeout_s=5)
        assert (ours is None) == (meaning is Verdict.BUG)
        if meaning is Verdict.FULL:
            assert isinstance(ours, StoreFull)


@pytest.mark.parametrize(
    ("error", "ours"),
    [
        (psycopg.errors.LockNotAvailable, StoreBusy),
        (psycopg.errors.SerializationFailure, StoreBusy),
        (psycopg.errors.AdminShutdown, StoreUnreachable),
        (psycopg.errors.TooManyConnections, StoreBusy),
        (psycopg.OperationalError, StoreUnreachable),
        (psycopg.errors.DiskFull, StoreFull),
        (psycopg.errors.InvalidPassword, StoreUnusable),
        (psycopg.errors.InsufficientPrivilege, StoreUnusable),
        (psycopg.errors.ReadOnlySqlTransaction, StoreUnusable),
        (psycopg.errors.DataCorrupted, StoreUnusable),
    ],
)
def test_what_errors_mean_to_the_caller(error: type[psycopg.Error], ours: type[RowenError]) -> None:
    assert isinstance(translated(error("said"), "store", timeout_s=5), ours)


def everything_said(caught: pytest.ExceptionInfo[RowenError]) -> str:
    error = caught.value
    return f"{error} {error.hint} {error.facts} {''.join(traceback.format_exception(error))}"


async def test_a_wrong_password_is_said_and_not_shown(postgres: Server) -> None:
    with postgres.connect() as db:
        db.execute(f"CREATE ROLE {GUARDED} LOGIN PASSWORD 'right'")
        try:
            with pytest.raises(
                StoreUnusable, match="refused the connection: password authentication"
            ) as caught:
                PostgresStore(postgres.url_of(GUARDED, password=SECRET))
        finally:
            db.execute(f"DROP ROLE {GUARDED}")
    assert SECRET not in everything_said(caught)


async def test_a_missing_database_or_user_is_said(postgres: Server) -> None:
    with pytest.raises(StoreUnusable, match='database "nowhere" does not exist'):
        PostgresStore(postgres.url_of("postgres", database="nowhere"))
    with pytest.raises(StoreUnusable, match='role "nobody_here" does not exist'):
        PostgresStore(postgres.url_of("nobody_here"))


async def test_a_server_that_is_not_there_is_busy_not_broken(tmp_path: Path) -> None:
    with pytest.raises(StoreUnreachable, match="cannot be reached") as caught:
        PostgresStore(f"postgresql://me:{SECRET}@/db?host={tmp_path}")
    assert SECRET not in everything_said(caught)


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://me:{SECRET}@{SECRET}@host/db",
        f"postgresql://me:{SECRET}/{SECRET}@host/db",
        f"postgresql://me:a?{SECRET}@host/db",
        f"postgresql://me:{SECRET}@host:{SECRET}/db",
        f"postgresql://me@host/db?password={SECRET}&nonsense={SECRET}",
        f"postgresql://me:%zz{SECRET}@host/db",
        f"postgresql://me:[{SECRET}@host/db",
    ],
)
def test_an_address_with_a_mistake_in_it_shows_no_password(url: str) -> None:
    with pytest.raises(StoreUnusable) as caught:
        PostgresStore(url)
    assert SECRET not in everything_said(caught)


async def test_a_lost_connection_is_made_again(store: PostgresStore, postgres: Server) -> None:
    source = await a_source(store)
    await a_generation(store, source, {A: "a"})
    for _ in range(2):
        with postgres.connect() as db:
            db.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s",
                (its_schema(store),),
            )
        assert len(await visible(store, source)) == 1
    await a_generation(store, source, {B: "b"})
    assert len(await visible(store, source)) == 2


async def test_a_unit_whose_connection_the_server_ended_before_its_commit_is_done_again(
    store: PostgresStore, postgres: Server
) -> None:
    source, tries = await a_source(store), 0

    def unit(t: PostgresTransaction) -> None:
        nonlocal tries
        tries += 1
        t.connection.execute("UPDATE sources SET consecutive_failures = consecutive_failures + 1")
        if tries == 1:
            with postgres.connect() as db:
                db.execute("SELECT pg_terminate_backend(%s, 5000)", (t.connection.info.backend_pid,))

    await store.database.write(unit)
    assert tries == 2
    assert (await store.source(source.id)).consecutive_failures == 1


async def test_a_connection_lost_in_the_middle_is_said_and_nothing_is_half_written(
    store: PostgresStore, postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each try is cut off, so the patience with a server that restarts would only be waited out.
    monkeypatch.setattr(store.database, "_patience_s", 0.5)
    source = await a_source(store)
    await a_generation(store, source, {A: "a"})
    schema = its_schema(store)
    with postgres.connect() as db:
        db.execute(
            f"CREATE FUNCTION {schema}.hang_up() RETURNS trigger LANGUAGE plpgsql AS"
            " 'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END'"
        )
        db.execute(
            f"CREATE TRIGGER t BEFORE INSERT ON {schema}.documents EXECUTE FUNCTION {schema}.hang_up()"
        )
        with pytest.raises(StoreBusy):
            await a_generation(store, source, {B: "b"})
        db.execute(f"DROP TRIGGER t ON {schema}.documents")
    assert len(await visible(store, source)) == 1
    (lease,) = await store.leases_like("source:")
    await store.release_lease(lease)
    await a_generation(store, source, {B: "b"})
    assert len(await visible(store, source)) == 2


@pytest.mark.torture
async def test_a_restarted_server_is_used_again_and_a_stopped_one_is_waited_for() -> None:
    with own_server() as (server, postmaster):
        store = PostgresStore(server.url)
        source = await a_source(store)
        await a_generation(store, source, {A: "a"})
        postmaster.stop()
        with pytest.raises(StoreBusy):
            await store.sources()
        postmaster.start()
        assert await visible(store, source)
        await a_generation(store, source, {B: "b"})
        await store.close()


async def test_a_locked_table_is_reported_and_readers_do_not_wait(
    store: PostgresStore, postgres: Server
) -> None:
    source = await a_source(store)
    await a_generation(store, source, {A: "a"})
    with postgres.connect() as other, other.transaction():
        other.execute(f"LOCK TABLE {its_schema(store)}.handoffs IN SHARE ROW EXCLUSIVE MODE")
        with pytest.raises(StoreBusy, match=r"locked by another process for more than 0\.1 s"):
            await a_generation(store, source, {B: "b"})
        assert len(await visible(store, source)) == 1
    (lease,) = await store.leases_like("source:")
    await store.release_lease(lease)
    await a_generation(store, source, {B: "b"})
    assert len(await visible(store, source)) == 2


async def test_a_full_disk_is_reported_and_the_old_state_stays(
    store: PostgresStore, postgres: Server
) -> None:
    source = await a_source(store)
    await a_generation(store, source, {A: "a"})
    schema = its_schema(store)
    with postgres.connect() as db:
        db.execute(
            f"CREATE FUNCTION {schema}.no_room() RETURNS trigger LANGUAGE plpgsql AS"
            " 'BEGIN RAISE disk_full; END'"
        )
        db.execute(f"CREATE TRIGGER t BEFORE INSERT ON {schema}.contents EXECUTE FUNCTION {schema}.no_room()")
    with pytest.raises(StoreFull, match="disk is full; what was visible before is unchanged"):
        await a_generation(store, source, {B: "b"})
    assert len(await visible(store, source)) == 1


async def test_a_mistake_of_ours_keeps_its_own_name(store: PostgresStore) -> None:
    with pytest.raises(psycopg.errors.ForeignKeyViolation):
        await store.request_sync(4711, only=None, reason="test", now=NOW)
