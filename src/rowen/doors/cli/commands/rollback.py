"""`rowen rollback` and `rowen approve`: the pointer to the visible generation moves; nothing is fetched."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rowen.doors.cli.call import Call, store_command
from rowen.doors.cli.names import source_names

if TYPE_CHECKING:
    from rowen.core.source import Source


@store_command("rollback")
@click.argument("name", shell_complete=source_names)
@click.option(
    "--to",
    "to_generation",
    type=click.IntRange(1),
    metavar="G",
    help="The generation; by default the previous.",
)
async def command(call: Call, name: str, to_generation: int | None) -> None:
    """Make an older generation of source NAME visible again. The next sync builds on it."""
    from rowen.core.rules.standing import CLI
    from rowen.reading import history

    source = await call.source(name)
    shown = await history.rollback(call.ports, source, to_generation=to_generation, by=CLI)
    before = source.active_generation
    said = "is visible already" if shown == before else f"is visible again, {before} is not"
    await _show(call, source, shown, said)


@store_command("approve")
@click.argument("name", shell_complete=source_names)
async def approve(call: Call, name: str) -> None:
    """Make the generation of source NAME visible that the deletion guard held."""
    from rowen.core.rules.standing import CLI
    from rowen.reading import history

    source = await call.source(name)
    shown = await history.approve(call.ports, source, by=CLI)
    await _show(call, source, shown, f"is visible now, {source.active_generation} before")


async def _show(call: Call, source: Source, shown: int, said: str) -> None:
    from rowen.doors.cli.commands.announce import after_a_change

    await after_a_change(call.ports, call.out)
    call.out.result(
        {"source": source.label, "generation": shown, "before": source.active_generation},
        f"{source.label}: generation {shown} {said}",
    )
