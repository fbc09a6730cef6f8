"""Handoffs: list, look at, retry, cancel."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from rowen.core.safety.access import Scope
from rowen.doors import views
from rowen.doors.rest import models
from rowen.doors.rest.guard import needs
from rowen.doors.rest.params import HandoffId, Limit, Offset
from rowen.doors.rest.problems import declared
from rowen.doors.rest.routes.syncing import OfStatus, ScrapeRun
from rowen.engine.ports import Ports
from rowen.managing import handoffs
from rowen.managing.find import find
from rowen.service.sync_queue import SyncQueue

OfSource = Annotated[str | None, Query(description="Only of this source", max_length=129)]


def router(ports: Ports, queue: SyncQueue) -> APIRouter:
    api = APIRouter(prefix="/handoffs", tags=["handoffs"])

    @api.get(
        "",
        summary="Handoffs, newest first",
        response_model=models.Handoffs,
        responses=declared(404),
        dependencies=[needs(Scope.READ)],
    )
    async def list_handoffs(
        source: OfSource = None,
        status: OfStatus = None,
        scrape_run_id: ScrapeRun = None,
        limit: Limit = 100,
        offset: Offset = 0,
    ) -> Any:
        named = await find(ports, source) if source is not None else None
        found = await ports.store.handoffs(
            source_id=named.id if named else None,
            status=status,
            run_id=scrape_run_id,
            limit=limit,
            offset=offset,
        )
        return {"handoffs": [views.handoff(one) for one in found], "limit": limit, "offset": offset}

    @api.get(
        "/{handoff_id}",
        summary="One handoff",
        response_model=models.Handoff,
        responses=declared(404),
        dependencies=[needs(Scope.READ)],
    )
    async def get_handoff(handoff_id: HandoffId) -> Any:
        return views.handoff(await handoffs.find(ports, handoff_id))

    @api.post(
        "/{handoff_id}/retry",
        summary="Queue a failed handoff again",
        response_model=models.Handoff,
        responses=declared(404, 409),
        dependencies=[needs(Scope.SYNC)],
    )
    async def retry_handoff(handoff_id: HandoffId) -> Any:
        """A sync of its reference is wished for as well; `rowen serve` takes it up at once."""
        retried = await handoffs.retry(ports, handoff_id)
        queue.wake.set()
        return views.handoff(retried)

    @api.post(
        "/{handoff_id}/cancel",
        summary="End a handoff that was not ingested yet",
        response_model=models.Handoff,
        responses=declared(404, 409),
        dependencies=[needs(Scope.SYNC)],
    )
    async def cancel_handoff(handoff_id: HandoffId) -> Any:
        return views.handoff(await handoffs.cancel(ports, handoff_id))

    return api
