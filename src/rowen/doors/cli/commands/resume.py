"""`rowen resume`: let `rowen serve` sync a source again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rowen.doors.cli.call import Call, store_command

if TYPE_CHECKING:
    from rowen.engine.ports import Ports


@store_command("resume")
@click.argument("name")
async def command(call: Call, ports: Ports, name: str) -> None:
    """Let `rowen serve` sync source NAME again after a pause, or after a fatal error that you fixed."""
    from rowen.doors.cli.commands.pause import tell
    from rowen.managing.find import find
    from rowen.service.attempts import resume

    source = await find(ports.store, name)
    await resume(ports.store, ports.clock, source)
    tell(call.out, source, paused=False)
