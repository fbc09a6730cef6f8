"""`rowen runs`: what the runs of a source did, and with --items what became of each item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowen.core.rules.left_out import left_out, sentences
from rowen.doors.cli.call import Call, store_command
from rowen.doors.cli.names import source_names
from rowen.doors.cli.output import Output, clean
from rowen.doors.cli.starting.declared import MOST, click
from rowen.doors.words import OUTCOMES, ago, count, nothing, seconds
from rowen.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from rowen.core.generation import Activation
    from rowen.core.run import Run, RunItem
    from rowen.doors.cli.drawing.text import Text

EVERY = 1_000_000_000


@store_command("runs", reads=True)
@click.argument("name", shell_complete=source_names)
@click.option(
    "--limit", default=10, show_default=True, type=click.IntRange(1, MOST), help="At most this many."
)
@click.option("--items", is_flag=True, help="Every item of the newest run, or of --run, with its reason.")
@click.option("--run", "run_id", type=click.IntRange(1, MOST), metavar="ID", help="Only this run.")
async def command(call: Call, name: str, limit: int, items: bool, run_id: int | None) -> None:
    """Show the runs of source NAME, newest first.

    Unchanged pages are counted, not listed: they cost no write.
    """
    from rowen.doors import states
    from rowen.doors.shapes import runs as shapes

    out, source = call.out, await call.source(name)
    found = await call.ports.store.runs(source.id, limit=EVERY if run_id is not None else limit)
    found = await states.with_lost(call.ports, found)
    if run_id is not None:
        found = [run for run in found if run.id == run_id]
        if not found:
            raise NotFound(
                f"run {run_id} of `{source.label}`: no such run", hint=f"see `rowen runs {source.label}`"
            )
    listed = await call.ports.store.run_items(found[0].id) if items and found else []
    if out.json:
        shown = [shapes.RunRecord.show(run) for run in found]
        value: dict[str, Any] = {"source": source.label, "runs": shown}
        if items:
            value["items"] = [shapes.Item.show(item) for item in listed]
            value["unlisted"] = shapes.unlisted(found[0].counters) if found else {}
        out.emit(value)
        return
    if not found:
        out.line(f"source `{source.label}`: no runs yet")
        out.note(f"hint: run `rowen sync {source.label}`")
        return
    approved: dict[int, Activation] = {}
    if any(run.status.value == "held" for run in found):
        shown_since = await call.ports.store.activations(source.id)
        approved = {one.generation: one for one in shown_since if one.cause.value == "approval"}
    _table(out, found, approved, now=call.ports.clock.now())
    if items:
        _items(out, found[0], listed)


def _table(out: Output, runs: list[Run], approved: Mapping[int, Activation], *, now: datetime) -> None:
    from rowen.core.rules.standing import caller
    from rowen.doors.cli.receipt import state_of

    rows = [
        (
            str(run.id),
            ago(run.started_at, now),
            run.mode.value,
            state_of(run),
            str(run.generation),
            seconds(run.duration_s) if run.duration_s is not None else "",
            _summary(run),
        )
        for run in runs
    ]
    out.table([">run", "started", "mode", "status", ">generation", ">took", "~result"], rows)
    for run in runs:
        if run.error:
            said = f"run {run.id}: {run.error}"
            if run.status.value == "held" and (approval := approved.get(run.generation)):
                # What the run wrote down was true when it ended.
                by = caller(approval.by)
                said += f"; approved {ago(approval.at, now)}{f' by {by}' if by else ''}"
            out.line(clean(said))
    for said in sentences(left_out(runs[0].counters.get("ignored", {}))):
        out.line(f"run {runs[0].id} left out {said}")


def _summary(run: Run) -> Text:
    from rowen.core.run import Counters, RunStatus
    from rowen.doors.cli.receipt import outcomes

    counters = Counters.from_dict(run.counters)
    line = outcomes(counters, nothing=nothing(run.status.value))
    if run.result.asked_some:
        line.append(f" · {run.result.asked_some}", "dim")
    if counters.requests or run.status is not RunStatus.LOST:
        line.append(f" · {count(counters.requests, 'request')}", "dim")
    if counters.not_modified:
        line.append(f", {counters.not_modified:,} not modified", "dim")
    if counters.resumed:
        line.append(f", {counters.resumed:,} stored by an earlier run", "dim")
    if counters.left_out:
        line.append(f" · {sum(counters.left_out.values()):,} left out", "yellow")
    if run.window:
        back = "history of " if run.window["seeding"] else ""
        line.append(f" · {back}{run.window['since'][:16]} to {run.window['until'][:16]}", "dim")
    return line


def _items(out: Output, run: Run, items: list[RunItem]) -> None:
    from rowen.doors.cli.drawing.text import Text
    from rowen.doors.cli.receipt import COLOURS
    from rowen.doors.shapes import runs as shapes

    out.line("")
    out.line(Text(f"items of run {run.id}", style="bold"))
    for item in items:
        line = Text(f"{OUTCOMES[item.outcome.value]:<9} ", style=COLOURS[item.outcome.value])
        line.append(f"{item.reason:<16} ", "dim")
        detail = item.detail or ""
        if item.reference not in detail:
            line.append(clean(item.reference), "default").append("  " if detail else "")
        line.append(clean(detail), "default")
        out.line(line)
    for reason, number in shapes.unlisted(run.counters).items():
        who = f"{count(number, 'other')}: " if items else f"{number:,} "
        out.line(Text(f"{who}unchanged, {reason.replace('_', ' ')}", style="dim"))
