"""`/handoffs`: changed items on their way to ingestion, by state; retry and cancel, for many at once."""

from __future__ import annotations

from rowen.core.handoff import HandoffStatus
from rowen.doors.shapes import runs as shapes
from rowen.doors.web.visit import ROWS, Page, Visit
from rowen.managing.find import find

STATUSES = tuple(status.value for status in HandoffStatus)
SAID = {"retried": "queued again; a sync of each is requested", "cancelled": "cancelled"}


async def handoffs(visit: Visit) -> Page:
    store = visit.ports.store
    status = visit.asked("status") if visit.asked("status") in STATUSES else ""
    chosen = await find(store, visit.asked("source")) if visit.asked("source") else None
    at = visit.number("page")
    found = await store.handoffs(
        source_id=chosen.id if chosen else None,
        status=HandoffStatus(status) if status else None,
        reason=None,
        run_id=None,
        limit=ROWS + 1,
        offset=(at - 1) * ROWS,
    )
    counts = await _counts(visit)
    data = {
        "status": status,
        "statuses": [{"status": name, "number": counts.get(name, 0)} for name in STATUSES],
        "total": sum(counts.values()),
        "source": chosen.label if chosen else "",
        "sources": [source.label for source in await store.sources()],
        "handoffs": [
            {
                **shapes.Handoff.show(one),
                "created": one.created_at,
                "updated": one.updated_at,
                "due": one.retry_at,
            }
            for one in found[:ROWS]
        ],
        "page_number": at,
        "pages": at + (len(found) > ROWS),
        "done": SAID.get(visit.asked("done")),
        "done_number": visit.number("n", 0),
        "not_done": visit.number("not_done", 0),
    }
    return Page(template="handoffs", title="Handoffs", data=data, tab="handoffs")


async def _counts(visit: Visit) -> dict[str, int]:
    counts: dict[str, int] = {}
    for (status, _), number in (await visit.ports.store.handoff_counts()).items():
        counts[status.value] = counts.get(status.value, 0) + number
    return counts
