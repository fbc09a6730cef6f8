"""`rowen rollback`: the pointer moves back; nothing is fetched or written again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rowen.doors.cli.call import Call, store_command

if TYPE_CHECKING:
    from rowen.engine.ports import Ports


@store_command("rollback")
@click.argument("name")
@click.option(
    "--to",
    "to_generation",
    type=click.IntRange(1),
    metavar="G",
    help="The generation; by default the previous.",
)
async def command(call: Call, ports: Ports, name: str, to_generation: int | None) -> None:
    """Make an older generation of source NAME visible again. The next sync builds on it."""
    from rowen.doors.cli.commands.announce import after_a_change
    from rowen.managing.find import find
    from rowen.reading import history

    source = await find(ports.store, name)
    shown = await history.rollback(ports, source, to_generation=to_generation)
    before = source.active_generation
    await after_a_change(ports, call.out)
    said = "is visible already" if shown == before else f"is visible again, {before} is not"
    call.out.result(
        {"source": source.label, "generation": shown, "before": before},
        f"{source.label}: generation {shown} {said}",
    )
