"""For machines: is it alive, is it ready, how is it doing."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response

from rowen.doors import states
from rowen.doors.rest.metrics import CONTENT_TYPE, Metrics
from rowen.doors.rest.models import model
from rowen.doors.rest.operation import Responses, answers, operations
from rowen.doors.rest.problems import declared
from rowen.doors.shapes import sources as shapes
from rowen.engine.ports import Ports
from rowen.errors import StoreUnreachable
from rowen.service.sync_job import Stopping
from rowen.service.sync_queue import SyncQueue

READY_WITHIN_S = 2.0
"""A store that takes longer does not answer in time for callers either."""
FIGURES: Responses = {
    200: {"description": "Figures", "content": {"text/plain": {"schema": {"type": "string"}}}}
}


def health_router(ports: Ports, queue: SyncQueue, metrics: Metrics) -> APIRouter:
    """At the root, where machines look for it."""
    api = operations("", "service", root="")

    @api.get("/health/live", summary="Is the process alive", response_model=model(shapes.Health))
    async def is_live() -> Any:
        return {"status": "ok"}

    @api.get(
        "/health/ready",
        summary="Does the store answer",
        response_model=model(shapes.Health),
        responses={503: declared()[503]},
    )
    async def is_ready() -> Any:
        if queue.stopping.is_set():
            raise Stopping.now()
        try:
            # Who asks waits for a second or so, and the store for a database that is restarted much longer.
            async with asyncio.timeout(READY_WITHIN_S):
                await ports.store.sources()
        except TimeoutError:
            raise StoreUnreachable(f"the store did not answer within {READY_WITHIN_S:g} s") from None
        return {"status": "ok"}

    @api.get(
        "/metrics",
        summary="Figures for Prometheus",
        response_class=Response,
        **answers(None, also=FIGURES),
    )
    async def get_metrics() -> Response:
        return Response(await metrics.text(), headers={"Content-Type": CONTENT_TYPE})

    return api


def status_router(ports: Ports) -> APIRouter:
    api = operations("", "service")

    @api.get("/status", summary="Every source, and the model that search uses", **answers(shapes.Status))
    async def get_status() -> Any:
        return shapes.Status.show(
            sources=[shapes.source(one) for one in await states.statuses(ports)],
            embedding=await states.embedding_status(ports.store),
        )

    return api
