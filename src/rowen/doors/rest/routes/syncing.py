"""Starting runs: `POST .../sync`, waited for or not, and the two paths that go by `scraping`.

Calls that come while a run of the source is under way join it. A run that failed, or whose generation is
held, is an answer like any other: its receipt says so.
"""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse

from rowen.core.handoff import HandoffStatus, Reason
from rowen.core.safety.access import Scope
from rowen.doors.rest.models import model
from rowen.doors.rest.operation import LARGEST, PREFIX, Limit, Offset, SourceName, answers, operations
from rowen.doors.rest.waiting import while_there
from rowen.doors.shapes import runs as shapes
from rowen.engine.ports import Ports
from rowen.managing.find import find
from rowen.ports.store.store import Store
from rowen.service.sync_queue import Synced, SyncQueue

Full = Annotated[bool, Query(description="Fetch everything again, also what is unchanged")]
Force = Annotated[bool, Query(description="Also while its upstream is paused because it limits us")]
Wait = Annotated[bool, Query(description="False: answer at once, with the address of the run")]
ScrapeRun = Annotated[int | None, Query(description="Only of this run", ge=1, le=LARGEST)]
OfStatus = Annotated[HandoffStatus | None, Query(description="Only in this state")]
OfReason = Annotated[Reason | None, Query(description="Only with this reason code")]

BEGUN: dict[int | str, dict[str, Any]] = {
    202: {
        "model": model(shapes.Begun),
        "description": "Under way, or waiting for its turn",
        "headers": {"Location": {"description": "Where to look", "schema": {"type": "string"}}},
    }
}


def scraping_router(ports: Ports, queue: SyncQueue, **where: str) -> APIRouter:
    """The paths of the ingestion handoff: at the root and under `/api/v1` alike."""
    router = operations("/scraping", "scraping", **where)

    @router.post(
        "/{source}/sync",
        summary="Sync a source and hand changed items to ingestion",
        **answers(shapes.HandoffReceipt, 404, 409, 502, 504, scope=Scope.SYNC, also=BEGUN),
    )
    async def sync_scraping_source(
        request: Request, source: SourceName, full: Full = False, wait: Wait = True, force: Force = False
    ) -> Any:
        return await sync(ports, queue, request, source, full=full, wait=wait, force=force)

    @router.get(
        "/{source}/handoffs",
        summary="The handoffs of a source, newest first",
        **answers(shapes.Handoffs, 404),
    )
    async def list_scraping_handoffs(
        source: SourceName,
        status: OfStatus = None,
        reason_code: OfReason = None,
        scrape_run_id: ScrapeRun = None,
        limit: Limit = 100,
        offset: Offset = 0,
    ) -> Any:
        only = {"status": status, "reason": reason_code, "run_id": scrape_run_id}
        return await handoffs_of(ports.store, source, limit=limit, offset=offset, **only)

    return router


async def handoffs_of(
    store: Store, name: str | None, *, limit: int, offset: int, **only: Any
) -> dict[str, Any]:
    """`only` are a status, a reason code and the id of a run."""
    source_id = (await find(store, name)).id if name is not None else None
    found = await store.handoffs(source_id=source_id, limit=limit, offset=offset, **only)
    return shapes.Handoffs.show(handoffs=found, limit=limit, offset=offset)


async def sync(
    ports: Ports, queue: SyncQueue, request: Request, name: str, *, full: bool, wait: bool, force: bool
) -> dict[str, Any] | JSONResponse:
    source = await find(ports.store, name)
    if wait:
        return await _receipt(ports, await while_there(request, queue.sync(source, full=full, force=force)))
    started = await queue.begin(source, full=full, force=force)
    run_id = started.run_id
    location = (
        f"{PREFIX}/runs/{run_id}"
        if run_id
        else f"{PREFIX}/sources/{source.label}/runs?after_run={started.after_run}"
    )
    begun = shapes.Begun.show(
        source=source.label,
        state="running" if run_id else "queued",
        scrape_run_id=run_id,
        location=location,
    )
    return JSONResponse(begun, 202, headers={"Location": location})


async def _receipt(ports: Ports, synced: Synced) -> dict[str, Any]:
    counts: Counter[tuple[HandoffStatus, str]] = Counter()
    for run_id in synced.run_ids:
        counts.update(await ports.store.handoff_counts(run_id=run_id))
    shown = shapes.receipt_of(synced.source, synced.ended)
    return {**shown, "scrape_run_id": synced.run_ids[-1], **shapes.handoff_counts(counts)}
