"""`rowen worker`: do the work that `rowen serve` hands out, beside any number of other workers."""

from __future__ import annotations

import asyncio
import signal

from rowen.doors.cli import failure
from rowen.doors.cli.call import Call, store_command
from rowen.doors.cli.starting.declared import click

INTERRUPTED = "stopped; another worker continues what was under way"


@store_command("worker", interrupted=INTERRUPTED, creates=True)
@click.option("--concurrency", type=click.IntRange(1, 64), help="Tickets to work on at a time.")
async def command(call: Call, concurrency: int | None) -> None:
    """Run sources and ingest what runs hand off, until stopped.

    Start any number of workers, on every machine that reaches the store. SIGTERM and Ctrl-C let the tickets
    under way end first; a second one stops at once, and another worker continues them.
    """
    from rowen import wiring
    from rowen.service.worker import work

    config = call.config()
    at_a_time = concurrency or config.workers.concurrency
    stop = _stop_on_signals()
    call.out.note(f"working for `{wiring.store_name(config)}` as `{call.ports.owner}`, {at_a_time} at a time")
    try:
        await work(call.ports, concurrency=at_a_time, stop=stop)
    except asyncio.CancelledError:
        raise failure.Interrupted(failure.TERMINATED, INTERRUPTED) from None
    call.out.note("stopped; none of its tickets is under way")


def _stop_on_signals() -> asyncio.Event:
    """The first signal asks the work to end; a second one cancels it."""
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
