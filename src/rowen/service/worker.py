"""A worker: ingests and fetches pages for the runs of other processes, and runs sources itself.

Every ticket may come twice, and late. Ingestion is fenced by the run's lease and skips what is done; a source
runs under its own lease and under that of its upstream, so that one worker at a time asks an upstream.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any

from rowen.core import params as parameters
from rowen.core.lease import HEARTBEAT_S, Lease
from rowen.core.rules.clocks import is_ahead
from rowen.core.run import Counters, Run, RunStatus
from rowen.engine.ingest import Ingestion, take_up_due
from rowen.engine.leases import WORKER, acquire, kept, upstream_lease, worker_lease_name
from rowen.engine.ports import Ports
from rowen.errors import Conflict, LeaseLost, NotFound, TransientError, UserError
from rowen.kinds.crawl.host_batch import HostBatch
from rowen.ports.dispatcher import INGEST, RETRY, Answer, Done, Later, Ticket
from rowen.ports.store.shards import FETCH
from rowen.service.attempts import NotRun, run_source, settles
from rowen.sinks.announcer import Announcer

_log = logging.getLogger("rowen.worker")

SYNC = "sync"
"""The task of a ticket that names a source to run."""
BUSY_S = 5.0
HOST_BUSY_S = 1.0
LOST_RUNS = 3
REST_S = 3600.0
"""How long a source is not run after `LOST_RUNS` runs in a row ended with their worker's process."""


def sync_payload(source_id: int, *, requested: bool = False) -> dict[str, Any]:
    return {"source": source_id, "requested": requested}


async def work(ports: Ports, *, concurrency: int, stop: asyncio.Event) -> None:
    """Handle tickets until `stop` is set; what is under way then ends."""
    # Each worker has a lease name of its own; those of ended workers would pile up.
    await ports.store.forget_leases(WORKER, before=ports.clock.now() - timedelta(days=1))
    lease = await acquire(ports, worker_lease_name(ports.owner))
    if lease is None:
        raise Conflict(f"worker `{ports.owner}`: already running")
    async with _known(ports, lease), Announcer(ports) as announcer:
        worker = Worker(ports, announcer)
        await ports.dispatcher().run(
            {INGEST: worker.ingest, FETCH: worker.fetch, RETRY: worker.retry, SYNC: worker.sync},
            concurrency=concurrency,
            stop=stop,
        )


@asynccontextmanager
async def _known(ports: Ports, lease: Lease) -> AsyncIterator[None]:
    """Others count on this worker by its lease."""
    staying = asyncio.create_task(_stay_known(ports, lease))
    try:
        yield
    finally:
        staying.cancel()
        await asyncio.gather(staying, return_exceptions=True)


async def _stay_known(ports: Ports, lease: Lease | None) -> None:
    """Take a lease again that is gone, as after a restored backup: no run hands work to a worker without."""
    name = worker_lease_name(ports.owner)
    while True:
        try:
            if lease := lease or await acquire(ports, name):
                async with kept(ports, lease) as held:
                    await asyncio.wait([held.heartbeat])
                lease = None
                _log.warning("worker_lease_lost owner=%s", ports.owner)
                continue
        except Exception as exc:
            # Whatever the store has: tickets go on, and it may be over at the next beat.
            lease = None
            _log.warning("worker_lease_failed owner=%s error=%s", ports.owner, exc)
        await ports.clock.sleep(HEARTBEAT_S)


class Worker:
    def __init__(self, ports: Ports, announcer: Announcer) -> None:
        self._ports = ports
        self._announcer = announcer

    async def ingest(self, ticket: Ticket) -> Answer:
        store = self._ports.store
        found = await self._under_way(ticket)
        if found is None:
            return Done()
        run, lease = found
        counters = Counters()
        try:
            waiting = await store.staged(run, ticket.payload["handoffs"])
            ingestion = Ingestion(self._ports, lease, run, counters)
            await ingestion.work_off(waiting)
            await ingestion.rest()
        except LeaseLost:
            # The run is over; a later run of the source makes handoffs of its own.
            return Done()
        if waiting:
            await store.save_share(run.id, counters)
        return Done()

    async def retry(self, ticket: Ticket) -> Answer:
        """Handoffs whose embedding failed; the ticket comes back until none of its source waits."""
        source = await self._ports.store.source(ticket.payload["source"])
        if source is None:
            return Done()
        try:
            next_at = await take_up_due(self._ports, source)
        except (Conflict, LeaseLost) as exc:
            return Later(BUSY_S, exc.message)
        if next_at is None:
            return Done()
        wait_s = (next_at - self._ports.clock.now()).total_seconds()
        return Later(max(wait_s, BUSY_S), "the next attempt is not due")

    async def fetch(self, ticket: Ticket) -> Answer:
        found = await self._under_way(ticket)
        if found is None:
            return Done()
        run, lease = found
        source = await self._ports.store.source(run.source_id)
        if source is None:
            return Done()
        settings = parameters.complete(self._ports.kinds.named(source.kind).params, source.params)
        host, number = ticket.payload["host"], ticket.payload["turn"]
        try:
            await HostBatch(self._ports, source, settings, lease, run, host, number).take()
        except LeaseLost:
            return Done()
        except Conflict as exc:
            return Later(HOST_BUSY_S, exc.message)
        except (TransientError, UserError) as exc:
            # A variable that is not set on this machine may be set on that of another worker.
            _log.warning("pages_not_asked source=%s reason=%r", source.label, exc.message)
            return Later(BUSY_S, exc.message)
        return Done()

    async def _under_way(self, ticket: Ticket) -> tuple[Run, Lease] | None:
        """The run that a ticket is for, and the right to write for it; None when it is over."""
        run = await self._ports.store.run(ticket.payload["run"])
        if run is None or run.status is not RunStatus.RUNNING:
            return None
        lease = Lease(
            name=ticket.payload["lease"],
            owner=ticket.payload["owner"],
            token=ticket.payload["token"],
            expires_at=datetime.max,  # noqa: DTZ901 - the token decides, not the time
        )
        return run, lease

    async def sync(self, ticket: Ticket) -> Answer:
        ports = self._ports
        source = await ports.store.source(ticket.payload["source"])
        if source is None or source.rests:
            return Done()
        if await self._was_lost_repeatedly(source.id):
            _log.warning("source_not_run source=%s reason=%r", source.label, "its last runs were lost")
            return Done()
        request = await ports.store.sync_request(source.id)
        if request is None and ticket.payload.get("requested"):
            # Cancelled, or carried out by another process, after the ticket was handed out.
            return Done()
        try:
            async with upstream_lease(ports, source.host):
                full, only = bool(request and request.full), request.only if request else None
                hooked = request.hooked if request else ()
                result = await run_source(ports, source, full=full, only=only, hooked=hooked)
        except (Conflict, LeaseLost) as exc:
            return Later(BUSY_S, exc.message)
        except NotFound:
            return Done()
        if isinstance(result, NotRun):
            return Done()
        if request is not None and settles(result):
            await ports.store.finish_request(request)
        self._announcer.notify()
        return Done()

    async def _was_lost_repeatedly(self, source_id: int) -> bool:
        """Did its last runs take their workers down, the latest one not long ago?"""
        last = await self._ports.store.runs(source_id, limit=LOST_RUNS)
        if len(last) < LOST_RUNS or any(run.status is not RunStatus.LOST for run in last):
            return False
        now, started_at = self._ports.clock.now(), last[0].started_at
        return now - started_at < timedelta(seconds=REST_S) and not is_ahead(started_at, now)
