"""`rowen pause` and `rowen resume`: whether `rowen serve` syncs a source."""

from __future__ import annotations

from rowen.doors.cli.call import Call, store_command
from rowen.doors.cli.names import source_names
from rowen.doors.cli.starting.declared import click


@store_command("pause")
@click.argument("name", shell_complete=source_names)
async def command(call: Call, name: str) -> None:
    """Stop `rowen serve` from syncing source NAME until `rowen resume`; `rowen sync NAME` still works."""
    from rowen.core.rules.standing import CLI
    from rowen.managing import pausing

    source = await call.source(name)
    await pausing.pause(call.ports.store, call.ports.clock, source, by=CLI)
    call.out.result({"source": source.label, "paused": True}, f"{source.label}: paused")


@store_command("resume")
@click.argument("name", shell_complete=source_names)
async def resume(call: Call, name: str) -> None:
    """Let `rowen serve` sync source NAME again after a pause, a pin, or a fatal error that you fixed."""
    from rowen.managing import pausing

    source = await call.source(name)
    await pausing.resume(call.ports.store, source)
    call.out.result({"source": source.label, "paused": False}, f"{source.label}: resumed")
