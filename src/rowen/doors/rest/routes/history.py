"""Generations: what readers see, what they saw, and moving between the two."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Query

from rowen.core.safety.access import Scope
from rowen.doors import views
from rowen.doors.rest import models
from rowen.doors.rest.guard import needs
from rowen.doors.rest.params import MAX_OFFSET, SourceName
from rowen.doors.rest.problems import declared
from rowen.engine.ports import Ports
from rowen.managing.find import find
from rowen.reading import history
from rowen.service.sync_queue import SyncQueue

Number = Annotated[int | None, Query(ge=0, le=MAX_OFFSET)]


def router(ports: Ports, queue: SyncQueue) -> APIRouter:
    api = APIRouter(prefix="/sources", tags=["generations"])

    @api.get(
        "/{source}/generations",
        summary="The generations that can still be shown",
        response_model=models.Generations,
        responses=declared(404),
        dependencies=[needs(Scope.READ)],
    )
    async def list_generations(source: SourceName) -> Any:
        named = await find(ports, source)
        found = await ports.store.generations(named.id)
        return {"source": named.label, "generations": [views.generation(one) for one in found]}

    @api.get(
        "/{source}/diff",
        summary="What changed between two generations",
        response_model=models.Diff,
        responses=declared(404),
        dependencies=[needs(Scope.READ)],
    )
    async def get_diff(
        source: SourceName,
        from_generation: Annotated[Number, Query(alias="from", description="The one before")] = None,
        to_generation: Annotated[Number, Query(alias="to", description="The active one")] = None,
    ) -> Any:
        named = await find(ports, source)
        found = await history.diff(ports, named, from_generation=from_generation, to_generation=to_generation)
        return views.diff(named, found)

    @api.post(
        "/{source}/rollback",
        summary="Show an older generation again",
        response_model=models.Shown,
        responses=declared(400, 404, 409, 413),
        dependencies=[needs(Scope.ADMIN)],
    )
    async def roll_back(source: SourceName, wanted: Annotated[models.Rollback | None, Body()] = None) -> Any:
        named = await find(ports, source)
        generation = await history.rollback(ports, named, to_generation=wanted.to if wanted else None)
        queue.activated()
        return {"source": named.label, "generation": generation}

    @api.post(
        "/{source}/approve",
        summary="Show the generation that the deletion guard held",
        response_model=models.Shown,
        responses=declared(404, 409),
        dependencies=[needs(Scope.ADMIN)],
    )
    async def approve(source: SourceName) -> Any:
        named = await find(ports, source)
        generation = await history.approve(ports, named)
        queue.activated()
        return {"source": named.label, "generation": generation}

    return api
