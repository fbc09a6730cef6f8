"""Sources: list, look at, add, remove, pause, resume, sync."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from rowen.core.rules import duration
from rowen.core.safety.access import Scope
from rowen.core.source import API
from rowen.doors import states
from rowen.doors.rest import models
from rowen.doors.rest.guard import decider
from rowen.doors.rest.operation import PREFIX, SourceName, answers, operations
from rowen.doors.rest.routes.syncing import BEGUN, Force, Full, Wait, sync
from rowen.doors.shapes import sources as shapes
from rowen.doors.shapes.runs import HandoffReceipt
from rowen.engine.ports import Ports
from rowen.managing import find as finding
from rowen.managing import pausing, sources
from rowen.service.sync_queue import SyncQueue


def router(ports: Ports, queue: SyncQueue) -> APIRouter:
    api = operations("/sources", "sources")

    @api.get("", summary="Every source and the state it is in", **answers(shapes.Sources))
    async def list_sources() -> Any:
        return shapes.Sources.show(sources=[shapes.source(one) for one in await states.statuses(ports)])

    @api.post(
        "",
        summary="Add a source",
        status_code=201,
        **answers(
            shapes.Added,
            400,
            409,
            413,
            502,
            504,
            scope=Scope.ADMIN,
            also={
                201: {"headers": {"Location": {"description": "The source", "schema": {"type": "string"}}}}
            },
        ),
    )
    async def add_source(new: models.NewSource, response: Response) -> Any:
        """Its server is asked first, and what it said is in `findings`. A location that leads to a private,
        loopback or link-local address is refused, here and in every later run. Folders and repositories on
        the server's own disk must lie under `service.allowed_roots`; variables that settings refer to must
        be named in `service.allowed_variables`.
        """
        every_s = duration.every_s(new.every) if new.every is not None else None
        added = await sources.add(
            ports,
            new.location,
            name=new.name,
            kind=new.kind,
            version=new.version,
            settings=new.settings,
            origin=API,
        )
        if every_s is not None:
            await ports.store.set_schedule(added.source.id, every_s)
        queue.wake.set()
        response.headers["Location"] = f"{PREFIX}/sources/{added.source.label}"
        return shapes.Added.show(added, added.source)

    @api.get("/{source}", summary="One source", **answers(shapes.Source, 404))
    async def get_source(source: SourceName) -> Any:
        return shapes.source(await states.status_of(ports, await finding.find(ports.store, source)))

    @api.delete(
        "/{source}",
        summary="Forget a source and everything stored of it",
        **answers(shapes.Removed, 404, 409, scope=Scope.ADMIN),
    )
    async def remove_source(source: SourceName) -> Any:
        found = await finding.find(ports.store, source)
        documents = (await ports.store.stats(found.id)).documents
        await sources.remove(ports, found)
        queue.activated()
        return shapes.Removed.show(source=found.label, removed=True, documents=documents)

    async def set_paused(request: Request, name: str, *, paused: bool) -> dict[str, Any]:
        found = await finding.find(ports.store, name)
        if paused:
            await pausing.pause(ports.store, ports.clock, found, by=decider(request))
        else:
            await pausing.resume(ports.store, found)
        queue.wake.set()
        return shapes.Paused.show(source=found.label, paused=paused)

    @api.post(
        "/{source}/pause",
        summary="Leave a source alone until it is resumed",
        **answers(shapes.Paused, 404, scope=Scope.ADMIN),
    )
    async def pause_source(request: Request, source: SourceName) -> Any:
        return await set_paused(request, source, paused=True)

    @api.post(
        "/{source}/resume",
        summary="Look after a source again",
        **answers(shapes.Paused, 404, scope=Scope.ADMIN),
    )
    async def resume_source(request: Request, source: SourceName) -> Any:
        """After a pause, a pin, or an error that stopped it."""
        return await set_paused(request, source, paused=False)

    @api.post(
        "/{source}/sync",
        summary="Sync a source",
        **answers(HandoffReceipt, 404, 409, 502, 504, scope=Scope.SYNC, also=BEGUN),
    )
    async def sync_source(
        request: Request, source: SourceName, full: Full = False, wait: Wait = True, force: Force = False
    ) -> Any:
        return await sync(ports, queue, request, source, full=full, wait=wait, force=force)

    return api
