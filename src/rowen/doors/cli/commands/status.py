"""`rowen status`: the sources, how much of each readers see, and what is the matter with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowen.doors.cli.call import Call
from rowen.doors.cli.call import command as rowen_command
from rowen.doors.cli.output import Output, clean

if TYPE_CHECKING:
    from rowen.doors.states import SourceStatus
    from rowen.engine.ports import Ports


@rowen_command("status", short_help="Show the sources and the state they are in.")
def command(call: Call) -> int:
    """Show every source: what readers see of it, when it last went well, and what is the matter."""
    from rowen import config as settings
    from rowen import wiring
    from rowen.doors.cli import session

    config, _ = settings.load(db=call.db)
    path = wiring.store_name(config)

    async def work(ports: Ports) -> None:
        await perform(ports, call.out, store=path)

    session.run(call, work)
    return 0


async def perform(ports: Ports, out: Output, *, store: str) -> None:
    from rowen.doors import shapes, states

    found = await states.statuses(ports)
    if out.json:
        out.emit(
            {
                "db": store,
                "sources": [shapes.source(one) for one in found],
                "embedding": await states.embedding_status(ports),
                "workforce": await states.workforce(ports),
            }
        )
        return
    if not found:
        out.line(f"no sources yet in `{store}`")
        out.note("hint: add one with `rowen add https://docs.example.org/ --name docs`, or see `rowen demo`")
        return
    from rich.table import Table
    from rich.text import Text

    from rowen.doors.cli.words import ago

    table = Table(box=None, padding=(0, 3, 0, 0), header_style="dim")
    table.add_column("source", no_wrap=True, style="bold")
    table.add_column("kind", no_wrap=True)
    for name in ("generation", "documents", "sections"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("last run", no_wrap=True)
    table.add_column("last success", no_wrap=True)
    seeded = any(one.source.last_processed_date for one in found)
    if seeded:
        table.add_column("back to", no_wrap=True)
    table.add_column("state", no_wrap=True)
    now = ports.clock.now()
    for one in found:
        source = one.source
        word, style = state(one)
        table.add_row(
            source.label,
            source.kind,
            f"{source.active_generation:,}",
            f"{one.documents:,}",
            f"{one.sections:,}",
            ago(source.last_run_at, now),
            ago(source.last_success_at, now),
            *([str(source.last_processed_date or "")] if seeded else []),
            Text(word, style=style),
        )
    out.print(table)
    for one in found:
        for line in _matters(one):
            out.line(line)
    for line in (
        *_about_workers(await states.workforce(ports)),
        *_about_vectors(await states.embedding_status(ports)),
    ):
        out.line(line)


def _about_workers(workforce: dict[str, Any]) -> list[str]:
    if not workforce["workers"] and not workforce["waiting"] and not workforce["running"]:
        return []
    from rowen.doors.cli.words import count

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
            # Nobody holds its lease: the process is gone. The next sync puts it in order.
            return "interrupted", "yellow"
        case "ERROR":
            return "error", "red"
        case "SUCCESS":
            return "ok", "green"
    return "never synced", "dim"


def _matters(one: SourceStatus) -> list[str]:
    source, label = one.source, one.source.label
    lines = []
    if one.upstream_pause is not None:
        until = f"{one.upstream_pause.until:%Y-%m-%d %H:%M} UTC"
        lines += ["", f"{label}: left alone until {until}; `rowen resume {label}` asks before that"]
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
            lines.append(f"hint: mend it, then `rowen resume {label}`; until then it is not run")
    elif state(one)[0] == "interrupted":
        lines += ["", f"{label}: its last run was interrupted; `rowen sync {label}` takes it up"]
    return lines
