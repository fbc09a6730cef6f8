"""Tickets in SQLite: a table, from which each worker claims a few at a time.

For processes on one machine. A new ticket is not announced; a worker that waits looks again after a moment.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from rowen.adapters.store.shared.values import json_in, maybe_time_in
from rowen.adapters.store.sqlite.database import SqliteDatabase
from rowen.errors import RowenError
from rowen.eventloop import asyncio
from rowen.ports.clock import Clock
from rowen.ports.dispatcher import Backlog, Done, Handler, Later, Ticket

LOOK_AGAIN_S = 0.5
AFTER_A_BUG_S = 30.0
LATEST_S = 3600.0
"""No ticket is put off or held for longer."""

if TYPE_CHECKING:
    import logging


def _log() -> logging.Logger:
    import logging  # takes long to import, and `rowen status` asks for the backlog alone

    return logging.getLogger(__name__)


class SqliteDispatcher:
    def __init__(self, database: SqliteDatabase, clock: Clock, *, owner: str, held_s: float = 30.0) -> None:
        self._db = database
        self._clock = clock
        self._owner = owner
        self._held_s = held_s

    async def submit(
        self,
        task: str,
        payloads: Sequence[Mapping[str, Any]],
        *,
        delay_s: float = 0.0,
        priority: int = 0,
    ) -> None:
        due = self._clock.now() + timedelta(seconds=delay_s)
        await self._db.write(lambda db: db.submit(task, payloads, now=due, priority=priority))

    async def run(self, handlers: Mapping[str, Handler], *, concurrency: int, stop: asyncio.Event) -> None:
        working: dict[asyncio.Task[None], int] = {}
        heartbeat = asyncio.create_task(self._beat(working))
        try:
            while not stop.is_set():
                free = concurrency - len(working)
                for ticket in await self._claim(list(handlers), free) if free else ():
                    task = asyncio.create_task(self._handle(handlers[ticket.task], ticket))
                    working[task] = ticket.id
                    task.add_done_callback(lambda done: working.pop(done, None))
                await self._pause(working, stop, full=len(working) >= concurrency)
            if working:
                await asyncio.wait(list(working))
        finally:
            heartbeat.cancel()
            for task in list(working):
                task.cancel()
            await asyncio.gather(*working, return_exceptions=True)

    async def backlog(self) -> Backlog:
        ((waiting, running, oldest),) = await self._db.read(
            lambda db: db.rows("jobs_backlog", now=self._clock.now())
        )
        return Backlog(waiting=waiting, running=running, oldest_at=maybe_time_in(oldest))

    async def outstanding(self, task: str) -> list[Mapping[str, Any]]:
        rows = await self._db.read(lambda db: db.rows("jobs_outstanding", task=task))
        return [json_in(row[0]) for row in rows]

    async def _claim(self, tasks: Sequence[str], limit: int) -> list[Ticket]:
        held = self._held()
        latest = held["now"] + timedelta(seconds=LATEST_S)
        values = {"owner": self._owner, "tasks": list(tasks), "limit": limit, "latest": latest, **held}
        try:
            rows = await self._db.write(lambda db: db.rows("jobs_claim", **values))
        except RowenError as exc:
            # A database that is busy or full now is asked again.
            _log().warning("tickets_not_claimed error=%s", exc.message)
            return []
        return [Ticket(id=row[0], task=row[1], payload=json_in(row[2])) for row in sorted(rows)]

    async def _handle(self, handler: Handler, ticket: Ticket) -> None:
        try:
            answer = await handler(ticket)
        except asyncio.CancelledError:
            await asyncio.shield(self._back(ticket, 0.0))
            raise
        except Exception:
            _log().exception("ticket_failed task=%s id=%s", ticket.task, ticket.id)
            answer = Later(AFTER_A_BUG_S, "error")
        try:
            if isinstance(answer, Done):
                await self._db.write(lambda db: db.write("job_done", job=ticket.id, owner=self._owner))
            else:
                await self._back(ticket, answer.seconds)
        except RowenError as exc:
            # It comes back when our hold on it ends, and is found to be done.
            _log().warning("ticket_not_settled task=%s id=%s error=%s", ticket.task, ticket.id, exc.message)

    async def _back(self, ticket: Ticket, seconds: float) -> None:
        due = self._clock.now() + timedelta(seconds=seconds)
        await self._db.write(lambda db: db.write("job_later", job=ticket.id, owner=self._owner, due=due))

    async def _beat(self, working: Mapping[asyncio.Task[None], int]) -> None:
        while True:
            await self._clock.sleep(self._held_s / 3)
            if working:
                with contextlib.suppress(RowenError):
                    await self._renew(list(working.values()))

    async def _renew(self, ids: list[int]) -> None:
        await self._db.write(lambda db: db.write("jobs_renew", owner=self._owner, ids=ids, **self._held()))

    def _held(self) -> dict[str, datetime]:
        """Now, and when our hold on a ticket ends unless we renew it."""
        now = self._clock.now()
        return {"now": now, "expires": now + timedelta(seconds=self._held_s)}

    async def _pause(
        self, working: Mapping[asyncio.Task[None], int], stop: asyncio.Event, *, full: bool
    ) -> None:
        """Until there may be something to do: a ticket ended, `stop` is set, or a moment passed."""
        stopping = asyncio.ensure_future(stop.wait())
        looking = None if full else asyncio.ensure_future(self._clock.sleep(LOOK_AGAIN_S))
        events = {stopping, *working, *([looking] if looking else [])}
        await asyncio.wait(events, return_when=asyncio.FIRST_COMPLETED)
        for waiting in (stopping, looking):
            if waiting is not None:
                waiting.cancel()
