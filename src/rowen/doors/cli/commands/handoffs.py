"""`rowen handoffs`: the record of what was handed to ingestion, newest first."""

from __future__ import annotations

from rowen.core.handoff import Handoff, HandoffStatus, Reason
from rowen.doors.cli.call import Call, store_command
from rowen.doors.cli.names import source_names
from rowen.doors.cli.output import clean
from rowen.doors.cli.starting.declared import MOST, click

COLOURS = {"completed": "green", "failed": "red", "running": "cyan", "queued": "yellow"}


@store_command("handoffs", reads=True)
@click.argument("name", required=False, shell_complete=source_names)
@click.option("--status", type=click.Choice([*COLOURS]), help="Only in this state.")
@click.option(
    "--reason",
    type=click.Choice([one.value for one in Reason]),
    metavar="CODE",
    help="Only with this reason code.",
)
@click.option("--run", "run_id", type=click.IntRange(1, MOST), metavar="ID", help="Only of this run.")
@click.option(
    "--limit", default=100, show_default=True, type=click.IntRange(1, MOST), help="At most this many."
)
@click.option("--offset", default=0, type=click.IntRange(0, MOST), help="Skip this many.")
async def command(
    call: Call,
    name: str | None,
    status: str | None,
    reason: str | None,
    run_id: int | None,
    limit: int,
    offset: int,
) -> None:
    """Show the handoffs of source NAME, or of all sources."""
    from rowen.doors.shapes import runs as shapes

    found = await call.ports.store.handoffs(
        source_id=(await call.source(name)).id if name else None,
        status=HandoffStatus(status) if status else None,
        reason=reason,
        run_id=run_id,
        # One more than is shown, to say whether there are more.
        limit=limit + 1,
        offset=offset,
    )
    found, more = found[:limit], len(found) > limit
    if call.out.json:
        call.out.emit({"handoffs": [shapes.Handoff.show(one) for one in found]})
        return
    if not found:
        call.out.line("no handoffs")
        return
    from rowen.doors.cli.drawing.text import Text

    rows = [
        (
            str(one.id),
            one.source,
            Text(one.status.value, style=COLOURS[one.status.value]),
            one.reason_code,
            str(one.attempts),
            clean("  ".join(filter(None, (one.reference, _next(one), one.last_error)))),
        )
        for one in found
    ]
    call.out.table([">id", "source", "status", "reason", ">attempts", "~reference"], rows)
    if more:
        call.out.note(f"there are more: `--offset {offset + limit}` shows the next ones")


def _next(one: Handoff) -> str | None:
    return f"next attempt {one.retry_at:%Y-%m-%d %H:%M:%S} UTC" if one.retry_at else None
