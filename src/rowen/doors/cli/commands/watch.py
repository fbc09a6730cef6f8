"""`rowen watch`: follow one source until Ctrl-C."""

from __future__ import annotations

from rowen.doors.cli.call import Call, store_command
from rowen.doors.cli.names import source_names
from rowen.doors.cli.starting.declared import click

INTERRUPTED = "stopped watching; what was visible stays"


@store_command("watch", interrupted=INTERRUPTED)
@click.argument("name", shell_complete=source_names)
async def command(call: Call, name: str) -> None:
    """Follow source NAME until Ctrl-C: a folder as its files change, a site by its schedule.

    A saved file is found by search a moment later. One line for each run that brought something; all of them
    with -v.
    """
    from contextlib import aclosing

    from rowen.core.rules.duration import interval_s
    from rowen.doors.cli import run_line
    from rowen.doors.cli.commands.announce import after_a_change
    from rowen.engine.receipt import Receipt
    from rowen.service.watch import watch

    ports = call.ports
    source = await call.source(name)
    follows = ports.kinds.named(source.kind).follows_files
    how = "as its files change" if follows else "by its schedule"
    call.out.note(f"watching {source.label} {how}: {source.location}; Ctrl-C ends it")
    every_s = interval_s(call.config().runs.every)
    async with aclosing(watch(ports, source, default_every_s=every_s)) as results:
        async for result in results:
            run_line.show(call.out, result, ports.clock.now(), everything=call.verbose)
            if isinstance(result, Receipt) and run_line.has_news(result):
                await after_a_change(ports, call.out)
