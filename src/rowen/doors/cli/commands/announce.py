"""`rowen announce`: send what waits to the sinks, without waiting for the next run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowen.doors.cli import failure
from rowen.doors.cli.call import Call, store_command
from rowen.doors.cli.output import Output
from rowen.doors.cli.starting.declared import click
from rowen.doors.words import count, until

if TYPE_CHECKING:
    from rowen.engine.ports import Ports
    from rowen.sinks.announce import Announced


@store_command("announce", interrupted="interrupted: what a sink has taken is not sent again")
@click.argument("names", nargs=-1, metavar="[SINK]...")
@click.option("--now", is_flag=True, help="Also send outside the hours of a sink, and to a disabled sink.")
async def command(call: Call, names: tuple[str, ...], now: bool) -> int:
    """Send what waits to the named sinks, or to all.

    With --json, one JSON object per sink and line. `rowen serve` does the same after each run.
    """
    from rowen.doors.shapes import sources as shapes
    from rowen.sinks.announce import announce

    # A person who calls this wants a sink tried that waits after failures, too.
    only = names or [sink.name for sink in await call.ports.store.sinks()]
    done = await announce(call.ports, only=only, force=now)
    for one in done:
        if call.out.json:
            call.out.emit(shapes.Announced.show(one))
        else:
            _say(call.out, one)
    if not done:
        call.out.line("no sinks")
    return failure.FAILED if any(one.error for one in done) else failure.GOOD


async def after_a_change(ports: Ports, out: Output) -> None:
    """Send what a command made visible to the sinks, and wait for them a moment.

    A sink that fails, or that needs longer, is a warning: the work was done.
    """
    from rowen.sinks.announcer import Announcer

    async with Announcer(ports) as announcer:
        announcer.notify()
        left = await announcer.finish(lambda busy: out.note(f"sending to {_listed(busy)} ..."))
        done = list(announcer.done.values())
    for one in done:
        if one.error is not None:
            # To a receiver that is gone nothing is sent before a person insists.
            later = "" if one.error.reason == "gone" else "; what it did not get is sent with the next run"
            out.warn(f"sink `{one.sink}`: {one.error.message}{later}", one.error.hint)
    for name in left:
        out.warn(
            f"sink `{name}`: still sending; the rest is left for the next run",
            f"`rowen announce {name}` sends it and waits",
        )


def _listed(names: list[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names)
    return f"sink {shown}" if len(names) == 1 else f"sinks {shown}"


def _say(out: Output, one: Announced) -> None:
    if one.outcome.value == "failed" and one.error is not None:
        failure.tell(f"sink `{one.sink}`: {one.error.message}", one.error.reason, one.error.hint, out=out)
        return
    said = {
        # What a kind of sink counts is its own: changes, documents, cells.
        "sent": f"sent, {count(one.sent, 'item')}",
        "nothing": "has everything",
        "waits": f"waits{until(one.until)}",
        "busy": "another process sends to it",
        "disabled": f"disabled, its receiver said it is gone; `rowen announce {one.sink} --now` tries again",
    }
    if one.outcome.value in said:
        out.line(f"{one.sink}: {said[one.outcome.value]}")
