"""`rowen rollback`: the pointer goes back; nothing is fetched or written anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rowen.doors.cli.call import Call
from rowen.doors.cli.call import command as rowen_command

if TYPE_CHECKING:
    from rowen.engine.ports import Ports


@rowen_command("rollback", short_help="Show an older generation again.")
@click.argument("name")
@click.option(
    "--to", "to_generation", type=click.IntRange(1), metavar="G", help="Which; else the one before."
)
def command(call: Call, name: str, to_generation: int | None) -> int:
    """Show an older generation of the source NAME again. The next sync builds on it."""
    from rowen.doors.cli import session

    async def work(ports: Ports) -> None:
        from rowen.doors.cli.commands.announce import after_a_change
        from rowen.managing.find import find
        from rowen.reading import history

        source = await find(ports, name)
        shown = await history.rollback(ports, source, to_generation=to_generation)
        await after_a_change(ports, call.out)
        if call.out.json:
            call.out.emit({"source": source.label, "generation": shown, "before": source.active_generation})
        elif shown == source.active_generation:
            call.out.line(f"{source.label}: generation {shown} is what readers see already")
        else:
            call.out.line(
                f"{source.label}: generation {shown} is visible again, {source.active_generation} is not"
            )

    session.run(call, work)
    return 0
