"""`/sinks` and `/workers`: who is sent what changed and how far behind it is; who works on what."""

from __future__ import annotations

from rowen.doors import states
from rowen.doors.shapes import sources as shapes
from rowen.doors.web.visit import Page, Visit
from rowen.engine.leases import workers as worker_leases
from rowen.sinks.states import states as sink_states


async def sinks(visit: Visit) -> Page:
    found = await sink_states(visit.ports.store, visit.ports.sinks, visit.now)
    data = {
        "sinks": [
            {
                **shapes.Sink.show(one, one.sink),
                "activation": one.sink.cursor.activation,
                "lag_at": one.sink.last_success_at if one.waiting else None,
                "success_at": one.sink.last_success_at,
                "tried_at": one.sink.last_run_at,
                "again_at": one.until,
                "state": _state(one.disabled, one.sink.failures, one.waiting, one.until is not None),
            }
            for one in found
        ]
    }
    return Page(template="sinks", title="Sinks", data=data, tab="sinks")


def _state(disabled: bool, failures: int, waiting: int, waits: bool) -> str:
    if disabled:
        return "stopped"
    if failures:
        return "failed"
    return "waiting" if waiting or waits else "up_to_date"


async def workers(visit: Visit) -> Page:
    force = await states.workforce(visit.ports)
    leases = await worker_leases(visit.ports)
    running = []
    for source in await visit.ports.store.sources():
        for run in await visit.ports.store.runs(source.id, limit=1):
            (run,) = await states.with_lost(visit.ports, [run])
            if run.status.value == "running":
                running.append(
                    {"source": source.label, "run_id": run.id, "owner": run.owner, "since": run.started_at}
                )
    data = {
        "workers": [{"owner": lease.owner, "until": lease.expires_at} for lease in leases],
        "waiting": force["waiting"],
        "under_way": force["running"],
        "oldest_at": force["oldest_at"],
        "runs": running,
        "queued_here": visit.queue.waiting,
    }
    return Page(template="workers", title="Workers", data=data, tab="workers")
