"""`rowen vacuum`: delete what history does not keep."""

from __future__ import annotations

from dataclasses import asdict

import click

from rowen.doors.cli.call import Call, store_command


@store_command("vacuum")
@click.option(
    "--keep", type=click.IntRange(1), metavar="N", help="Generations to keep; by default as configured."
)
async def command(call: Call, keep: int | None) -> None:
    """Delete what died before the kept generations of each source, and texts that nothing uses any more."""
    from rowen.doors.words import count, size
    from rowen.reading import history

    done = await history.vacuum(
        call.ports.store, await call.ports.store.sources(), keep=keep or call.ports.keep_generations
    )
    parts = [
        count(done.documents, "document version"),
        count(done.contents, "text"),
        count(done.passages, "passage"),
        count(done.vectors, "vector"),
        count(done.handoffs, "handoff"),
    ]
    call.out.result(
        asdict(done),
        f"forgot {', '.join(parts)}\n"
        f"the store has {size(done.bytes_after)}, before {size(done.bytes_before)}",
    )
