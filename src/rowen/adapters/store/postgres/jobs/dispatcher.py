"""Tickets on PostgreSQL, carried by PGQueuer between any number of machines.

What it would do by itself and we do not want: a handler's error ends a ticket (here it comes back), being
cancelled ends a ticket (here it is given back), a restart of the database ends the worker (here it is waited
for), and its log grows for ever (here it is pruned).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any, LiteralString, TypeVar

import orjson
import psycopg
from psycopg.sql import SQL, Identifier

from rowen.adapters.store.postgres.address import read_address
from rowen.adapters.store.postgres.failures import not_connected, translated
from rowen.adapters.store.postgres.jobs import engine
from rowen.errors import StoreBusy, TransientError
from rowen.ports.clock import Clock
from rowen.ports.dispatcher import Backlog, Done, Handler, Later, Ticket

if TYPE_CHECKING:
    from pgqueuer.core.qm import QueueManager
    from pgqueuer.domain.models import Job

AFTER_A_BUG_S = 30.0
LOOK_AGAIN_S = 5.0
"""New tickets announce themselves; this is for announcements that got lost."""
RECONNECT_S = 1.0
LONGEST_RECONNECT_S = 30.0
LOG_KEPT = "1 day"
PRUNE_S = 3600.0

log = logging.getLogger(__name__)

T = TypeVar("T")


class PgQueuerDispatcher:
    def __init__(self, url: str, clock: Clock, *, schema: str | None = None, held_s: float = 30.0) -> None:
        self._address = read_address(url, schema)
        self._clock = clock
        self._held_s = held_s

    async def submit(
        self,
        task: str,
        payloads: Sequence[Mapping[str, Any]],
        *,
        delay_s: float = 0.0,
        priority: int = 0,
    ) -> None:
        def unit(db: engine.Connection) -> None:
            engine.submit(db, self._address.schema, task, payloads, delay_s=delay_s, priority=priority)

        await self._unit(unit)

    async def run(self, handlers: Mapping[str, Handler], *, concurrency: int, stop: asyncio.Event) -> None:
        wait_s = RECONNECT_S
        while not stop.is_set():
            begun = self._clock.monotonic()
            try:
                await self._run_once(handlers, concurrency, stop)
                return
            except (psycopg.Error, TransientError, OSError) as exc:
                log.warning("tickets_interrupted store=%s error=%s", self._address.shown, exc)
            wait_s = RECONNECT_S if self._clock.monotonic() - begun > wait_s else wait_s * 2
            await _first(stop.wait(), self._clock.sleep(min(wait_s, LONGEST_RECONNECT_S)))

    async def backlog(self) -> Backlog:
        ((waiting, running, oldest),) = await self._rows(BACKLOG, held=timedelta(seconds=self._held_s))
        return Backlog(waiting=waiting, running=running, oldest_at=oldest)

    async def outstanding(self, task: str) -> list[Mapping[str, Any]]:
        return [orjson.loads(payload) for (payload,) in await self._rows(OUTSTANDING, task=task)]

    async def _run_once(self, handlers: Mapping[str, Handler], concurrency: int, stop: asyncio.Event) -> None:
        async with self._manager() as manager:
            room = _Room(handlers, concurrency, stop)
            for task in handlers:
                manager.entrypoint(task)(room.work)
            stopping = asyncio.create_task(_then(stop, manager.shutdown))
            pruning = asyncio.create_task(self._prune())
            running = asyncio.create_task(
                manager.run(
                    dequeue_timeout=timedelta(seconds=LOOK_AGAIN_S),
                    batch_size=1,
                    # It refuses less than two; the room lets in no more than are wanted.
                    max_concurrent_tasks=max(2, concurrency),
                    heartbeat_timeout=timedelta(seconds=self._held_s),
                )
            )
            try:
                await asyncio.shield(running)
            except asyncio.CancelledError:
                # The caller that cancels us wants an end now: what is under way is given back, not lost.
                room.leave()
                manager.shutdown.set()
                await asyncio.gather(running, return_exceptions=True)
                raise
            finally:
                stopping.cancel()
                pruning.cancel()

    @asynccontextmanager
    async def _manager(self) -> AsyncIterator[QueueManager]:
        settings = engine.engine_settings(self._address.schema)
        from pgqueuer.adapters.persistence import qb
        from pgqueuer.adapters.persistence.queries import Queries
        from pgqueuer.core.qm import QueueManager

        from rowen.adapters.store.postgres.jobs.engine_driver import EngineDriver

        async with AsyncExitStack() as stack:
            working = await stack.enter_async_context(await self._connection())
            driver = EngineDriver(await self._connection(), working, self._connection)
            stack.push_async_callback(driver.close)

            class Manager(QueueManager):
                async def verify_structure(self) -> None:
                    try:
                        await super().verify_structure()
                    except RuntimeError as exc:
                        # A backup that is being restored brings them back.
                        raise StoreBusy("the tables of tickets are not complete") from exc

            queries = Queries(
                driver,
                qbe=qb.QueryBuilderEnvironment(settings=settings),
                qbq=qb.QueryQueueBuilder(settings=settings),
                qbs=qb.QuerySchedulerBuilder(settings=settings),
            )
            yield Manager(queries, channel=settings.channel)

    async def _connection(self) -> psycopg.AsyncConnection:
        try:
            return await psycopg.AsyncConnection.connect(self._address.conninfo, autocommit=True)
        except psycopg.Error as exc:
            raise not_connected(exc, self._address.shown) from exc

    async def _prune(self) -> None:
        while True:
            with contextlib.suppress(psycopg.Error, TransientError):
                await self._rows(PRUNE, kept=LOG_KEPT)
            await self._clock.sleep(PRUNE_S)

    async def _unit(self, work: Callable[[engine.Connection], T]) -> T:
        def unit() -> T:
            try:
                with psycopg.connect(self._address.conninfo) as db:
                    return work(db)
            except psycopg.Error as exc:
                raise translated(exc, self._address.shown, timeout_s=0) or exc from exc

        return await asyncio.to_thread(unit)

    async def _rows(self, text: LiteralString, **values: Any) -> list[Any]:
        schema = self._address.schema
        tables = {"queue": Identifier(schema, "pgqueuer"), "log": Identifier(schema, "pgqueuer_log")}
        statement = SQL(text).format(**tables)

        def unit(db: engine.Connection) -> list[Any]:
            cursor = db.execute(statement, values)
            return cursor.fetchall() if cursor.description else []

        return await self._unit(unit)


class _Room:
    """Where tickets are worked on: so many at a time, and none is lost on the way out."""

    def __init__(self, handlers: Mapping[str, Handler], concurrency: int, stop: asyncio.Event) -> None:
        self._handlers = handlers
        self._places = asyncio.Semaphore(concurrency)
        self._stop = stop
        self._leaving = asyncio.Event()

    def leave(self) -> None:
        self._leaving.set()

    async def work(self, job: Job) -> None:
        from pgqueuer.domain.errors import RetryRequested

        async with self._places:
            if self._stop.is_set() or self._leaving.is_set():
                raise RetryRequested(timedelta(), "stopped before it began")
            ticket = Ticket(
                id=int(job.id), task=str(job.entrypoint), payload=orjson.loads(job.payload or b"{}")
            )
            working = asyncio.ensure_future(self._handlers[ticket.task](ticket))
            try:
                await _first(self._leaving.wait(), asyncio.shield(working))
                if not working.done():
                    working.cancel()
                    await asyncio.gather(working, return_exceptions=True)
                    raise RetryRequested(timedelta(), "given back")
                answer = working.result()
            except RetryRequested:
                raise
            except Exception:
                log.exception("ticket_failed task=%s id=%s", ticket.task, ticket.id)
                answer = Later(AFTER_A_BUG_S, "error")
        if not isinstance(answer, Done):
            raise RetryRequested(timedelta(seconds=answer.seconds), answer.reason)


async def _first(*waits: Any) -> None:
    """Until the first of these; the others are given up."""
    tasks = [asyncio.ensure_future(one) for one in waits]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()


async def _then(happened: asyncio.Event, tell: asyncio.Event) -> None:
    await happened.wait()
    tell.set()


BACKLOG = """
SELECT count(*) FILTER (WHERE status = 'queued' OR heartbeat < now() - %(held)s),
       count(*) FILTER (WHERE status = 'picked' AND heartbeat >= now() - %(held)s),
       min(execute_after) FILTER (WHERE status = 'queued' OR heartbeat < now() - %(held)s)
FROM {queue}
"""
OUTSTANDING = "SELECT payload FROM {queue} WHERE entrypoint = %(task)s ORDER BY id"
PRUNE = "DELETE FROM {log} WHERE created < now() - %(kept)s::interval"
