"""`rowen resume`: look after a source again."""

from __future__ import annotations

import click

from rowen.doors.cli.call import Call
from rowen.doors.cli.call import command as rowen_command
from rowen.doors.cli.commands.pause import set_paused


@rowen_command("resume", short_help="Let `rowen serve` look after a source again.")
@click.argument("name")
def command(call: Call, name: str) -> int:
    """Let `rowen serve` look after source NAME again: one that was paused, or stopped by a fatal error."""
    return set_paused(call, name, paused=False)
