"""Names of sources as arguments and options: the shell completes them from the store.

A shell asks at every press of the Tab key: only the store is opened, and a store that is away, locked or of
another version completes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowen.doors.cli.call import Call
from rowen.doors.cli.starting.declared import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def source_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """For `shell_complete` of an argument or an option."""
    import asyncio

    from click.shell_completion import CompletionItem

    try:
        labels = asyncio.run(_labels(ctx.ensure_object(Call)))
    except Exception:
        # A message between two keys would not be seen.
        return []
    typed = _given(ctx.params.get(param.name or ""))
    return [
        CompletionItem(label, help=location)
        for label, location in labels
        if label.startswith(incomplete) and label not in typed
    ]


def _given(value: Any) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else ()


async def _labels(call: Call) -> list[tuple[str, str]]:
    from dataclasses import replace

    from rowen import wiring

    config = call.config()
    store = wiring.open_store(replace(config, store=replace(config.store, auto_upgrade=False)), create=False)
    try:
        return [(source.label, source.location) for source in await store.sources()]
    finally:
        await store.close()
