"""`rowen remove`: a source and everything stored of it, after a question."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from rowen.doors.cli.call import Call
from rowen.doors.cli.call import command as rowen_command
from rowen.errors import UserError

if TYPE_CHECKING:
    from rowen.engine.ports import Ports


@rowen_command("remove", short_help="Forget a source and everything stored of it.")
@click.argument("name")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
def command(call: Call, name: str, yes: bool) -> int:
    """Forget the source NAME: its documents, generations, runs and handoffs."""
    from rowen.doors import shapes
    from rowen.doors.cli import session
    from rowen.doors.cli.words import count

    async def look(ports: Ports) -> tuple[str, int]:
        from rowen.managing.find import find

        source = await find(ports, name)
        return source.label, (await ports.store.stats(source.id)).documents

    label, documents = session.run(call, look)
    if not yes:
        if call.out.json or not sys.stdin.isatty():
            raise UserError(
                f"source `{label}`: removing it forgets {count(documents, 'document')} and their history",
                hint="say `--yes` to do it without a question",
            )
        question = f"Forget `{label}`, {count(documents, 'document')} and their history?"
        if not click.confirm(question, err=True):
            call.out.note("nothing was removed")
            return 0

    async def work(ports: Ports) -> None:
        from rowen.managing import find as finding
        from rowen.managing import sources

        await sources.remove(ports, await finding.find(ports, label))

    session.run(call, work)
    if call.out.json:
        call.out.emit(shapes.Removed.show(source=label, removed=True, documents=documents))
    else:
        call.out.line(f"removed {label}: {count(documents, 'document')}")
    return 0
