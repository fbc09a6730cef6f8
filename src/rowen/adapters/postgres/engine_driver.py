"""The engine's way to the database, with a connection of its own for listening.

On one connection, whoever waits for an announcement keeps everybody else from asking: each query of the
engine would wait for up to a second, and a worker take one or two tickets in it.
"""

from __future__ import annotations

import psycopg
from pgqueuer.adapters.drivers.psycopg import PsycopgDriver


class EngineDriver(PsycopgDriver):
    def __init__(self, listening: psycopg.AsyncConnection, working: psycopg.AsyncConnection) -> None:
        super().__init__(listening)
        self._queries = PsycopgDriver(working)

    async def fetch(self, query: str, *args: object) -> list[dict[str, object]]:
        return await self._queries.fetch(query, *args)

    async def execute(self, query: str, *args: object) -> str:
        return await self._queries.execute(query, *args)
