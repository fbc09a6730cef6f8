"""`rowen pause`: leave a source alone until it is resumed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rowen.doors.cli.call import Call
from rowen.doors.cli.call import command as rowen_command

if TYPE_CHECKING:
    from rowen.engine.ports import Ports


@rowen_command("pause", short_help="Let `rowen serve` leave a source alone.")
@click.argument("name")
def command(call: Call, name: str) -> int:
    """Let `rowen serve` leave source NAME alone until `rowen resume`; `rowen sync NAME` still works."""
    return set_paused(call, name, paused=True)


def set_paused(call: Call, name: str, *, paused: bool) -> int:
    from rowen.doors.cli import session

    async def work(ports: Ports) -> None:
        from rowen.doors import shapes
        from rowen.managing.find import find
        from rowen.service.attempts import resume

        source = await find(ports, name)
        if paused:
            await ports.store.set_paused(source.id, True)
        else:
            await resume(ports.store, ports.clock, source)
        if call.out.json:
            call.out.emit(shapes.Paused.show(source=source.label, paused=paused))
        else:
            call.out.line(f"{source.label}: {'paused' if paused else 'resumed'}")

    session.run(call, work)
    return 0
