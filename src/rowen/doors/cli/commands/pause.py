"""`rowen pause` and `rowen resume`: whether `rowen serve` syncs a source."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rowen.doors.cli.call import Call, store_command

if TYPE_CHECKING:
    from rowen.core.source import Source
    from rowen.doors.cli.output import Output
    from rowen.engine.ports import Ports


@store_command("pause")
@click.argument("name")
async def command(call: Call, ports: Ports, name: str) -> None:
    """Stop `rowen serve` from syncing source NAME until `rowen resume`; `rowen sync NAME` still works."""
    from rowen.managing.find import find

    source = await find(ports.store, name)
    await ports.store.set_paused(source.id, True)
    tell(call.out, source, paused=True)


def tell(out: Output, source: Source, *, paused: bool) -> None:
    from rowen.doors.shapes import sources as shapes

    value = shapes.Paused.show(source=source.label, paused=paused)
    out.result(value, f"{source.label}: {'paused' if paused else 'resumed'}")
