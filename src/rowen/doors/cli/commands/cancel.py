"""`rowen cancel`: end the run of a source, in whichever process it is."""

from __future__ import annotations

from rowen.doors.cli.call import Call, store_command
from rowen.doors.cli.names import source_names
from rowen.doors.cli.starting.declared import click


@store_command("cancel")
@click.argument("name", shell_complete=source_names)
async def command(call: Call, name: str) -> None:
    """Cancel the run of source NAME, in any process, and syncs of it that wait.

    What was visible stays, and the next sync continues with what was stored. A run of another process ends at
    its next heartbeat, within 15 seconds.
    """
    from rowen.doors.shapes import runs as shapes
    from rowen.service.cancelling import cancel_source

    source = await call.source(name)
    done = await cancel_source(call.ports, source)
    run = f"run {done.run.id}" if done.run else ""
    said = {
        "cancelled": f"{run} cancelled",
        "requested": f"{run} was told, and has not ended yet",
        "ended": f"{run} had ended: {done.run.status.value if done.run else ''}",
        "dropped": "no run was under way; what waited to sync it was dropped",
        "nothing": "no run is under way",
    }
    call.out.result(shapes.Cancelled.show(done), f"{source.label}: {said[done.outcome]}")
