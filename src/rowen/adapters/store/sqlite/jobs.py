"""Tickets in SQLite: a table, claimed a few at a time by whoever runs.

For processes on one machine. Nobody is told of a new ticket; whoever waits looks again after a moment.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import apsw

from rowen.adapters.store.sqlite.database import Database
from rowen.adapters.store.sqlite.queries import sql
from rowen.adapters.store.sqlite.rows import (
    ids_parameter,
    json_in,
    json_out,
    texts_parameter,
    time_in,
    time_out,
)
from rowen.errors import RowenError
from rowen.ports.clock import Clock
from rowen.ports.dispatcher import Backlog, Done, Handler, Later, Ticket

LOOK_AGAIN_S = 0.5
AFTER_A_BUG_S = 30.0

log = logging.getLogger(__name__)


class SqliteDispatcher:
    def __init__(self, database: Database, clock: Clock, *, owner: str, held_s: float = 30.0) -> None:
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
        await self._db.write(submit, task, payloads, due, priority)

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
        return await self._db.read(_backlog, self._clock.now())

    async def outstanding(self, task: str) -> list[Mapping[str, Any]]:
        return await self._db.read(_outstanding, task)

    async def _claim(self, tasks: Sequence[str], limit: int) -> list[Ticket]:
        try:
            return await self._db.write(_claim, self._owner, tasks, limit, *self._now())
        except RowenError as exc:
            # A database that is busy or full now is asked again.
            log.warning("tickets_not_claimed error=%s", exc.message)
            return []

    async def _handle(self, handler: Handler, ticket: Ticket) -> None:
        try:
            answer = await handler(ticket)
        except asyncio.CancelledError:
            await asyncio.shield(self._back(ticket, 0.0))
            raise
        except Exception:
            log.exception("ticket_failed task=%s id=%s", ticket.task, ticket.id)
            answer = Later(AFTER_A_BUG_S, "error")
        try:
            if isinstance(answer, Done):
                await self._db.write(_done, ticket.id, self._owner)
            else:
                await self._back(ticket, answer.seconds)
        except RowenError as exc:
            # It comes back when our hold on it ends, and is found to be done.
            log.warning("ticket_not_settled task=%s id=%s error=%s", ticket.task, ticket.id, exc.message)

    async def _back(self, ticket: Ticket, seconds: float) -> None:
        due = self._clock.now() + timedelta(seconds=seconds)
        await self._db.write(_later, ticket.id, self._owner, due)

    async def _beat(self, working: Mapping[asyncio.Task[None], int]) -> None:
        while True:
            await self._clock.sleep(self._held_s / 3)
            if working:
                with contextlib.suppress(RowenError):
                    await self._db.write(_renew, self._owner, list(working.values()), *self._now())

    def _now(self) -> tuple[datetime, datetime]:
        """Now, and when our hold on a ticket ends unless we say that we live."""
        now = self._clock.now()
        return now, now + timedelta(seconds=self._held_s)

    async def _pause(
        self, working: Mapping[asyncio.Task[None], int], stop: asyncio.Event, *, full: bool
    ) -> None:
        """Until there may be something to do: a ticket ended, somebody stops us, or a moment passed."""
        stopping = asyncio.ensure_future(stop.wait())
        looking = None if full else asyncio.ensure_future(self._clock.sleep(LOOK_AGAIN_S))
        events = {stopping, *working, *([looking] if looking else [])}
        await asyncio.wait(events, return_when=asyncio.FIRST_COMPLETED)
        for waiting in (stopping, looking):
            if waiting is not None:
                waiting.cancel()


def submit(
    db: apsw.Connection, task: str, payloads: Sequence[Mapping[str, Any]], due: datetime, priority: int
) -> None:
    """On an open transaction: the tickets are there when it is, and not before."""
    db.executemany(
        sql("job_insert"), ((task, json_out(payload), priority, time_out(due)) for payload in payloads)
    )


def forget(db: apsw.Connection, task: str, run_id: int) -> None:
    """A run is over: what is left of its tickets of this task goes."""
    db.execute(sql("jobs_forget"), (task, run_id))


def _claim(
    db: apsw.Connection, owner: str, tasks: Sequence[str], limit: int, now: datetime, expires: datetime
) -> list[Ticket]:
    values = {
        "owner": owner,
        "tasks": texts_parameter(tasks),
        "limit": limit,
        "now": time_out(now),
        "expires": time_out(expires),
    }
    rows: list[Any] = db.execute(sql("jobs_claim"), values).fetchall()
    found = [Ticket(id=row[0], task=row[1], payload=json_in(row[2])) for row in rows]
    return sorted(found, key=lambda ticket: ticket.id)


def _renew(db: apsw.Connection, owner: str, ids: Sequence[int], now: datetime, expires: datetime) -> None:
    values = {"owner": owner, "ids": ids_parameter(ids), "now": time_out(now), "expires": time_out(expires)}
    db.execute(sql("jobs_renew"), values)


def _done(db: apsw.Connection, ticket_id: int, owner: str) -> None:
    db.execute(sql("job_done"), {"job": ticket_id, "owner": owner})


def _later(db: apsw.Connection, ticket_id: int, owner: str, due: datetime) -> None:
    db.execute(sql("job_later"), {"job": ticket_id, "owner": owner, "due": time_out(due)})


def _backlog(db: apsw.Connection, now: datetime) -> Backlog:
    waiting, running, oldest = db.execute(sql("jobs_backlog"), {"now": time_out(now)}).get
    return Backlog(waiting=waiting, running=running, oldest_at=time_in(oldest))


def _outstanding(db: apsw.Connection, task: str) -> list[Mapping[str, Any]]:
    return [json_in(row[0]) for row in db.execute(sql("jobs_outstanding"), (task,))]
