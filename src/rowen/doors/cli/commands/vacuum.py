"""`rowen vacuum`: delete what history does not keep."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta

from rowen.doors.cli.call import Call, store_command
from rowen.doors.cli.starting.declared import click


@store_command("vacuum")
@click.option(
    "--keep", type=click.IntRange(1), metavar="N", help="Generations to keep; by default as configured."
)
async def command(call: Call, keep: int | None) -> None:
    """Delete what died before the kept generations of each source, and what nothing uses any more:
    texts, passages, vectors, references.

    It also deletes records of finished handoffs that are older than `history.keep_handoffs`, and responses
    that were fetched for plans more than a day ago.
    """
    from rowen.doors.words import count, size
    from rowen.managing import plans
    from rowen.reading import history

    ports = call.ports
    await plans.forget(ports.store, now=ports.clock.now())
    done = await history.vacuum(
        ports.store,
        await ports.store.sources(),
        keep=keep or ports.keep_generations,
        keep_s=ports.keep_s,
        now=ports.clock.now(),
        handoffs_before=ports.clock.now() - timedelta(seconds=ports.keep_handoffs_s),
    )
    parts = [
        count(done.documents, "document version"),
        count(done.contents, "text"),
        count(done.passages, "passage"),
        count(done.vectors, "vector"),
        count(done.handoffs, "handoff"),
        count(done.references, "reference"),
    ]
    call.out.result(
        asdict(done),
        f"forgot {', '.join(parts)}\n"
        f"the store has {size(done.bytes_after)}, before {size(done.bytes_before)}",
    )
