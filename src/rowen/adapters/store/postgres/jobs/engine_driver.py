"""The engine's way to the database, with a connection of its own for listening.

On one connection, waiting for an announcement keeps all queries waiting: each query of the
engine would wait for up to a second, and a worker take one or two tickets in it. A connection that stops
listening is replaced here, while tickets are under way; without it they are found by looking, later.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import psycopg
from pgqueuer.adapters.drivers.psycopg import PsycopgDriver
from psycopg.sql import SQL, Identifier

from rowen.errors import RowenError

LISTEN_AGAIN_S = 1.0

Connect = Callable[[], Awaitable[psycopg.AsyncConnection]]


class EngineDriver(PsycopgDriver):
    def __init__(
        self, listening: psycopg.AsyncConnection, working: psycopg.AsyncConnection, connect: Connect
    ) -> None:
        """The one that listens belongs to the driver; `connect` opens another in its place."""
        super().__init__(listening)
        self._queries = PsycopgDriver(working)
        self._connect = connect

    async def fetch(self, query: str, *args: object) -> list[dict[str, object]]:
        return await self._queries.fetch(query, *args)

    async def execute(self, query: str, *args: object) -> str:
        return await self._queries.execute(query, *args)

    async def watch_notifies(self) -> None:
        while not self.shutdown.is_set():
            try:
                await super().watch_notifies()
            except psycopg.Error:
                await self._listen_again()

    async def close(self) -> None:
        with suppress(psycopg.Error):
            await self._connection.close()

    async def _listen_again(self) -> None:
        while not self.shutdown.is_set():
            await self.close()
            try:
                self._connection = await self._connect()
                for channel in self._listeners:
                    await self._connection.execute(SQL("LISTEN {}").format(Identifier(channel)))
                return
            except (psycopg.Error, RowenError, OSError):
                with suppress(TimeoutError):
                    await asyncio.wait_for(self.shutdown.wait(), LISTEN_AGAIN_S)
