"""`rowen embed`: vectors for what has none, and the switch to another model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowen.doors.cli.call import Call
from rowen.doors.cli.call import command as rowen_command

if TYPE_CHECKING:
    from rowen.engine.ports import Ports


@rowen_command("embed", short_help="Compute vectors that are missing, or those of a new model.")
def command(call: Call) -> int:
    """Embed everything that is visible and has no vector under the configured model.

    After a change of model this fills the new one in beside the old; search uses the old one until nothing is
    missing, then switches. Interrupted, it goes on where it stopped.
    """
    from rowen.doors.cli import session

    async def work(ports: Ports) -> int:
        from rowen.doors.cli.words import count
        from rowen.engine import embedding

        model = ports.embedder().model
        before = await ports.store.embedding_gap(model)
        if before.missing and not call.out.json:
            call.out.note(
                f"{count(before.missing, 'text')} of {before.passages:,} to embed with `{model.name}`"
            )
        filled = await embedding.fill(ports)
        after = await ports.store.embedding_gap(model)
        if call.out.json:
            call.out.emit(
                {
                    "model": model.name,
                    "embedded": filled.texts,
                    "missing": after.missing,
                    "error": filled.error.message if filled.error else None,
                }
            )
        else:
            call.out.line(
                f"embedded {count(filled.texts, 'text')} with `{model.name}`, {after.missing:,} missing"
            )
        if filled.error is not None:
            call.out.warn(filled.error.message)
            if filled.error.hint:
                call.out.note(f"hint: {filled.error.hint}")
            return 1
        return 0

    return session.run(call, work)
