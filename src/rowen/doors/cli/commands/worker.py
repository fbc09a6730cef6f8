"""`rowen worker`: do the work that a store hands out, beside any number of others."""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING

import click

from rowen.doors.cli import failure
from rowen.doors.cli.call import Call
from rowen.doors.cli.call import command as rowen_command

if TYPE_CHECKING:
    from rowen.engine.ports import Ports

INTERRUPTED = "stopped; another worker takes up what was under way"


@rowen_command("worker", short_help="Do the work that `rowen serve` hands out, on any machine.")
@click.option("--concurrency", type=click.IntRange(1, 64), help="Tickets to work on at a time.")
def command(call: Call, concurrency: int | None) -> int:
    """Run sources and ingest what runs hand off, until stopped.

    Start as many as you like, on as many machines as reach the store. SIGTERM and Ctrl-C let what is under
    way end first; a second one stops at once, and another worker takes it up.
    """
    from rowen import config as settings
    from rowen import wiring
    from rowen.doors.cli import session

    config, _ = settings.load(db=call.db)
    at_a_time = concurrency or config.workers.concurrency

    async def work(ports: Ports) -> int:
        from rowen.service.worker import work as take_up_tickets

        stop = _stop_on_signals()
        call.out.note(f"working for `{wiring.store_name(config)}` as `{ports.owner}`, {at_a_time} at a time")
        try:
            await take_up_tickets(ports, concurrency=at_a_time, stop=stop)
        except asyncio.CancelledError:
            raise failure.Interrupted(failure.TERMINATED, INTERRUPTED) from None
        call.out.note("stopped; nothing of it is under way any more")
        return 0

    return session.run(call, work, interrupted=INTERRUPTED)


def _stop_on_signals() -> asyncio.Event:
    """The first signal asks to end; after it they mean what they always mean."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()

    def ask() -> None:
        if stop.is_set() and task is not None:
            task.cancel()
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ask)
    return stop
