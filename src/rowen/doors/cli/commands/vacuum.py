"""`rowen vacuum`: forget what history does not keep."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from rowen.doors.cli.call import Call
from rowen.doors.cli.call import command as rowen_command

if TYPE_CHECKING:
    from rowen.engine.ports import Ports


@rowen_command("vacuum", short_help="Forget history that is not kept, and give space back.")
@click.option("--keep", type=click.IntRange(1), metavar="N", help="Generations to keep; else as configured.")
def command(call: Call, keep: int | None) -> int:
    """Forget what died before the kept generations of each source, and what nobody uses any more."""
    from rowen.doors.cli import session

    async def work(ports: Ports) -> None:
        from rowen.doors.cli.words import count, size
        from rowen.reading import history

        done = await history.vacuum(ports, await ports.store.sources(), keep=keep)
        if call.out.json:
            call.out.emit(asdict(done))
            return
        parts = [
            count(done.documents, "document version"),
            count(done.contents, "text"),
            count(done.passages, "passage"),
            count(done.vectors, "vector"),
            count(done.handoffs, "handoff"),
        ]
        call.out.line(f"forgot {', '.join(parts)}")
        call.out.line(f"the store has {size(done.bytes_after)}, before {size(done.bytes_before)}")

    session.run(call, work)
    return 0
