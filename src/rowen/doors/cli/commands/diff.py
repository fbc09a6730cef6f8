"""`rowen diff`: what differs between two generations of a source."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rowen.doors.cli.call import Call, store_command
from rowen.doors.cli.names import source_names
from rowen.doors.cli.output import Output, clean
from rowen.doors.words import CHANGES

if TYPE_CHECKING:
    from rowen.core.generation import Change
    from rowen.core.source import Source
    from rowen.engine.ports import Ports

COLOURS = {"+": "green", "~": "yellow", "-": "red"}


@store_command("diff")
@click.argument("name", shell_complete=source_names)
@click.option("--from", "from_generation", type=click.IntRange(0), metavar="G", help="The older generation.")
@click.option("--to", "to_generation", type=click.IntRange(0), metavar="G", help="The newer generation.")
async def command(call: Call, name: str, from_generation: int | None, to_generation: int | None) -> None:
    """Show what changed in source NAME between two generations.

    By default between the visible generation and the one before it.
    """

    source = await call.source(name)
    await perform(call.ports, call.out, source, from_generation=from_generation, to_generation=to_generation)


async def perform(ports: Ports, out: Output, source: Source, **generations: int | None) -> None:
    """`generations` are `from_generation` and `to_generation`."""
    from rowen.doors.shapes import sources as shapes
    from rowen.reading import history

    diff = await history.diff(ports.store, source, **generations)
    if out.json:
        out.emit(shapes.Diff.show(diff, source=source.label))
        return
    from rich.text import Text

    head = Text(source.label, style="bold")
    out.line(head.append(f"  generation {diff.from_generation} → {diff.to_generation}", "default"))
    for change in diff.changes:
        sign = CHANGES[change.kind][0]
        line = Text(f"{sign} {clean(change.title) or change.reference}", style=COLOURS[sign])
        out.line(line.append(f"  {clean(change.url)}", "dim"))
        for sign, path in _headings(change):
            heading = clean(path) or "(before the first heading)"
            out.line(Text(f"    {sign} ", style=COLOURS[sign]).append(heading, "default"))
        if change.fields and "text" not in change.fields:
            out.line(Text(f"    ~ {clean(', '.join(change.fields))}", style="dim"))
    kinds = [change.kind for change in diff.changes]
    counts = ", ".join(
        f"{kinds.count(kind):,} {word}" for kind, (_, word) in CHANGES.items() if kind in kinds
    )
    out.line(Text(counts or "no difference", style="dim"))


def _headings(change: Change) -> list[tuple[str, str]]:
    """A section whose text changed is removed and added under one heading: it is shown once, as changed."""
    added, removed = change.headings_added, change.headings_removed
    return [
        *(("~", path) for path in added if path in removed),
        *(("+", path) for path in added if path not in removed),
        *(("-", path) for path in removed if path not in added),
    ]
