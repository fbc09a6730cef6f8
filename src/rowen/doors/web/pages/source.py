"""`/sources/NAME`: the state of a source, what waits for a person, its runs drawn, what readers see, its
settings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from starlette.responses import Response

from rowen.core.generation import GenerationHistory
from rowen.core.rules.left_out import KEPT, LIMITS
from rowen.core.rules.standing import caller
from rowen.core.rules.version import sort_key
from rowen.core.run import Run, RunItem, RunStatus
from rowen.core.source import Source
from rowen.core.web.folders import Folder
from rowen.doors import states
from rowen.doors.shapes.sources import Claims
from rowen.doors.states import SourceStatus
from rowen.doors.web import live, told
from rowen.doors.web.pages import figures
from rowen.doors.web.pages import sources as listing
from rowen.doors.web.render import Renderer
from rowen.doors.web.visit import ROWS, Moved, Page, Visit
from rowen.reading import history

DRAWN = 32
"""Runs in the chart."""
LISTED = 5
GROUPS = 12
"""Folders of pages that would go; the others are in the diff."""


async def page(visit: Visit) -> Page | Moved:
    """A source, or the form for a new one: a source may be called `new`, and then that is its page."""
    if visit.part("name") == "new" and not await _is_there(visit, "new"):
        query = visit.request.url.query
        return Moved(to=f"/add?{query}" if query else "/add")
    return await source(visit)


async def source(visit: Visit) -> Page:
    found = await visit.source()
    status = await states.status_of(visit.ports, found)
    newest = await states.with_lost(visit.ports, await visit.ports.store.runs(found.id, limit=DRAWN))
    items = await visit.ports.store.run_items(newest[0].id) if newest else []
    where = f"/sources/{quote(found.label)}"
    lately = await visit.ports.store.runs_since(found.id, figures.since(visit.now))
    under = visit.asked("under")
    tree = await visit.ports.store.folders(found.id, "")
    data = {
        "source": {**await listing.row(visit, status), **figures.avoided(lately)},
        "under": under,
        "folders": await _folders(visit, found, under),
        "where": where,
        "is_pinned": found.is_pinned,
        "is_resting": found.rests,
        "active": found.active_generation,
        "hint": status.standing.hint,
        "every_s": found.own_every_s or visit.ports.every_s,
        "next_text": status.next_run.why if status.next_run else None,
        "served": status.served,
        "held": await _held(visit, status, items, tree) if found.held_generation is not None else None,
        "need": listing.need(visit, status) if status.standing.needs_person else None,
        "runs": [run_row(run) for run in newest],
        "slots": figures.slots(
            [run_row(run) for run in reversed(newest)], found.own_every_s or visit.ports.every_s
        )[-DRAWN:],
        "listed": LISTED,
        "drawn_days": (newest[0].started_at - newest[-1].started_at).days + 1 if newest else 0,
        "generations": await _generations(visit, await history.generations(visit.ports.store, found), newest),
        "receipt": told.receipt(newest[0].counters, found.kind) if newest else [],
        "run_error": newest[0].error if newest and newest[0].status is RunStatus.FAILED else None,
        "problems": await _problems(visit, newest[0]) if newest else [],
        "signals": [Claims.show(one, one) | {"name": one.name} for one in status.signals],
        "settings": {name: str(value) for name, value in sorted(found.params.items())},
        "versions": await _versions(visit, found),
        "added_at": found.created_at,
        "done": _done(visit, found),
    }
    return Page(template="source", title=found.label, data=data, tab="sources", events=f"{where}/events")


async def _is_there(visit: Visit, label: str) -> bool:
    return any(one.label == label for one in await visit.ports.store.sources())


def run_row(run: Run) -> dict[str, Any]:
    counters = run.counters
    every = told.done(counters)
    return {
        "run_id": run.id,
        "at": run.started_at,
        "outcome": run.result.state if run.finished_at or run.status.value != "running" else "running",
        "held": run.status.value == "held",
        **{
            name: int(counters.get(name) or 0)
            for name in ("created", "updated", "deleted", "failed", "unchanged")
        },
        "total": sum(int(counters.get(name) or 0) for name in ("created", "updated", "deleted", "failed")),
        "duration_s": run.duration_s,
        "bytes_received": int(counters.get("bytes_received") or 0),
        "avoided": int(counters.get("not_modified") or 0) / every if every else 0.0,
    }


async def _versions(visit: Visit, found: Source) -> list[dict[str, str]]:
    """Other versions of the same thing, each with the page that compares the older one with the newer."""
    if not found.active_generation:
        return []
    others = [
        one
        for one in await visit.ports.store.sources()
        if one.name == found.name and one.id != found.id and one.active_generation
    ]
    shown = []
    for other in sorted(others, key=lambda one: sort_key(one.version)):
        old, new = sorted((found, other), key=lambda one: sort_key(one.version))
        shown.append(
            {"label": other.label, "compare": f"/sources/{quote(old.label)}/compare/{quote(new.label)}"}
        )
    return shown


async def _held(
    visit: Visit, status: SourceStatus, items: Sequence[RunItem], tree: Sequence[Folder]
) -> dict[str, Any]:
    """What would go if the held generation was shown, by folder, and why."""
    found = status.source
    changes = await visit.ports.store.changes(found.id, found.active_generation, found.held_generation or 0)
    gone = [change.reference for change in changes if change.kind == "removed"]
    why = {item.reference: item.reason for item in items if item.outcome.value == "deleted"}
    folders: dict[str, list[str]] = {}
    totals = {f"/{one.name}/**": one.documents for one in tree if one.is_folder}
    for reference in gone:
        folders.setdefault(_folder(reference, found.location), []).append(reference)
    return {
        "generation": found.held_generation,
        "reason": found.held_reason,
        "since": found.held_at,
        "removed": len(gone),
        "changed": len(changes),
        "groups": [
            {
                "folder": folder,
                "gone": len(references),
                "of": totals.get(folder) if totals.get(folder, 0) >= len(references) else None,
                "why": told.why_gone(
                    Counter(why.get(one, "gone") for one in references).most_common(1)[0][0]
                ),
            }
            for folder, references in sorted(folders.items(), key=lambda one: -len(one[1]))[:GROUPS]
        ],
    }


def _folder(reference: str, location: str) -> str:
    """The folder of a page inside its source, as a pattern."""
    inside = (
        reference.removeprefix(location.rstrip("/"))
        if reference.startswith(location.rstrip("/"))
        else reference
    )
    head, _, rest = inside.lstrip("/").partition("/")
    return f"/{head}/**" if rest else "/*"


async def _generations(
    visit: Visit, kept: Sequence[GenerationHistory], runs: Sequence[Run]
) -> list[dict[str, Any]]:
    by_id = {run.id: run for run in runs}
    shown = []
    for one in kept:
        last = one.activations[0] if one.activations else None
        number = one.generation.run_id
        run = by_id.get(number) or await visit.ports.store.run(number)
        shown.append(
            {
                "generation": one.generation.number,
                "documents": one.generation.documents,
                "active": one.generation.active,
                "held": one.generation.activated_at is None,
                "run_id": number,
                "counters": dict(run.counters) if run else {},
                "shown_at": last.at if last else None,
                "cause": last.cause.value if last else None,
                "by": caller(last.by) if last else None,
            }
        )
    return shown


async def _problems(visit: Visit, run: Run) -> list[dict[str, Any]]:
    """Why items of the last run failed, why others were not asked for, and what else was noticed."""
    failed = [
        {"reason": one.reason.replace("_", " "), "number": one.items, "failed": True, "detail": one.detail}
        for one in await visit.ports.store.problems(run.id)
    ]
    ignored = Counter(run.counters.get("ignored") or {}).most_common(10)
    return [
        *failed,
        *(
            {
                "reason": _reason(reason),
                "number": number,
                "failed": False,
                "kept": reason in KEPT,
                "detail": LIMITS[reason].advice or None if reason in LIMITS else None,
            }
            for reason, number in ignored
        ),
    ]


def _reason(code: str) -> str:
    """Why items were not asked for, or what was noticed about them, in words."""
    if code in LIMITS:
        return LIMITS[code].many
    return f"pages {KEPT[code][1]}" if code in KEPT else code.replace("_", " ")


async def _folders(visit: Visit, found: Source, under: str) -> list[dict[str, Any]]:
    """One level of the tree of what readers see."""
    entries = (await visit.ports.store.folders(found.id, under))[:ROWS]
    references = [one.reference for one in entries if one.reference is not None]
    documents = await visit.ports.store.documents(found.id, references=references) if references else []
    ids = {one.reference: (one.id, one.title) for one in documents}
    return [
        {
            "name": one.name or one.path,
            "path": one.path,
            "is_folder": one.is_folder,
            "documents": one.documents,
            "document_id": ids.get(one.reference or "", (None, ""))[0],
            "title": ids.get(one.reference or "", (None, ""))[1],
        }
        for one in entries
    ]


def _done(visit: Visit, found: Source) -> dict[str, Any] | None:
    """What a form has just done, in words, and the way back."""
    done, to, was = visit.asked("done"), visit.number("to", 0), visit.number("was", 0)
    back: dict[str, Any] | None = None
    if done == "paused" and found.paused:
        said, back = (
            "Paused. Nothing is asked of it until it is resumed; Sync now still works.",
            {"to": "resume"},
        )
    elif done == "resumed" and not found.rests:
        said, back = "It runs by its schedule again.", {"to": "pause"}
    elif done == "rolled_back" and found.active_generation == to:
        said = f"Rolled back to {to}. The next sync goes forward again; pin to stay."
        if to > was:
            said = f"Went forward to {to}. Readers see it now."
        back = {"to": "rollback", "generation": was, "pin": to}
    elif done == "pinned" and found.is_pinned:
        said, back = f"Pinned to {to}: no sync moves it until it is resumed.", {"to": "resume"}
    elif done == "approved" and found.active_generation == to:
        said, back = f"Generation {to} is visible.", {"to": "rollback", "generation": was} if was else None
    elif done == "queued":
        said = "The sync waits for its turn; it begins as soon as other runs have ended."
    elif done in ("dropped", "nothing"):
        said = {"dropped": "The sync that waited was dropped.", "nothing": "Nothing was under way."}[done]
    elif done == "added":
        said = "Added. Nothing of it is stored yet: the first sync harvests it."
    else:
        return None
    return {"said": said, "back": back}


async def events(visit: Visit, renderer: Renderer) -> Response:
    """The state and the figures of a source, and its latest runs, as they change."""

    async def parts() -> dict[str, str]:
        data = (await source(visit)).data
        shown = {
            "state": {"source": data["source"]},
            "facts": {name: data[name] for name in ("source", "every_s", "next_text", "served")},
            "latest": {"runs": data["runs"][:LISTED], "where": data["where"]},
        }
        return {name: renderer.part(visit, "source_parts.html", name, given) for name, given in shown.items()}

    return live.streamed(live.of_page(visit, parts))
