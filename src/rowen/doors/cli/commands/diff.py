"""`rowen diff`: what differs between two generations of a source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowen.doors.cli.call import Call, store_command
from rowen.doors.cli.names import source_names
from rowen.doors.cli.output import Output, clean
from rowen.doors.cli.starting.declared import click
from rowen.doors.words import CHANGES

if TYPE_CHECKING:
    from rowen.core.generation import Change
    from rowen.core.source import Source
    from rowen.doors.cli.drawing.text import Drawable
    from rowen.engine.ports import Ports

DOCUMENTS_COMPARED = 50
"""Word by word; the others are listed with their headings."""
COLOURS = {"+": "green", "~": "yellow", "-": "red"}


@store_command("diff", reads=True)
@click.argument("name", shell_complete=source_names)
@click.option("--from", "from_generation", type=click.IntRange(0), metavar="G", help="The older generation.")
@click.option("--to", "to_generation", type=click.IntRange(0), metavar="G", help="The newer generation.")
@click.option("--words/--no-words", default=None, help="The words that differ; by default on a terminal.")
async def command(
    call: Call, name: str, from_generation: int | None, to_generation: int | None, words: bool | None
) -> None:
    """Show what changed in source NAME between two generations.

    By default between the visible generation and the one before it, or what is held.
    """
    await perform(
        call.ports,
        call.out,
        await call.source(name),
        words=call.out.console.is_terminal if words is None else words,
        from_generation=from_generation,
        to_generation=to_generation,
    )


async def perform(
    ports: Ports, out: Output, source: Source, *, words: bool = False, **generations: int | None
) -> None:
    """`generations` are `from_generation` and `to_generation`."""
    from rowen.doors.shapes import sources as shapes
    from rowen.reading import history

    diff = await history.diff(ports.store, source, **generations)
    if out.json:
        out.emit(shapes.Diff.show(diff, source=source.label))
        return
    from rowen.doors.cli import word_diff
    from rowen.doors.cli.drawing.parts import Group
    from rowen.doors.cli.drawing.text import Text
    from rowen.reading.diff import document

    counts = ", ".join(f"{number:,} {CHANGES[kind][1]}" for kind, number in diff.counts.items() if number)
    head = Text(source.label, style="bold")
    head.append(f"  generation {diff.from_generation} → {diff.to_generation}", "default")
    head.append(f": {counts or 'no difference'}", "default")
    if diff.held:
        head.append("  held, not shown to readers", "yellow")
    parts: list[Drawable] = [head]
    numbers = {"from_generation": diff.from_generation, "to_generation": diff.to_generation}
    for number, change in enumerate(diff.changes):
        by_word = words and change.kind == "changed" and number < DOCUMENTS_COMPARED
        parts += _change(change, headings=not by_word)
        if by_word:
            compared = await document(ports.store, source, change.reference, **numbers)
            parts += word_diff.drawn(compared.text, colours=out.has_colours)
    out.page(Group(*parts))


def _change(change: Change, *, headings: bool) -> list[Drawable]:
    from rowen.doors.cli.drawing.text import Text
    from rowen.doors.cli.word_diff import BEFORE_HEADINGS

    sign = CHANGES[change.kind][0]
    line = Text(f"{sign} {clean(change.title) or change.reference}", style=COLOURS[sign], whole=True)
    parts: list[Drawable] = [line.append(f"  {clean(change.url)}", "dim")]
    for mark, path in _headings(change) if headings else ():
        heading = clean(path) or BEFORE_HEADINGS
        parts.append(Text(f"    {mark} ", style=COLOURS[mark]).append(heading, "default"))
    if change.fields and "text" not in change.fields:
        parts.append(Text(f"    ~ {clean(', '.join(change.fields))}", style="dim"))
    return parts


def _headings(change: Change) -> list[tuple[str, str]]:
    """A section whose text changed is removed and added under one heading: it is shown once, as changed."""
    added, removed = change.headings_added, change.headings_removed
    return [
        *(("~", path) for path in added if path in removed),
        *(("+", path) for path in added if path not in removed),
        *(("-", path) for path in removed if path not in added),
    ]
