"""`rowen status`: the sources, how many documents of each are visible, and what is wrong with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowen.core.rules.left_out import sentences
from rowen.doors.cli.call import Call, store_command
from rowen.doors.cli.output import clean
from rowen.doors.words import ago, count, until

if TYPE_CHECKING:
    from rowen.doors.states import SourceStatus


@store_command("status")
async def command(call: Call) -> None:
    """Show every source: what is visible of it, its last success, and what is wrong."""
    from rowen import wiring
    from rowen.doors import states
    from rowen.doors.shapes import sources as shapes

    out, store = call.out, wiring.store_name(call.config())
    found = await states.statuses(call.ports)
    embedding, workforce = await states.embedding_status(call.ports.store), await states.workforce(call.ports)
    if out.json:
        sources = [shapes.source(one) for one in found]
        out.emit({"db": store, "sources": sources, "embedding": embedding, "workforce": workforce})
        return
    if not found:
        out.line(f"no sources yet in `{store}`")
        out.note("hint: add one with `rowen add docs.example.org`, or see `rowen demo`")
        return
    from rich.text import Text

    seeded = any(one.source.last_processed_date for one in found)
    now = call.ports.clock.now()
    rows: list[tuple[Any, ...]] = [
        (
            one.source.label,
            one.source.kind,
            f"{one.source.active_generation:,}",
            f"{one.documents:,}",
            f"{one.sections:,}",
            ago(one.source.last_run_at, now),
            ago(one.source.last_success_at, now),
            *([str(one.source.last_processed_date or "")] if seeded else []),
            Text(*state(one)),
        )
        for one in found
    ]
    headings = ["*source", "kind", ">generation", ">documents", ">sections", "last run", "last success"]
    out.table([*headings, *(["back to"] if seeded else []), "state"], rows)
    problems = [line for one in found for line in _problems(one)]
    for line in (*problems, *_about_workers(workforce), *_about_vectors(embedding)):
        out.line(line)


def _about_workers(workforce: dict[str, Any]) -> list[str]:
    if not workforce["workers"] and not workforce["waiting"] and not workforce["running"]:
        return []
    oldest = f", the oldest since {workforce['oldest_at']}" if workforce["oldest_at"] else ""
    under_way = f"{count(workforce['running'], 'ticket')} under way"
    workers = count(len(workforce["workers"]), "worker")
    return ["", f"{workers}; {under_way}, {workforce['waiting']:,} waiting{oldest}"]


def _about_vectors(embedding: dict[str, Any]) -> list[str]:
    lines = []
    for name, circuit in embedding["breakers"].items():
        if circuit["state"] != "closed":
            since, why = circuit["opened_at"], circuit["last_error"]
            lines += ["", clean(f"model `{name}`: circuit {circuit['state']} since {since}: {why}")]
    if embedding["vectors_pending"]:
        lines += [
            "",
            "some texts have no vectors yet and are found by their words only",
            "hint: `rowen embed` fills them in",
        ]
    return lines


def state(one: SourceStatus) -> tuple[str, str]:
    """One word for the state, and its colour."""
    source = one.source
    if one.running:
        return "running", "cyan"
    if source.paused:
        return "paused", "yellow"
    if source.held_generation is not None:
        return "held", "yellow"
    if source.is_broken:
        return "stopped", "red"
    if one.upstream_pause is not None:
        return "waits", "yellow"
    match source.status.value:
        case "RUNNING":
            # No live process holds its lease: the process ended. The next sync cleans up.
            return "interrupted", "yellow"
        case "ERROR":
            return "error", "red"
        case "SUCCESS":
            word = source.result.state if source.result else "completed"
            return ("ok", "green") if word == "completed" else (word, "yellow")
    if source.result is not None:
        return source.result.state, "yellow"
    return "never synced", "dim"


def _problems(one: SourceStatus) -> list[str]:
    source, label = one.source, one.source.label
    lines = []
    if one.upstream_pause is not None:
        pause = until(one.upstream_pause.until)
        lines += ["", f"{label}: not synced{pause}; `rowen resume {label}` allows it before that"]
    if source.held_generation is not None:
        lines += [
            "",
            f"{label}: generation {source.held_generation} is held: {source.held_reason}",
            f"hint: look at it with `rowen diff {label} --to {source.held_generation}`,"
            f" then `rowen approve {label}`",
        ]
    elif source.status.value == "ERROR" and source.last_error:
        times = f" ({source.consecutive_failures} times in a row)" if source.consecutive_failures > 1 else ""
        lines += ["", clean(f"{label}: {source.last_error}{times}")]
        if source.is_broken:
            lines.append(f"hint: fix it, then `rowen resume {label}`; until then it is not synced")
    elif source.status.value != "RUNNING" and source.result and source.result.state == "partial":
        lines += ["", f"{label}: {source.result.words}; see `rowen runs {label} --items`"]
    elif state(one)[0] == "interrupted":
        lines += ["", f"{label}: its last run was interrupted; `rowen sync {label}` continues it"]
    left_out = sentences(source.left_out)
    return [*lines, *([""] if left_out else []), *(f"{label}: left out {said}" for said in left_out)]
