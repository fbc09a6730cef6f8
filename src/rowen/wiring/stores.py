"""Stores of both databases by their address, and what copying, checking and rescuing them needs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rowen.adapters.system import SystemClock, is_dead, owner
from rowen.config import (
    Config,
)
from rowen.errors import ConfigError, UserError
from rowen.places import cache_path, default_store_path
from rowen.project_file import SQLITE

if TYPE_CHECKING:
    from rowen.adapters.store.shared.store import SharedStore
    from rowen.managing.check_store import CheckPorts
    from rowen.managing.copy_store import CopyPorts, Side
    from rowen.managing.rescue_store import RescuePorts
    from rowen.ports.database.schema import Schema
    from rowen.ports.store.notes import Notes
    from rowen.ports.store.store import Store

READ_ONLY = "?mode=ro"
"""At the end of the address of a file that must not be written."""


def is_postgres(config: Config) -> bool:
    return config.store.url.startswith(("postgresql://", "postgres://"))


def store_name(config: Config) -> str:
    """The store as it may be shown: without options, which may hold a password too."""
    if not is_postgres(config):
        return str(store_path(config))
    from rowen.adapters.store.postgres.address import read_address

    address = read_address(config.store.url)
    return f"{address.shown}?schema={address.schema}"


def store_path(config: Config) -> Path:
    """The file of a store on SQLite."""
    url = config.store.url
    if not url:
        return default_store_path()
    path = url.removeprefix(SQLITE).removesuffix(READ_ONLY)
    if url.startswith(SQLITE) and path not in ("", ":memory:"):
        return Path(path).absolute()
    if "://" in url:
        # The rest of such an address may hold a password.
        raise ConfigError(
            f"store `{url.partition('://')[0]}://...`: not a store this version knows",
            hint="use `sqlite:///path/to/rowen.db` or `postgresql://user@host/database`",
        )
    if "=" in url:
        # The driver's own form; it may hold a password.
        raise ConfigError(
            "store: not an address of a store", hint="write it as `postgresql://user@host/database`"
        )
    raise ConfigError(f"store `{url}`: not an address of a store", hint=f"did you mean `sqlite:///{url}`?")


def open_store(config: Config, *, create: bool = True, alone: bool = False) -> Store:
    """Raises `NotFound` for a store that is not there, unless it may be created.

    `alone`: the caller does one thing after the other, and waits for the store in its own thread.
    """
    store = _opened(config, create)
    if alone:
        store.read_at_once()
    return store


def _opened(config: Config, create: bool) -> SharedStore:
    busy_timeout_s, auto_upgrade = config.store.busy_timeout_s, config.store.auto_upgrade
    if is_postgres(config):
        from rowen.adapters.store.postgres.store import PostgresStore

        return PostgresStore(
            config.store.url,
            busy_timeout_s=busy_timeout_s,
            create=create,
            auto_upgrade=auto_upgrade,
            cache=cache_path() / "search",
        )
    from rowen.adapters.store.sqlite.store import SqliteStore

    read_only = config.store.url.endswith(READ_ONLY)
    path = store_path(config)
    return SqliteStore(
        path,
        busy_timeout_s=busy_timeout_s,
        create=create and not read_only,
        read_only=read_only,
        auto_upgrade=auto_upgrade,
    )


@asynccontextmanager
async def open_schema(config: Config) -> AsyncIterator[Schema]:
    """The schema of a store that exists, as it is: unlike `open_store` this upgrades nothing."""
    busy_timeout_s, now = config.store.busy_timeout_s, SystemClock().now
    schema: SqliteSchema | PostgresSchema
    if is_postgres(config):
        from rowen.adapters.store.postgres.schema import PostgresSchema

        schema = PostgresSchema(config.store.url, busy_timeout_s=busy_timeout_s, now=now, is_dead=is_dead)
    else:
        from rowen.adapters.store.sqlite.schema import SqliteSchema

        schema = SqliteSchema(store_path(config), busy_timeout_s=busy_timeout_s, now=now, is_dead=is_dead)
    try:
        yield schema
    finally:
        await schema.close()


@asynccontextmanager
async def open_copy(source: Config, target: Config) -> AsyncIterator[CopyPorts]:
    """Two stores, the first of which must exist. Unlike `open_ports` this opens a half-copied one too."""
    from rowen.managing.copy_store import CopyPorts

    async with _open_side(source, create=False) as from_side, _open_side(target) as to_side:
        yield CopyPorts(source=from_side, target=to_side, clock=SystemClock(), owner=owner(), is_dead=is_dead)


@asynccontextmanager
async def open_check(config: Config) -> AsyncIterator[CheckPorts]:
    """A store that exists, to be looked at and not changed."""
    from rowen.managing.check_store import CheckPorts

    if is_postgres(config):
        from rowen.adapters.store.postgres.checking import PostgresChecking
        from rowen.adapters.store.postgres.copying import PostgresCopying
        from rowen.adapters.store.postgres.database import PostgresDatabase

        server = PostgresDatabase(config.store.url, busy_timeout_s=config.store.busy_timeout_s)
        try:
            server.open(create=False, migrate=False)
            yield CheckPorts(checking=PostgresChecking(server), copying=PostgresCopying(server))
        finally:
            await server.close()
        return
    from rowen.adapters.store.sqlite.checking import SqliteChecking
    from rowen.adapters.store.sqlite.copying import SqliteCopying
    from rowen.adapters.store.sqlite.database import SqliteDatabase

    file = SqliteDatabase(
        store_path(config), busy_timeout_s=config.store.busy_timeout_s, create=False, read_only=True
    )
    try:
        file.open()
        yield CheckPorts(
            checking=SqliteChecking(file),
            copying=SqliteCopying(file),
            read_only=not file.can_be_written(),
        )
    finally:
        await file.close()


@contextmanager
def open_rescue(damaged: Config, target: Config) -> Iterator[RescuePorts]:
    """A damaged file and the place of a new one."""
    from rowen.managing.rescue_store import RescuePorts

    if is_postgres(damaged) or is_postgres(target):
        raise UserError(
            "a rescue reads a SQLite file and makes another",
            hint="a server restores its own backups; `rowen db copy` moves the rescued file into PostgreSQL",
        )
    from rowen.adapters.store.sqlite.rescue.rescue import SqliteRescue
    from rowen.adapters.store.sqlite.store import SqliteStore

    rescuing = SqliteRescue(store_path(damaged), store_path(target))

    @asynccontextmanager
    async def open_made() -> AsyncIterator[tuple[Notes, CheckPorts]]:
        from rowen.adapters.store.sqlite.checking import SqliteChecking
        from rowen.adapters.store.sqlite.copying import SqliteCopying
        from rowen.managing.check_store import CheckPorts

        store = SqliteStore(rescuing.made)
        try:
            yield (
                store,
                CheckPorts(
                    checking=SqliteChecking(store.database),
                    copying=SqliteCopying(store.database),
                ),
            )
        finally:
            await store.close()

    yield RescuePorts(
        source=store_name(damaged), target=store_name(target), rescuing=rescuing, open_made=open_made
    )


@asynccontextmanager
async def _open_side(config: Config, *, create: bool = True) -> AsyncIterator[Side]:
    store = open_store(config, create=create)
    try:
        yield _side(config, store)
    finally:
        await store.close()


def _side(config: Config, store: Store) -> Side:
    from rowen.managing.copy_store import Side

    if is_postgres(config):
        from rowen.adapters.store.postgres.copying import PostgresCopying
        from rowen.adapters.store.postgres.store import PostgresStore

        if not isinstance(store, PostgresStore):
            raise AssertionError("a store of another kind than its address says")
        return Side(name=store_name(config), store=store, copying=PostgresCopying(store.database))
    from rowen.adapters.store.sqlite.copying import SqliteCopying
    from rowen.adapters.store.sqlite.store import SqliteStore

    if not isinstance(store, SqliteStore):
        raise AssertionError("a store of another kind than its address says")
    return Side(name=store_name(config), store=store, copying=SqliteCopying(store.database))
