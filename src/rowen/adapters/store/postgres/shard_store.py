"""`PostgresShards`: the part of the store that keeps the pages workers ask for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from rowen.adapters.store.postgres import shards
from rowen.adapters.store.postgres.database import Database
from rowen.core.lease import Lease
from rowen.core.run import Run
from rowen.ports.store.shards import Question


class PostgresShards:
    _db: Database

    async def ask_pages(
        self, lease: Lease, run: Run, host: str, questions: Sequence[Mapping[str, Any]], *, now: datetime
    ) -> list[int]:
        return await self._db.write(shards.ask_pages, lease, run, host, questions, now)

    async def take_pages(self, lease: Lease, run: Run, host: str, turn: int, *, limit: int) -> list[Question]:
        return await self._db.write(shards.take_pages, lease, run, host, turn, limit)

    async def pass_turn(self, lease: Lease, run: Run, host: str, turn: int, *, now: datetime) -> None:
        await self._db.write(shards.pass_turn, lease, run, host, turn, now)

    async def seize_turn(self, lease: Lease, run: Run, host: str, *, begun: bool) -> int:
        return await self._db.write(shards.seize_turn, lease, run, host, begun)

    async def answer_pages(self, lease: Lease, run: Run, answers: Mapping[int, Mapping[str, Any]]) -> None:
        await self._db.write(shards.answer_pages, lease, run, answers)

    async def take_answers(self, lease: Lease, run: Run) -> dict[int, dict[str, Any]]:
        return await self._db.write(shards.take_answers, lease, run)
