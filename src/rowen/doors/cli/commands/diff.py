"""`rowen diff`: what a reader of one generation would find different in another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rowen.doors.cli.call import Call
from rowen.doors.cli.call import command as rowen_command
from rowen.doors.cli.output import Output, clean

if TYPE_CHECKING:
    from rowen.core.source import Source
    from rowen.engine.ports import Ports

SIGNS = {"added": ("+", "green"), "changed": ("~", "yellow"), "removed": ("-", "red")}


@rowen_command("diff", short_help="Show what changed between two generations.")
@click.argument("name")
@click.option("--from", "from_generation", type=click.IntRange(0), metavar="G", help="The older one.")
@click.option("--to", "to_generation", type=click.IntRange(0), metavar="G", help="The newer one.")
def command(call: Call, name: str, from_generation: int | None, to_generation: int | None) -> int:
    """Show what changed in the source NAME between two generations.

    By default between the visible generation and the one before it.
    """
    from rowen.doors.cli import session

    async def work(ports: Ports) -> None:
        from rowen.managing.find import find

        source = await find(ports, name)
        await perform(ports, call.out, source, from_generation=from_generation, to_generation=to_generation)

    session.run(call, work)
    return 0


async def perform(
    ports: Ports,
    out: Output,
    source: Source,
    *,
    from_generation: int | None = None,
    to_generation: int | None = None,
) -> None:
    from rowen.doors import shapes
    from rowen.reading import history

    diff = await history.diff(ports, source, from_generation=from_generation, to_generation=to_generation)
    if out.json:
        out.emit(shapes.Diff.show(diff, source=source.label))
        return
    from rich.text import Text

    head = Text(source.label, style="bold")
    out.line(head.append(f"  generation {diff.from_generation} → {diff.to_generation}", "default"))
    for change in diff.changes:
        sign, colour = SIGNS[change.kind]
        line = Text(f"{sign} ", style=colour).append(clean(change.title) or change.reference, colour)
        out.line(line.append(f"  {clean(change.url)}", "dim"))
        # A section whose text changed is gone under its heading and new under the same: said once.
        changed = [path for path in change.headings_added if path in change.headings_removed]
        for sign, colour, paths in (
            ("~", "yellow", changed),
            ("+", "green", [path for path in change.headings_added if path not in changed]),
            ("-", "red", [path for path in change.headings_removed if path not in changed]),
        ):
            for path in paths:
                out.line(
                    Text(f"    {sign} ", style=colour).append(
                        clean(path) or "(before the first heading)", "default"
                    )
                )
    kinds = [change.kind for change in diff.changes]
    counts = ", ".join(f"{kinds.count(kind):,} {kind}" for kind in SIGNS if kind in kinds)
    out.line(Text(counts or "no difference", style="dim"))
