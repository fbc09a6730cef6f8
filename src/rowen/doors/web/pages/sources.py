"""`/`: what needs a person, then every source with its state, what it holds and when it runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote

from starlette.responses import Response

from rowen.core.offers.offer import OFFER_KINDS
from rowen.core.rules.standing import Loudness, State
from rowen.core.run import Run
from rowen.doors import states
from rowen.doors.states import SourceStatus
from rowen.doors.web import live
from rowen.doors.web.pages import figures
from rowen.doors.web.render import Renderer
from rowen.doors.web.visit import ROWS, Bar, Page, Visit

ORDER = {
    State.HELD: 0,
    State.STOPPED: 1,
    State.RUNNING: 2,
    State.PARTIAL: 3,
    State.WAITING: 4,
    State.UP_TO_DATE: 5,
    State.PAUSED: 6,
    State.NEVER_RUN: 7,
}
CHIPS = (
    ("need", "Need you", (State.HELD, State.STOPPED)),
    ("running", "Running", (State.RUNNING,)),
    ("partial", "Partial", (State.PARTIAL,)),
    ("waiting", "Waiting", (State.WAITING,)),
    ("paused", "Paused", (State.PAUSED,)),
    ("never", "Never run", (State.NEVER_RUN,)),
)
SORTS = ("name", "state", "documents", "verified", "next")


def state_of(one: SourceStatus) -> str:
    return one.standing.state.value.replace(" ", "_")


async def sources(visit: Visit) -> Page:
    every = await states.statuses(visit.ports, sections=False)
    shown = await _sorted(visit, [one for one in every if _is_wanted(visit, one)])
    at = visit.number("page")
    days = figures.by_day(await visit.ports.store.run_days(figures.since(visit.now)), visit.now.date())
    rows = [
        {**await row(visit, one), "days": days.get(one.source.id, [])}
        for one in shown[(at - 1) * ROWS : at * ROWS]
    ]
    counts = Counter(one.standing.state for one in every)
    needs = [need(visit, one) for one in sorted(every, key=_urgency) if one.standing.needs_person]
    data = {
        "total": len(every),
        "documents": sum(one.documents for one in every),
        "running": counts[State.RUNNING],
        "needs": needs,
        "served": all(one.served for one in every),
        "chips": [
            {"name": name, "word": word, "number": sum(counts[state] for state in wanted)}
            for name, word, wanted in CHIPS
        ],
        "chip": visit.asked("state"),
        "filter": visit.asked("f"),
        "sort": visit.asked("sort") if visit.asked("sort") in SORTS else "state",
        "found": len(shown),
        "rows": rows,
        "page_number": at,
        "pages": -(-len(shown) // ROWS),
        "removed": visit.asked("name")[:140] if visit.asked("done") == "removed" else "",
    }
    return Page(template="sources", title="Sources", data=data, tab="sources", events="/events")


def _is_wanted(visit: Visit, one: SourceStatus) -> bool:
    chip, typed = visit.asked("state"), visit.asked("f").lower()
    wanted = next((states for name, _, states in CHIPS if name == chip), None)
    if wanted is not None and one.standing.state not in wanted:
        return False
    return typed in f"{one.source.label} {one.source.kind} {one.source.location}".lower()


async def _sorted(visit: Visit, found: Sequence[SourceStatus]) -> list[SourceStatus]:
    far = visit.now + timedelta(days=36_500)
    verified: dict[int, datetime] = {}
    if visit.asked("sort") == "verified":
        for one in found:
            fresh = await visit.ports.store.freshness(one.source.id, now=visit.now)
            verified[one.source.id] = fresh.last or one.source.created_at
    keys: dict[str, Any] = {
        "name": lambda one: (one.source.label,),
        "documents": lambda one: (-one.documents, one.source.label),
        "verified": lambda one: (verified[one.source.id], one.source.label),
        "next": lambda one: (one.next_run.at if one.next_run else far, one.source.label),
    }
    default = lambda one: (ORDER[one.standing.state], one.source.label)  # noqa: E731
    return sorted(found, key=keys.get(visit.asked("sort"), default))


def _urgency(one: SourceStatus) -> tuple[int, str]:
    return ORDER[one.standing.state], one.source.label


async def bar(visit: Visit) -> Bar:
    """What the bar of every page tells of all sources."""
    every = await visit.ports.store.sources()
    waiting = [source for source in every if source.held_generation is not None or source.is_broken]
    found = await states.standings(visit.ports, waiting) if waiting else {}
    return Bar(
        need_you=sum(one.needs_person for one in found.values()),
        has_offers=await _has_offers(visit, {source.kind for source in every}),
    )


async def _has_offers(visit: Visit, kinds: set[str]) -> bool:
    """Are there sources of job listings? A described one is when it has brought some."""
    found = kinds & OFFER_KINDS
    return bool(found - {"rest"}) or bool(found and await visit.ports.store.companies(limit=1))


def need(visit: Visit, one: SourceStatus) -> dict[str, Any]:
    """What a person has to decide, with its age: it gets louder."""
    source = one.source
    held = one.standing.state is State.HELD
    return {
        "source": source.label,
        "state": state_of(one),
        "says": one.standing.says,
        "hint": one.standing.hint,
        "since": one.standing.since,
        "loud": one.standing.loudness is Loudness.ALARM or not held,
        "generation": source.held_generation,
        "active": source.active_generation,
        "diff": f"/sources/{quote(source.label)}/diff/{source.active_generation}..{source.held_generation}"
        if held
        else "",
    }


async def row(visit: Visit, one: SourceStatus) -> dict[str, Any]:
    source = one.source
    runs = await visit.ports.store.runs(source.id, limit=1)
    return {
        **figures.verified(await visit.ports.store.freshness(source.id, now=visit.now)),
        "label": source.label,
        "name": source.name,
        "version": source.version,
        "kind": source.kind,
        "location": source.location,
        "state": state_of(one),
        "says": one.standing.says,
        "since": one.standing.since,
        "documents": one.documents,
        "sections": one.sections,
        "last": _last(runs[0]) if runs else None,
        "last_text": source.result.words if source.result else None,
        "next_at": one.next_run.at if one.next_run and one.served else None,
        "next_text": one.next_run.why if one.next_run else None,
        "action": _action(visit, one),
    }


def _last(run: Run) -> dict[str, Any]:
    return {
        "run_id": run.id,
        "counters": run.counters,
        "status": run.status.value,
        "started_at": run.started_at,
        "duration_s": run.duration_s,
    }


def _action(visit: Visit, one: SourceStatus) -> dict[str, str] | None:
    """The one thing that is most likely wanted, where the caller may do it."""
    where = f"/sources/{quote(one.source.label)}"
    if one.standing.state is State.PAUSED:
        return {"to": f"{where}/resume", "word": "Resume"} if visit.may("admin") else None
    if not visit.may("sync"):
        return None
    if one.standing.state is State.RUNNING:
        return {"to": f"{where}/cancel", "word": "Cancel"}
    if one.standing.state is State.STOPPED:
        return {"to": f"{where}/retry", "word": "Try again"}
    return {"to": f"{where}/sync", "word": "Sync"}


async def events(visit: Visit, renderer: Renderer) -> Response:
    """The list, as it changes: the rows that the reader sees, and how many need a person."""

    async def parts() -> dict[str, str]:
        page = await sources(visit)
        made = {
            f"row-{one['label']}": renderer.part(visit, "sources_parts.html", "cells", {"one": one})
            for one in page.data["rows"]
        }
        made["need"] = renderer.part(
            visit, "sources_parts.html", "need_number", {"number": len(page.data["needs"])}
        )
        made["summary"] = renderer.part(visit, "sources_parts.html", "summary", {"data": page.data})
        return made

    return live.streamed(live.of_page(visit, parts))
