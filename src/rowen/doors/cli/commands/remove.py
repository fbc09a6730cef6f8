"""`rowen remove`: delete a source and everything stored of it, after a question."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from rowen.doors.cli.call import Call
from rowen.doors.cli.call import command as rowen_command
from rowen.doors.cli.names import source_names
from rowen.doors.cli.starting.declared import click
from rowen.errors import UserError

if TYPE_CHECKING:
    from rowen.core.source import Source
    from rowen.engine.ports import Ports


@rowen_command("remove")
@click.argument("name", shell_complete=source_names)
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
def command(call: Call, name: str, yes: bool) -> None:
    """Delete source NAME: its documents, generations, runs and handoffs."""
    from rowen.doors.cli import session
    from rowen.doors.shapes import sources as shapes
    from rowen.doors.words import count

    async def look(ports: Ports) -> tuple[Source, int]:
        from rowen.managing.find import find

        source = await find(ports.store, name)
        return source, (await ports.store.stats(source.id)).documents

    # The store is closed while the question waits for its answer.
    source, documents = session.run(call, look)
    what = f"{count(documents, 'document')} and all history"
    if not yes:
        if call.out.json or not sys.stdin.isatty():
            raise UserError(
                f"source `{source.label}`: removing it deletes {what}",
                hint="say `--yes` to do it without a question",
            )
        if not click.confirm(f"Delete `{source.label}`, {what}?", err=True):
            call.out.note("nothing was removed")
            return

    async def work(ports: Ports) -> None:
        from rowen.doors.cli.commands.announce import after_a_change
        from rowen.managing.find import find
        from rowen.managing.sources import remove

        await remove(ports, await find(ports.store, source.label))
        await after_a_change(ports, call.out)

    session.run(call, work)
    value = shapes.Removed.show(source=source.label, removed=True, documents=documents)
    call.out.result(value, f"removed {source.label}: {count(documents, 'document')}")
