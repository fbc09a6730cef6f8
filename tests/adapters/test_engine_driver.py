"""The engine's way to the database: who waits for announcements keeps nobody from asking."""

from __future__ import annotations

import asyncio

import psycopg
import pytest

from rowen.adapters.postgres.engine_driver import EngineDriver
from tests.postgres import Server

pytestmark = pytest.mark.anyio


async def test_a_question_is_answered_while_announcements_are_waited_for(postgres: Server) -> None:
    async with (
        await psycopg.AsyncConnection.connect(postgres.url, autocommit=True) as listening,
        await psycopg.AsyncConnection.connect(postgres.url, autocommit=True) as working,
        EngineDriver(listening, working) as driver,
        listening.lock,
    ):  # as it is while somebody listens
        assert await driver.fetch("SELECT 1 AS one") == [{"one": 1}]
        assert await driver.execute("SELECT 1") == "SELECT 1"


async def test_what_one_connection_announces_the_other_hears(postgres: Server) -> None:
    heard: asyncio.Queue[str | bytes | bytearray] = asyncio.Queue()
    async with (
        await psycopg.AsyncConnection.connect(postgres.url, autocommit=True) as listening,
        await psycopg.AsyncConnection.connect(postgres.url, autocommit=True) as working,
        EngineDriver(listening, working) as driver,
    ):
        await driver.add_listener("a channel", heard.put_nowait)
        await driver.notify("a channel", "news")
        assert await heard.get() == "news"
