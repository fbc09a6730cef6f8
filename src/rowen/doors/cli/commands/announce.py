"""`rowen announce`: send what waits to the sinks, without waiting for the next run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rowen.doors.cli import failure
from rowen.doors.cli.call import Call
from rowen.doors.cli.call import command as rowen_command
from rowen.doors.cli.output import Output

if TYPE_CHECKING:
    from rowen.engine.ports import Ports
    from rowen.sinks.announce import Announced


@rowen_command("announce", short_help="Send what waits to the sinks, now.")
@click.argument("names", nargs=-1, metavar="[SINK]...")
@click.option("--now", is_flag=True, help="Also outside the hours of a sink, and one that is disabled.")
def command(call: Call, names: tuple[str, ...], now: bool) -> int:
    """Send what waits to the named sinks, or to all.

    With --json, one JSON object a sink and line. `rowen serve` does the same after each run.
    """
    from rowen.doors.cli import session

    async def work(ports: Ports) -> int:
        from rowen.doors import shapes
        from rowen.sinks.announce import announce

        # Whoever types this wants it tried, also where it failed and failed.
        only = names or [sink.name for sink in await ports.store.sinks()]
        done = await announce(ports, only=only, force=now)
        for one in done:
            if call.out.json:
                call.out.emit(shapes.Announced.show(one))
            else:
                _say(call.out, one)
        if not done:
            call.out.line("no sinks")
        return failure.FAILED if any(one.error for one in done) else failure.GOOD

    return session.run(call, work, interrupted="interrupted: what was taken is not sent again")


async def after_a_change(ports: Ports, out: Output) -> None:
    """What a command showed to readers goes to the sinks. One that fails is a warning: the work was done."""
    from rowen.sinks.announce import announce

    for one in await announce(ports):
        if one.error is not None:
            out.warn(f"sink `{one.sink}`: {one.error.message}; what it did not get is sent with the next run")


def _say(out: Output, one: Announced) -> None:
    from rowen.doors.cli.words import count

    until = f" until {one.until:%Y-%m-%d %H:%M} UTC" if one.until else ""
    match one.outcome.value:
        case "failed" if one.error is not None:
            failure.tell(f"sink `{one.sink}`: {one.error.message}", one.error.reason, one.error.hint, out=out)
        case "sent":
            # What a kind counts is its own: changes, documents, cells.
            out.line(f"{one.sink}: sent, {count(one.sent, 'item')}")
        case "nothing":
            out.line(f"{one.sink}: has everything")
        case "waits":
            out.line(f"{one.sink}: waits{until}")
        case "busy":
            out.line(f"{one.sink}: somebody else sends to it")
        case "disabled":
            out.line(f"{one.sink}: disabled, its receiver said it is gone")
