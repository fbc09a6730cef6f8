"""`/sources/NAME/runs/ID`: how a run ended, or how far it is; its receipt; what became of each item, and
why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from starlette.responses import Response

from rowen.core.run import Event, Run, RunStatus
from rowen.core.source import Source
from rowen.doors import states
from rowen.doors.shapes import runs as shapes
from rowen.doors.web import live, told
from rowen.doors.web.render import Renderer
from rowen.doors.web.visit import ROWS, Page, Visit
from rowen.errors import NotFound

LISTED = 20
"""Runs beside the one that is shown."""
LIVE = {"bar": ("progress", "counters", "running"), "receipt_rows": ("receipt",)}
"""The parts that change while a run is under way, and what each is made of."""
SAID = {
    "cancelled": "The run was cancelled.",
    "requested": "The run was told to end; it has not ended yet.",
    "ended": "The run had ended before.",
}


async def found(visit: Visit) -> tuple[Source, Run]:
    source = await visit.source()
    run = await visit.ports.store.run(visit.part_number("run"))
    if run is None or run.source_id != source.id:
        raise NotFound(
            f"run {visit.part('run')} of `{source.label}`: no such run", hint="old runs are not kept for ever"
        )
    (run,) = await states.with_lost(visit.ports, [run])
    return source, run


async def run(visit: Visit) -> Page:
    source, shown = await found(visit)
    items = await visit.ports.store.run_items(shown.id)
    outcome, reason = visit.asked("outcome"), visit.asked("reason")
    kept = [one for one in items if outcome in ("", one.outcome.value) and reason in ("", one.reason)]
    at = visit.number("page")
    data = {
        "source": source.label,
        "kind": source.kind,
        "run": shapes.Run.show(shown, source=source.label),
        "started_at": shown.started_at,
        "finished_at": shown.finished_at,
        "sentence": told.outcome(shown, source),
        **await figures(visit, source, shown),
        "outcomes": Counter(one.outcome.value for one in items),
        "reasons": Counter(one.reason for one in items if outcome in ("", one.outcome.value)).most_common(20),
        "unlisted": shapes.unlisted(shown.counters),
        "items": [shapes.Item.show(one) for one in kept[(at - 1) * ROWS : at * ROWS]],
        "found": len(kept),
        "page_number": at,
        "pages": -(-len(kept) // ROWS),
        "done": SAID.get(visit.asked("done")),
    }
    running = shown.status is RunStatus.RUNNING
    return Page(
        template="run",
        title=f"{source.label}, run {shown.id}",
        data=data,
        tab="sources",
        events=f"/sources/{quote(source.label)}/runs/{shown.id}/events" if running else "",
    )


async def figures(visit: Visit, source: Source, run: Run) -> dict[str, Any]:
    """What changes while a run is under way."""
    expected = (await visit.ports.store.stats(source.id)).documents if run.status is RunStatus.RUNNING else 0
    return _figures(visit, source, run, run.counters, expected=expected)


def _figures(
    visit: Visit, source: Source, run: Run, counters: Mapping[str, Any], *, expected: int, queued: int = 0
) -> dict[str, Any]:
    return {
        "running": run.status is RunStatus.RUNNING,
        "counters": dict(counters),
        "progress": told.progress(run, counters, visit.now, queued=queued, expected=expected),
        "receipt": told.receipt(counters, source.kind),
    }


async def events(visit: Visit, renderer: Renderer) -> Response:
    source, shown = await found(visit)

    async def parts() -> dict[str, str]:
        current = await visit.ports.store.run(shown.id) or shown
        return rendered(await figures(visit, source, current))

    def rendered(data: dict[str, Any]) -> dict[str, str]:
        return {
            name: renderer.part(visit, "run_parts.html", name, {field: data[field] for field in fields})
            for name, fields in LIVE.items()
        }

    expected = (await visit.ports.store.stats(source.id)).documents

    def news(events: Sequence[Event]) -> tuple[dict[str, str], list[str]]:
        last = next((one for one in reversed(events) if one.counters is not None), None)
        made: dict[str, str] = {}
        if last is not None and last.counters is not None:
            so_far = last.counters.as_dict()
            made = rendered(_figures(visit, source, shown, so_far, queued=last.queued, expected=expected))
        lines = [
            renderer.part(visit, "run_parts.html", "item", {"one": shapes.EventItem.show(event)})
            for event in events[-ROWS:]
            if event.kind == "item"
        ]
        return made, lines

    return live.streamed(live.of_run(visit, shown.id, parts, news))
