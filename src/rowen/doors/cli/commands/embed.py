"""`rowen embed`: vectors for texts that have none, and the switch to another model."""

from __future__ import annotations

from rowen.doors.cli.call import Call, store_command


@store_command("embed")
async def command(call: Call) -> int:
    """Embed every visible text that has no vector under the configured model.

    After a change of model, the vectors of the new one are added beside the old; search uses the old one
    until none is missing, then switches. If interrupted, the next call continues.
    """
    from rowen.doors.words import count
    from rowen.engine import embedding

    model = call.ports.embedder().model
    before = await call.ports.store.embedding_gap(model)
    if before.missing:
        call.out.note(f"{count(before.missing, 'text')} of {before.passages:,} to embed with `{model.name}`")
    filled = await embedding.fill(call.ports)
    missing = (await call.ports.store.embedding_gap(model)).missing
    error = filled.error
    call.out.result(
        {
            "model": model.name,
            "embedded": filled.texts,
            "missing": missing,
            "error": error.message if error else None,
        },
        f"embedded {count(filled.texts, 'text')} with `{model.name}`, {missing:,} missing",
    )
    if error is None:
        return 0
    call.out.warn(error.message, error.hint)
    return 1
