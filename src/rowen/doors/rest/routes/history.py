"""Generations: what readers see, what they saw, and moving between the two."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Query, Request

from rowen.core.safety.access import Scope
from rowen.doors.rest import models
from rowen.doors.rest.guard import decider
from rowen.doors.rest.operation import MAX_OFFSET, SourceName, answers, operations
from rowen.doors.shapes import sources as shapes
from rowen.engine.ports import Ports
from rowen.managing.find import find
from rowen.reading import history
from rowen.service.sync_queue import SyncQueue

Number = Annotated[int | None, Query(ge=0, le=MAX_OFFSET)]


def router(ports: Ports, queue: SyncQueue) -> APIRouter:
    api = operations("/sources", "generations")

    @api.get(
        "/{source}/generations",
        summary="The generations that can still be shown",
        **answers(shapes.Generations, 404),
    )
    async def list_generations(source: SourceName) -> Any:
        named = await find(ports.store, source)
        found = await history.generations(ports.store, named)
        return shapes.Generations.show(source=named.label, generations=found)

    @api.get("/{source}/diff", summary="What changed between two generations", **answers(shapes.Diff, 404))
    async def get_diff(
        source: SourceName,
        from_generation: Annotated[
            Number, Query(alias="from", description="The one before; of a held one, the active one")
        ] = None,
        to_generation: Annotated[
            Number, Query(alias="to", description="The held one, or the active one")
        ] = None,
    ) -> Any:
        named = await find(ports.store, source)
        found = await history.diff(
            ports.store, named, from_generation=from_generation, to_generation=to_generation
        )
        return shapes.Diff.show(found, source=named.label)

    @api.post(
        "/{source}/rollback",
        summary="Show an older generation again",
        **answers(shapes.Shown, 400, 404, 409, 413, scope=Scope.ADMIN),
    )
    async def roll_back(
        request: Request, source: SourceName, wanted: Annotated[models.Rollback | None, Body()] = None
    ) -> Any:
        """The next sync goes forward again. With `pin` there is none until the source is resumed."""
        named = await find(ports.store, source)
        generation = await history.rollback(
            ports,
            named,
            to_generation=wanted.to if wanted else None,
            pin=bool(wanted and wanted.pin),
            by=decider(request),
        )
        queue.activated()
        return shapes.Shown.show(source=named.label, generation=generation)

    @api.post(
        "/{source}/approve",
        summary="Show the generation that the deletion guard held",
        **answers(shapes.Shown, 404, 409, scope=Scope.ADMIN),
    )
    async def approve(request: Request, source: SourceName) -> Any:
        named = await find(ports.store, source)
        generation = await history.approve(ports, named, by=decider(request))
        queue.activated()
        return shapes.Shown.show(source=named.label, generation=generation)

    return api
