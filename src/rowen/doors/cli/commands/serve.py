"""`rowen serve`: look after every source, day and night."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rowen.doors.cli.call import Call
from rowen.doors.cli.call import command as rowen_command

if TYPE_CHECKING:
    from rowen.flows.tools import Tools

INTERRUPTED = "stopped; what was visible stays, and what is due runs with the next `rowen serve`"


@rowen_command("serve", short_help="Look after every source: sync what is due, for ever.")
@click.option("--once", is_flag=True, help="Sync what is due now, then end.")
def command(call: Call, once: bool) -> int:
    """Sync every source when it is due, one after the other, until stopped.

    A client that limits us is left alone for as long as it says, or six hours; others go on. One process
    looks after a store: a second one says who does.
    """
    from rowen import config as settings
    from rowen.core.schedule import seconds
    from rowen.doors.cli import session

    config, _ = settings.load(db=call.db)
    every_s = seconds(config.runs.every)

    async def work(tools: Tools) -> int:
        from rowen.doors import views
        from rowen.doors.cli import receipt as receipts
        from rowen.flows.orchestrate import Passed, serve

        good = True
        async for turn in serve(tools, default_every_s=every_s, once=once):
            if isinstance(turn, Passed):
                good = False
                until = f" until {turn.until:%Y-%m-%d %H:%M} UTC" if turn.until else ""
                call.out.warn(f"{turn.source.label}: not run, {turn.reason}{until}")
                continue
            good = good and turn.good
            if call.out.json:
                call.out.emit(views.receipt(turn))
            else:
                call.out.print(receipts.render(turn))
            if turn.error:
                call.out.warn(turn.error)
                if turn.hint:
                    call.out.note(f"hint: {turn.hint}")
        return 0 if good else 1

    return session.run(call, work, interrupted=INTERRUPTED)
