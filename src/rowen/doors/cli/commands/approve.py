"""`rowen approve`: make a held generation visible."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rowen.doors.cli.call import Call, store_command

if TYPE_CHECKING:
    from rowen.engine.ports import Ports


@store_command("approve")
@click.argument("name")
async def command(call: Call, ports: Ports, name: str) -> None:
    """Make the generation of source NAME visible that the deletion guard held."""
    from rowen.doors.cli.commands.announce import after_a_change
    from rowen.managing.find import find
    from rowen.reading import history

    source = await find(ports.store, name)
    shown, before = await history.approve(ports, source), source.active_generation
    await after_a_change(ports, call.out)
    call.out.result(
        {"source": source.label, "generation": shown, "before": before},
        f"{source.label}: generation {shown} is visible now, {before} before",
    )
