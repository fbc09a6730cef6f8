"""`rowen approve`: let a held generation through."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rowen.doors.cli.call import Call
from rowen.doors.cli.call import command as rowen_command

if TYPE_CHECKING:
    from rowen.engine.ports import Ports


@rowen_command("approve", short_help="Show a generation that the deletion guard held.")
@click.argument("name")
def command(call: Call, name: str) -> int:
    """Show the generation of the source NAME that was held because it removes so much."""
    from rowen.doors.cli import session

    async def work(ports: Ports) -> None:
        from rowen.doors.cli.commands.announce import after_a_change
        from rowen.managing.find import find
        from rowen.reading import history

        source = await find(ports, name)
        shown = await history.approve(ports, source)
        await after_a_change(ports, call.out)
        if call.out.json:
            call.out.emit({"source": source.label, "generation": shown, "before": source.active_generation})
        else:
            call.out.line(
                f"{source.label}: generation {shown} is visible now, {source.active_generation} before"
            )

    session.run(call, work)
    return 0
