"""`/sinks` and `/workers`: who is sent what changed and how far behind it is, and who is told when one answer
changes; who works on what.
"""

from __future__ import annotations

from urllib.parse import quote

from rowen.core.exchange.sink import SUBSCRIPTION
from rowen.core.safety.access import Scope
from rowen.doors import states
from rowen.doors.shapes import sources as shapes
from rowen.doors.shapes import subscriptions as told
from rowen.doors.web.actions import changing
from rowen.doors.web.visit import Moved, Page, Refused, Visit
from rowen.engine.leases import workers as worker_leases
from rowen.managing.find import find
from rowen.service.subscriptions import subscribing
from rowen.service.subscriptions.rules import HEADING, PATH, QUESTION, SYMBOL
from rowen.sinks.states import SinkState
from rowen.sinks.states import states as sink_states

WAYS = {
    SYMBOL: "The definition of a name",
    HEADING: "Sections with a heading",
    PATH: "Pages whose path fits",
    QUESTION: "The best answer to a question",
}


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
                "state": _state(one),
            }
            for one in found
            if one.sink.kind != SUBSCRIPTION
        ],
        "subscriptions": [
            {
                **told.Subscription.show(one.sink),
                "state": _state(one),
                "success_at": one.sink.last_success_at,
            }
            for one in found
            if one.sink.kind == SUBSCRIPTION
        ],
        "ways": WAYS,
        "sources": [one.label for one in await visit.ports.store.sources()],
        "done": _done(visit),
    }
    return Page(template="sinks", title="Sinks", data=data, tab="sinks")


def _done(visit: Visit) -> str | None:
    name = visit.asked("name")[:64]
    said = {"subscribed": f"Subscribed as {name}.", "unsubscribed": f"Unsubscribed {name}."}
    return said.get(visit.asked("done"))


@changing(Scope.ADMIN)
async def subscribe(visit: Visit, fields: dict[str, str]) -> Moved:
    """The page of a browser elsewhere is the network: what it subscribes tells public addresses alone."""
    sources = [fields["source"]] if fields.get("source") else []
    for one in sources:
        await find(visit.ports.store, one)
    way = fields.get("way", "")
    settings = {"url": fields.get("url", ""), **({way: fields.get("wanted", "")} if way in WAYS else {})}
    made = await subscribing.subscribe(
        visit.ports,
        name=fields.get("name") or None,
        sources=sources,
        settings=settings,
        over_network=not (visit.is_open and visit.is_local),
    )
    return Moved(to=f"/sinks?done=subscribed&name={quote(made.name)}")


@changing(Scope.ADMIN)
async def unsubscribe(visit: Visit, fields: dict[str, str]) -> Moved:
    name = visit.part("name")
    if fields.get("typed") != name:
        raise Refused(
            status=422,
            detail=f"to unsubscribe `{name}`, its name must be typed as it is; nothing was removed",
        )
    await subscribing.unsubscribe(visit.ports.store, name)
    return Moved(to=f"/sinks?done=unsubscribed&name={quote(name)}")


def _state(one: SinkState) -> str:
    if one.disabled:
        return "stopped"
    if one.sink.failures:
        return "failed"
    return "waiting" if one.waiting or one.until is not None else "up_to_date"


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
