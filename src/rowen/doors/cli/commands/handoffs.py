"""`rowen handoffs`: the durable record of what was handed to ingestion, newest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rowen.doors.cli.call import Call
from rowen.doors.cli.call import command as rowen_command
from rowen.doors.cli.output import clean

if TYPE_CHECKING:
    from rowen.engine.ports import Ports


@rowen_command("handoffs", short_help="Show the changed items that were handed to ingestion.")
@click.argument("name", required=False)
@click.option(
    "--status", type=click.Choice(["queued", "running", "completed", "failed"]), help="Only in this state."
)
@click.option("--run", "run_id", type=int, metavar="ID", help="Only of this run.")
@click.option("--limit", default=100, show_default=True, type=click.IntRange(1), help="At most so many.")
@click.option("--offset", default=0, type=click.IntRange(0), help="Leave out the first so many.")
def command(
    call: Call, name: str | None, status: str | None, run_id: int | None, limit: int, offset: int
) -> int:
    """Show the handoffs of the source NAME, or of all sources."""
    from rowen.doors.cli import session

    async def work(ports: Ports) -> None:
        from rowen.core.handoff import HandoffStatus
        from rowen.doors import shapes
        from rowen.managing.find import find

        source = await find(ports, name) if name else None
        found = await ports.store.handoffs(
            source_id=source.id if source else None,
            status=HandoffStatus(status) if status else None,
            run_id=run_id,
            limit=limit,
            offset=offset,
        )
        if call.out.json:
            call.out.emit({"handoffs": [shapes.Handoff.show(one) for one in found]})
            return
        if not found:
            call.out.line("no handoffs")
            return
        from rich.table import Table
        from rich.text import Text

        colours = {"completed": "green", "failed": "red", "running": "cyan", "queued": "yellow"}
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
        table.add_column("id", justify="right", no_wrap=True)
        for column in ("source", "status", "reason"):
            table.add_column(column, no_wrap=True)
        table.add_column("attempts", justify="right", no_wrap=True)
        table.add_column("reference", overflow="fold")
        for one in found:
            said = f"{one.reference}  {one.last_error}" if one.last_error else one.reference
            table.add_row(
                str(one.id),
                one.source,
                Text(one.status.value, style=colours[one.status.value]),
                one.reason_code,
                str(one.attempts),
                clean(said),
            )
        call.out.print(table)

    session.run(call, work)
    return 0
