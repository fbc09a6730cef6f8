"""Runs: what they did, item by item, and live."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from rowen.core.run import Run
from rowen.core.safety.access import Scope
from rowen.core.source import Source
from rowen.doors import states
from rowen.doors.rest.operation import LARGEST, RunId, SourceName, answers, operations
from rowen.doors.rest.routes import live
from rowen.doors.shapes import runs as shapes
from rowen.engine.ports import Ports
from rowen.errors import NotFound
from rowen.managing.find import find
from rowen.service import cancelling
from rowen.service.sync_queue import SyncQueue

Newest = Annotated[int, Query(description="At most this many", ge=1, le=1000)]
WaitS = Annotated[float, Query(description="Wait this many seconds for its end", ge=0, le=60)]
AfterRun = Annotated[int, Query(description="Only runs that came after this one", ge=0, le=LARGEST)]

STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Server-sent events: `progress` with the run, `item` for each one, `finished` last",
        "content": {
            "text/event-stream": {
                "example": 'event: finished\ndata: {"run_id": 12, "status": "completed"}\n\n',
            }
        },
    }
}


def router(ports: Ports, queue: SyncQueue) -> APIRouter:
    api = operations("", "runs")

    async def found(run_id: int) -> tuple[Source, Run]:
        run = await ports.store.run(run_id)
        source = None if run is None else await ports.store.source(run.source_id)
        if run is not None and source is not None:
            (run,) = await states.with_lost(ports, [run])
            return source, run
        raise NotFound(f"run {run_id}: no such run", run_id=run_id)

    @api.get(
        "/sources/{source}/runs", summary="The runs of a source, newest first", **answers(shapes.Runs, 404)
    )
    async def list_runs(source: SourceName, limit: Newest = 20, after_run: AfterRun = 0) -> Any:
        named = await find(ports.store, source)
        runs = await states.with_lost(ports, await ports.store.runs(named.id, limit=limit))
        shown = [shapes.Run.show(run, source=named.label) for run in runs if run.id > after_run]
        return shapes.Runs.show(runs=shown)

    @api.get("/runs/{run_id}", summary="One run", **answers(shapes.Run, 404))
    async def get_run(run_id: RunId) -> Any:
        source, run = await found(run_id)
        return shapes.Run.show(run, source=source.label)

    @api.get(
        "/runs/{run_id}/items",
        summary="What became of each item of a run, and why",
        **answers(shapes.Items, 404),
    )
    async def list_items(run_id: RunId) -> Any:
        _, run = await found(run_id)
        items = await ports.store.run_items(run_id)
        return shapes.Items.show(run_id=run_id, items=items, unlisted=shapes.unlisted(run.counters))

    @api.post(
        "/runs/{run_id}/cancel",
        summary="Cancel a run",
        **answers(shapes.Cancelled, 404, scope=Scope.SYNC),
    )
    async def cancel_run(run_id: RunId, wait_s: WaitS = cancelling.WAIT_S) -> Any:
        """A run of this process ends at once, one of another at its next heartbeat. Readers keep what they
        see, and nothing that was stored is lost. Cancelling a run that has ended changes nothing.
        """
        source, run = await found(run_id)
        return shapes.Cancelled.show(await cancelling.cancel_run(ports, source, run, wait_s=wait_s))

    @api.post(
        "/sources/{source}/cancel",
        summary="Cancel the run of a source, and its syncs that wait",
        **answers(shapes.Cancelled, 404, scope=Scope.SYNC),
    )
    async def cancel_source(source: SourceName, wait_s: WaitS = cancelling.WAIT_S) -> Any:
        named = await find(ports.store, source)
        return shapes.Cancelled.show(await cancelling.cancel_source(ports, named, queue=queue, wait_s=wait_s))

    @api.get(
        "/runs/{run_id}/events",
        summary="A run, live",
        response_class=StreamingResponse,
        **answers(None, 404, also=STREAM),
    )
    async def watch_run(run_id: RunId) -> StreamingResponse:
        """A run of this process tells each item; one of another process is looked at every second. The last
        event is `finished`; without it, the server was stopped.
        """
        source, run = await found(run_id)
        return StreamingResponse(
            live.events(ports, queue, source, run),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )

    return api
