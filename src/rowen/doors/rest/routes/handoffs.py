"""Handoffs: list, look at, retry, cancel."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from rowen.core.safety.access import Scope
from rowen.doors.rest.operation import HandoffId, Limit, Offset, answers, operations
from rowen.doors.rest.routes.syncing import OfReason, OfStatus, ScrapeRun, handoffs_of
from rowen.doors.shapes import runs as shapes
from rowen.engine.ports import Ports
from rowen.managing import handoffs
from rowen.service.sync_queue import SyncQueue

OfSource = Annotated[str | None, Query(description="Only of this source", max_length=129)]


def router(ports: Ports, queue: SyncQueue) -> APIRouter:
    api = operations("/handoffs", "handoffs")

    @api.get("", summary="Handoffs, newest first", **answers(shapes.Handoffs, 404))
    async def list_handoffs(
        source: OfSource = None,
        status: OfStatus = None,
        reason_code: OfReason = None,
        scrape_run_id: ScrapeRun = None,
        limit: Limit = 100,
        offset: Offset = 0,
    ) -> Any:
        only = {"status": status, "reason": reason_code, "run_id": scrape_run_id}
        return await handoffs_of(ports.store, source, limit=limit, offset=offset, **only)

    @api.get("/{handoff_id}", summary="One handoff", **answers(shapes.Handoff, 404))
    async def get_handoff(handoff_id: HandoffId) -> Any:
        return shapes.Handoff.show(await handoffs.find(ports.store, handoff_id))

    @api.post(
        "/{handoff_id}/retry",
        summary="Queue a failed handoff again",
        **answers(shapes.Handoff, 404, 409, scope=Scope.SYNC),
    )
    async def retry_handoff(handoff_id: HandoffId) -> Any:
        """Also stores a sync request for its reference, which `rowen serve` runs at once."""
        retried = await handoffs.retry(ports.store, ports.clock, handoff_id)
        queue.wake.set()
        return shapes.Handoff.show(retried)

    @api.post(
        "/{handoff_id}/cancel",
        summary="End a handoff that was not ingested yet",
        **answers(shapes.Handoff, 404, 409, scope=Scope.SYNC),
    )
    async def cancel_handoff(handoff_id: HandoffId) -> Any:
        return shapes.Handoff.show(await handoffs.cancel(ports, handoff_id))

    return api
