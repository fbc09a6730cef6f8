"""The engine's way to the database: waiting for announcements keeps no query waiting."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import psycopg
import pytest

from rowen.adapters.store.postgres.jobs.engine_driver import EngineDriver
from tests.support.postgres import Server
from tests.support.waiting import until

pytestmark = pytest.mark.anyio


@pytest.fixture
async def driver(postgres: Server) -> AsyncIterator[EngineDriver]:
    async def connect() -> psycopg.AsyncConnection:
        return await psycopg.AsyncConnection.connect(postgres.url, autocommit=True)

    async with await connect() as working, EngineDriver(await connect(), working, connect) as made:
        yield made
    await made.close()


async def test_a_question_is_answered_while_announcements_are_waited_for(driver: EngineDriver) -> None:
    async with driver._connection.lock:  # as it is while the driver listens
        assert await driver.fetch("SELECT 1 AS one") == [{"one": 1}]
        assert await driver.execute("SELECT 1") == "SELECT 1"


async def test_what_one_connection_announces_the_other_hears(driver: EngineDriver) -> None:
    heard: asyncio.Queue[str | bytes | bytearray] = asyncio.Queue()
    await driver.add_listener("a channel", heard.put_nowait)
    await driver.notify("a channel", "news")
    assert await heard.get() == "news"


async def test_a_connection_that_stopped_listening_is_replaced(driver: EngineDriver) -> None:
    heard: asyncio.Queue[str | bytes | bytearray] = asyncio.Queue()
    await driver.add_listener("a channel", heard.put_nowait)
    await driver.fetch("SELECT pg_terminate_backend($1)", driver._connection.info.backend_pid)

    async def hears() -> bool:
        await driver.notify("a channel", "news")
        return not heard.empty()

    await until(hears)
