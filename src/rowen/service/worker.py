"""What a worker does: ingest and ask for pages for runs that other processes own, and run sources itself.

Every ticket may come twice, and late. Ingestion is fenced by the run's lease and skips what is done; a source
runs under its own lease, and under the one of its upstream, so that a host has one visitor at a time.
"""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime, timedelta
from typing import Any

from rowen.alarms import raising
from rowen.core import params as parameters
from rowen.core.lease import Lease
from rowen.core.run import Counters, Run, RunStatus
from rowen.core.source import Source
from rowen.engine.ingest import Ingestion
from rowen.engine.leases import acquire, kept, upstream_lease
from rowen.engine.ports import Ports
from rowen.engine.workers import WORKER, worker_lease_name
from rowen.errors import Conflict, LeaseLost, NotFound, TransientError, UserError
from rowen.kinds.crawl.host_batch import Turn
from rowen.ports.dispatcher import INGEST, Answer, Done, Later, Ticket
from rowen.ports.store.shards import FETCH
from rowen.service.attempts import Passed, run_source, settles
from rowen.sinks.announce import announce

_log = logging.getLogger("rowen.work")

SYNC = "sync"
"""The task of a ticket that names a source whose turn it is."""
BUSY_S = 5.0
HOST_BUSY_S = 1.0
LOST_RUNS = 3
REST_S = 3600.0
"""A source whose runs took their workers down is left alone for so long."""


def sync_payload(source_id: int) -> dict[str, Any]:
    return {"source": source_id}


async def work(ports: Ports, *, concurrency: int, stop: asyncio.Event) -> None:
    """Handle tickets until told to stop; what is under way then ends."""
    # Each worker has a name of its own, so those of long ago are nobody's.
    await ports.store.forget_leases(WORKER, before=ports.clock.now() - timedelta(days=1))
    lease = await acquire(ports, worker_lease_name(ports.owner))
    if lease is None:
        raise Conflict(f"worker `{ports.owner}`: works already")
    worker = _Worker(ports)
    async with kept(ports, lease):
        await ports.dispatcher().run(
            {INGEST: worker.ingest, FETCH: worker.fetch, SYNC: worker.sync},
            concurrency=concurrency,
            stop=stop,
        )


class _Worker:
    def __init__(self, ports: Ports) -> None:
        self._ports = ports

    async def ingest(self, ticket: Ticket) -> Answer:
        store = self._ports.store
        found = await self._under_way(ticket)
        if found is None:
            return Done()
        run, lease = found
        counters = Counters()
        try:
            waiting = await store.staged(run, ticket.payload["handoffs"])
            await Ingestion(self._ports, lease, run, counters).work_off(waiting)
        except LeaseLost:
            # Its run is over; whoever runs the source now has handed off anew.
            return Done()
        if waiting:
            await store.save_share(run.id, counters)
        return Done()

    async def fetch(self, ticket: Ticket) -> Answer:
        found = await self._under_way(ticket)
        if found is None:
            return Done()
        run, lease = found
        source = await self._source(run.source_id)
        if source is None:
            return Done()
        settings = parameters.complete(self._ports.kinds.named(source.kind).params, source.params)
        turn = Turn(self._ports, source, settings, lease, run, ticket.payload["host"], ticket.payload["turn"])
        try:
            await turn.take()
        except LeaseLost:
            return Done()
        except Conflict as exc:
            return Later(HOST_BUSY_S, exc.message)
        except (TransientError, UserError) as exc:
            # A variable that is not set on this machine may be set where the next one is.
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

    async def _source(self, source_id: int) -> Source | None:
        return await self._ports.store.source(source_id)

    async def sync(self, ticket: Ticket) -> Answer:
        ports = self._ports
        source = await self._source(ticket.payload["source"])
        if source is None or source.paused:
            return Done()
        if await self._kills(source.id):
            _log.warning(
                "source_rests source=%s reason=%r", source.label, "its last runs ended with their process"
            )
            return Done()
        request = next((r for r in await ports.store.sync_requests() if r.source_id == source.id), None)
        try:
            async with upstream_lease(ports, source.upstream):
                full, only = bool(request and request.full), request.only if request else None
                turn = await run_source(ports, source, full=full, only=only)
        except (Conflict, LeaseLost) as exc:
            return Later(BUSY_S, exc.message)
        except NotFound:
            return Done()
        if isinstance(turn, Passed):
            return Done()
        if request is not None and settles(turn):
            await ports.store.finish_request(request)
        await raising.after_turn(ports, source, turn)
        await announce(ports)
        return Done()

    async def _kills(self, source_id: int) -> bool:
        last = await self._ports.store.runs(source_id, limit=LOST_RUNS)
        if len(last) < LOST_RUNS or any(run.status is not RunStatus.LOST for run in last):
            return False
        return self._ports.clock.now() - last[0].started_at < timedelta(seconds=REST_S)
