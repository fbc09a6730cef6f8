"""`rowen status`: the sources, how many documents of each are visible, and what is wrong with them."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from rowen.core.rules.duration import text_of
from rowen.core.rules.left_out import sentences
from rowen.core.rules.standing import Loudness, State
from rowen.core.rules.words import minute
from rowen.core.source import Status
from rowen.doors.cli.call import Call, store_command
from rowen.doors.cli.names import source_names
from rowen.doors.cli.output import clean
from rowen.doors.cli.starting.declared import click
from rowen.doors.words import ago, ahead, count, until

if TYPE_CHECKING:
    from collections.abc import Callable

    from rowen.core.source import Source
    from rowen.doors.states import SourceStatus

COLOURS = {
    State.UP_TO_DATE: "green",
    State.RUNNING: "cyan",
    State.STOPPED: "red",
    State.NEVER_RUN: "dim",
    **dict.fromkeys((State.PARTIAL, State.WAITING, State.PAUSED, State.HELD), "yellow"),
}


@store_command("status", reads=True)
@click.argument("names", nargs=-1, shell_complete=source_names, metavar="[NAME]...")
async def command(call: Call, names: tuple[str, ...]) -> None:
    """Show every source, or those named: what is visible, the state, the next run, and what is wrong."""
    from rowen import wiring
    from rowen.doors import states

    out, store = call.out, wiring.store_name(call.config())
    found = await states.statuses(call.ports, only=await _named(call, names))
    embedding, workforce = await states.embedding_status(call.ports.store), await states.workforce(call.ports)
    if out.json:
        from rowen.doors.shapes import sources as shapes

        sources = [shapes.source(one) for one in found]
        out.emit({"db": store, "sources": sources, "embedding": embedding, "workforce": workforce})
        return
    if not found:
        out.line(f"no sources yet in `{store}`")
        out.note("hint: add one with `rowen add docs.example.org`, or see `rowen demo`")
        return
    seeded = any(one.source.last_processed_date for one in found)
    now = call.ports.clock.now()
    # What does not fit is cut in the middle of words, so a narrow terminal has fewer columns.
    columns: list[tuple[str, int, Callable[[SourceStatus], Any]]] = [
        ("*source", 0, lambda one: one.source.label),
        ("kind", 60, lambda one: one.source.kind),
        (">generation", 72, lambda one: f"{one.source.active_generation:,}"),
        (">documents", 0, lambda one: f"{one.documents:,}"),
        (">sections", 100, lambda one: f"{one.sections:,}"),
        ("last run", 60, lambda one: ago(one.source.last_run_at, now)),
        ("next run", 80, lambda one: _next_run(one, now)),
        *([("back to", 80, lambda one: str(one.source.last_processed_date or ""))] if seeded else []),
        ("state", 0, state),
    ]
    shown = [column for column in columns if out.width >= column[1]]
    out.table([heading for heading, _, _ in shown], [[made(one) for _, _, made in shown] for one in found])
    problems = [line for one in found for line in _problems(one)]
    kept = [line for one in found if (line := _history(one))]
    problems += ["", *kept] if kept else []
    for line in (*problems, *_about_workers(workforce), *_about_vectors(embedding)):
        out.line(line)


async def _named(call: Call, names: tuple[str, ...]) -> list[Source] | None:
    """None for all of them."""
    if not names:
        return None
    from rowen.managing.find import find_all

    return await find_all(call.ports.store, names)


def _history(one: SourceStatus) -> str | None:
    """Since when history is kept, where a source keeps it by time."""
    keep_s = one.source.params.get("keep")
    if not keep_s or one.kept_since is None:
        return None
    return clean(f"{one.source.label}: history is kept for {text_of(keep_s)}, since {minute(one.kept_since)}")


def _about_workers(workforce: dict[str, Any]) -> list[str]:
    if not workforce["workers"] and not workforce["waiting"] and not workforce["running"]:
        return []
    oldest = f", the oldest{since}" if (since := _since(workforce["oldest_at"])) else ""
    under_way = f"{count(workforce['running'], 'ticket')} under way"
    workers = count(len(workforce["workers"]), "worker")
    return ["", f"{workers}; {under_way}, {workforce['waiting']:,} waiting{oldest}"]


def _about_vectors(embedding: dict[str, Any]) -> list[str]:
    lines = []
    for name, circuit in embedding["breakers"].items():
        if circuit["state"] != "closed":
            since = _since(circuit["opened_at"])
            why = str(circuit["last_error"]).removeprefix(f"model `{name}`: ")
            lines += ["", clean(f"model `{name}`: circuit {circuit['state']}{since}: {why}")]
    if embedding["vectors_pending"]:
        lines += [
            "",
            "some texts have no vectors yet and are found by their words only",
            "hint: `rowen embed` fills them in",
        ]
    return lines


def _since(text: str | None) -> str:
    """Not the minute after it, as for what is waited for: that one may be in the future."""
    return f" since {datetime.fromisoformat(text):%Y-%m-%d %H:%M} UTC" if text else ""


def state(one: SourceStatus) -> tuple[str, str]:
    """One word for the state, and its colour."""
    said = one.standing
    colour = "red" if said.loudness is Loudness.ALARM else COLOURS[said.state]
    return said.state.value, colour


def _next_run(one: SourceStatus, now: datetime) -> str:
    if one.next_run is None:
        return ""
    return ahead(one.next_run.at, now) if one.served else "not served"


def _problems(one: SourceStatus) -> list[str]:
    """What a person should know beside the word: why, since when, and the next step."""
    source, said = one.source, one.standing
    lines = []
    if said.state is State.HELD:
        since = f" since {said.since:%Y-%m-%d}" if said.since else ""
        lines = [
            f"{source.label}: generation {source.held_generation} is held{since}: {source.held_reason}",
            f"hint: {said.hint}",
        ]
    elif said.state is State.UP_TO_DATE:
        lines = [f"{source.label}: {source.result.words}"] if source.result and source.result.words else []
    elif said.state is State.PARTIAL and source.result:
        # A run that was broken off, or whose texts the embedding provider refused, has no failed items.
        why = f": {source.last_error}" if source.status is Status.ERROR and source.last_error else ""
        lines = [f"{source.label}: {source.result.words}{why}; {said.hint}"]
    elif one.upstream_pause is not None:
        lines = [f"{source.label}: not synced{until(one.upstream_pause.until)}; {said.hint}"]
    elif said.state not in (State.RUNNING, State.NEVER_RUN):
        lines = [f"{source.label}: {said.says}", *([f"hint: {said.hint}"] if said.hint else [])]
    left_out = [f"{source.label}: left out {text}" for text in sentences(source.left_out)]
    return [*([""] if lines else []), *map(clean, lines), *([""] if left_out else []), *left_out]
