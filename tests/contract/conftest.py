"""What every database must pass, unchanged. A second one joins by adding itself to `STORES`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rowen.adapters.store.postgres.store import PostgresStore
from rowen.ports.store.store import Store
from tests.support.postgres import Server
from tests.support.stores import a_postgres_schema, a_sqlite_file, a_sqlite_store

Opened = Callable[[pytest.FixtureRequest], Iterator[Store]]


def _sqlite(request: pytest.FixtureRequest) -> Iterator[Store]:
    folder: Path = request.getfixturevalue("tmp_path")
    yield a_sqlite_store(folder / "rowen.db")


def _postgres(request: pytest.FixtureRequest) -> Iterator[Store]:
    server: Server = request.getfixturevalue("postgres")
    folder: Path = request.getfixturevalue("tmp_path")
    with a_postgres_schema(server) as schema:
        yield PostgresStore(server.url, schema=schema, cache=folder / "cache")


STORES: dict[str, Opened] = {"postgres": _postgres, "sqlite": _sqlite}


@pytest.fixture(params=sorted(STORES))
async def store(request: pytest.FixtureRequest) -> AsyncIterator[Store]:
    with contextmanager(STORES[request.param])(request) as opened:
        yield opened
        await opened.close()


Engine = Callable[[pytest.FixtureRequest], Iterator[str]]


def _table(request: pytest.FixtureRequest) -> Iterator[str]:
    folder: Path = request.getfixturevalue("tmp_path")
    yield f"sqlite:///{a_sqlite_file(folder / 'rowen.db')}"


def _pgqueuer(request: pytest.FixtureRequest) -> Iterator[str]:
    server: Server = request.getfixturevalue("postgres")
    with a_postgres_schema(server) as schema:
        yield f"{server.url}&schema={schema}"


ENGINES: dict[str, Engine] = {"postgres": _pgqueuer, "sqlite": _table}
"""What carries tickets, by the address of a store that has it."""


@pytest.fixture(params=sorted(ENGINES))
def engine(request: pytest.FixtureRequest) -> Iterator[str]:
    with contextmanager(ENGINES[request.param])(request) as url:
        yield url
