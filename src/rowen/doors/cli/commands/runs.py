"""`rowen runs`: what the runs of a source did, and with --items what became of each item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rowen.doors.cli.call import Call
from rowen.doors.cli.call import command as rowen_command
from rowen.doors.cli.output import Output, clean
from rowen.errors import NotFound

if TYPE_CHECKING:
    from rich.text import Text

    from rowen.core.run import Run, RunItem
    from rowen.core.source import Source
    from rowen.engine.ports import Ports

EVERY = 1_000_000_000


@rowen_command("runs", short_help="Show what runs did, and what they avoided.")
@click.argument("name")
@click.option("--limit", default=10, show_default=True, type=click.IntRange(1), help="The newest so many.")
@click.option("--items", is_flag=True, help="Every item of the newest run, or of --run, with its reason.")
@click.option("--run", "run_id", type=int, metavar="ID", help="Only this run.")
def command(call: Call, name: str, limit: int, items: bool, run_id: int | None) -> int:
    """Show the runs of the source NAME, newest first.

    Pages that a server called unchanged are counted, not listed: they cost no write.
    """
    from rowen.doors.cli import session

    async def work(ports: Ports) -> None:
        from rowen.managing.find import find

        source = await find(ports, name)
        await perform(ports, call.out, source, limit=limit, items=items, run_id=run_id)

    session.run(call, work)
    return 0


async def perform(
    ports: Ports,
    out: Output,
    source: Source,
    *,
    limit: int = 10,
    items: bool = False,
    run_id: int | None = None,
) -> None:
    from rowen.doors import shapes

    found = await ports.store.runs(source.id, limit=EVERY if run_id is not None else limit)
    if run_id is not None:
        found = [run for run in found if run.id == run_id]
        if not found:
            raise NotFound(
                f"run {run_id} of `{source.label}`: no such run", hint=f"see `rowen runs {source.label}`"
            )
    listed = await ports.store.run_items(found[0].id) if items and found else []
    if out.json:
        value: dict[str, Any] = {
            "source": source.label,
            "runs": [shapes.RunRecord.show(run) for run in found],
        }
        if items:
            value |= {
                "items": [shapes.Item.show(item) for item in listed],
                "unlisted": shapes.unlisted(found[0].counters) if found else {},
            }
        out.emit(value)
        return
    if not found:
        out.line(f"source `{source.label}`: no runs yet")
        out.note(f"hint: run `rowen sync {source.label}`")
        return
    _table(ports, out, found)
    if items:
        _items(out, found[0], listed)


def _table(ports: Ports, out: Output, runs: list[Run]) -> None:
    from rich.table import Table
    from rich.text import Text

    from rowen.doors.cli.receipt import STYLES
    from rowen.doors.cli.words import ago, seconds

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("run", justify="right", no_wrap=True)
    for name in ("started", "mode", "status"):
        table.add_column(name, no_wrap=True)
    table.add_column("generation", justify="right", no_wrap=True)
    table.add_column("took", justify="right", no_wrap=True)
    table.add_column("what it did")
    now = ports.clock.now()
    for run in runs:
        took = seconds((run.finished_at - run.started_at).total_seconds()) if run.finished_at else ""
        table.add_row(
            str(run.id),
            ago(run.started_at, now),
            run.mode.value,
            Text(run.status.value, style=STYLES.get(run.status, "default")),
            str(run.generation),
            took,
            _deeds(run),
        )
    out.print(table)
    for run in runs:
        if run.error:
            out.line(clean(f"run {run.id}: {run.error}"))


def _deeds(run: Run) -> Text:
    from rowen.core.run import Counters
    from rowen.doors.cli.receipt import outcomes
    from rowen.doors.cli.words import count

    names = ("created", "updated", "deleted", "skipped", "unchanged", "failed")
    line = outcomes(Counters(**{name: run.counters.get(name, 0) for name in names}))
    asked, not_modified = run.counters.get("requests", 0), run.counters.get("not_modified", 0)
    line.append(f" · {count(asked, 'request')}", "dim")
    if not_modified:
        line.append(f", {not_modified:,} not modified", "dim")
    if run.window:
        back = "history of " if run.window["seeding"] else ""
        line.append(f" · {back}{run.window['since'][:16]} to {run.window['until'][:16]}", "dim")
    return line


def _items(out: Output, run: Run, items: list[RunItem]) -> None:
    from rich.text import Text

    from rowen.doors import shapes

    colours = {
        "created": "green",
        "updated": "green",
        "deleted": "magenta",
        "failed": "red",
        "skipped": "yellow",
    }
    out.line("")
    out.line(Text(f"items of run {run.id}", style="bold"))
    for item in items:
        line = Text(f"{item.outcome.value:<9} ", style=colours.get(item.outcome.value, "default"))
        line.append(f"{item.reason:<16} ", "dim")
        detail = item.detail or ""
        if item.reference not in detail:
            line.append(clean(item.reference), "default").append("  " if detail else "")
        line.append(clean(detail), "default")
        out.line(line)
    for reason, number in shapes.unlisted(run.counters).items():
        others = "others: " if items else ""
        out.line(Text(f"{number:,} {others}unchanged, {reason}", style="dim"))
