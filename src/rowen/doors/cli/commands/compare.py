"""`rowen compare`: what changed between two versions of one thing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowen.doors.cli.call import Call, store_command
from rowen.doors.cli.names import source_names
from rowen.doors.cli.output import clean
from rowen.doors.cli.starting.declared import click

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rowen.core.compare.matching import PageOf
    from rowen.doors.cli.drawing.text import Drawable
    from rowen.reading.versions import Compared, Placed

SIGNS = {"added": ("+", "green"), "removed": ("-", "red"), "changed": ("~", "yellow")}


@store_command("compare", reads=True)
@click.argument("before", shell_complete=source_names)
@click.argument("after", shell_complete=source_names)
@click.option("--limit", default=40, show_default=True, type=click.IntRange(1), help="Lines of each kind.")
async def command(call: Call, before: str, after: str, limit: int) -> None:
    """Tell what changed from source BEFORE to source AFTER, two versions of one thing: new, removed and
    changed names with their signatures, sections and pages.

    `rowen compare python@3.11 3.12` compares two versions of one name. Pages are matched by their paths,
    names wherever they are defined.
    """
    from rowen.doors.shapes import compared as shapes
    from rowen.managing.find import find_pair
    from rowen.reading.versions import compare

    found = await compare(call.ports.store, *await find_pair(call.ports.store, before, after), limit=limit)
    if call.out.json:
        call.out.emit(shapes.Compared.show(found))
        return
    from rowen.doors.cli.drawing.parts import Group

    call.out.page(Group(*_drawn(found)))


def _drawn(found: Compared) -> list[Drawable]:
    from rowen.doors.cli.drawing.text import Text

    counts = found.counts
    parts: list[Drawable] = [
        Text(f"{found.before} → {found.after}", style="bold").append(f"  {found.summary}", "default")
    ]
    parts += _notes("Names", found.symbols, _all(counts, "symbols"))
    parts += _notes("Sections", found.sections, _all(counts, "sections"))
    parts += _pages("added", found.pages_added, counts["pages_added"])
    parts += [Text(f"  - {clean(folder.words)}", style="red") for folder in found.folders]
    gone = {reference for folder in found.folders for reference in folder.references}
    removed = [one for one in found.pages_removed if one.reference not in gone]
    parts += _pages("removed", removed, counts["pages_removed"] - len(gone))
    return parts


def _all(counts: Mapping[str, int], what: str) -> int:
    return sum(counts[f"{what}_{change}"] for change in SIGNS)


def _notes(title: str, placed: Sequence[Placed], every: int) -> list[Drawable]:
    from rowen.doors.cli.drawing.text import Text

    if not placed:
        return []
    parts: list[Drawable] = [Text(title, style="bold")]
    for one in placed:
        sign, colour = SIGNS[one.note.change]
        where = "" if title == "Names" else f"{clean(one.title)}: "
        parts.append(Text(f"  {sign} {where}{clean(one.note.words)}", style=colour))
    if every > len(placed):
        parts.append(Text(f"  … {every - len(placed):,} more", style="dim"))
    return parts


def _pages(change: str, pages: Sequence[PageOf], every: int) -> list[Drawable]:
    from rowen.doors.cli.drawing.text import Text

    if not pages:
        return []
    sign, colour = SIGNS[change]
    head = "New pages" if change == "added" else "Removed pages"
    parts: list[Drawable] = [Text(head, style="bold")]
    parts += [
        Text(f"  {sign} {clean(one.title) or one.reference}", style=colour).append(
            f"  {clean(one.url)}", "dim"
        )
        for one in pages
    ]
    if every > len(pages):
        parts.append(Text(f"  … {every - len(pages):,} more", style="dim"))
    return parts
