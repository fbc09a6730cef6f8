"""`rowen rollback` and `rowen approve`: the pointer to the visible generation moves; nothing is fetched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowen.doors.cli.call import Call, store_command
from rowen.doors.cli.names import source_names
from rowen.doors.cli.starting.declared import click

if TYPE_CHECKING:
    from rowen.core.source import Source


@store_command("rollback")
@click.argument("name", shell_complete=source_names)
@click.option(
    "--to",
    "to_generation",
    type=click.IntRange(1),
    metavar="G",
    help="The generation; by default the previous.",
)
@click.option("--pin", is_flag=True, help="Stay there: the source is not synced until `rowen resume`.")
async def command(call: Call, name: str, to_generation: int | None, pin: bool) -> None:
    """Make an older generation of source NAME visible again.

    The next sync goes forward again, from there; with --pin there is none until `rowen resume`.
    """
    from rowen.core.rules.standing import CLI
    from rowen.reading import history

    source = await call.source(name)
    shown = await history.rollback(call.ports, source, to_generation=to_generation, pin=pin, by=CLI)
    before = source.active_generation
    said = "is visible already" if shown == before else f"is visible again, {before} is not"
    await _show(call, source, shown, said)
    label = source.label
    if pin:
        call.out.note(f"pinned: not synced until `rowen resume {label}`")
    elif not source.is_pinned:
        call.out.note(
            f"the next sync goes forward again; `rowen rollback {label} --to {shown} --pin` stays here"
        )


@store_command("approve")
@click.argument("name", shell_complete=source_names)
async def approve(call: Call, name: str) -> None:
    """Make the generation of source NAME visible that the deletion guard held."""
    from rowen.core.rules.standing import CLI
    from rowen.reading import history

    source = await call.source(name)
    shown = await history.approve(call.ports, source, by=CLI)
    await _show(call, source, shown, f"is visible now, {source.active_generation} before")


async def _show(call: Call, source: Source, shown: int, said: str) -> None:
    from rowen.doors.cli.commands.announce import after_a_change

    await after_a_change(call.ports, call.out)
    call.out.result(
        {"source": source.label, "generation": shown, "before": source.active_generation},
        f"{source.label}: generation {shown} {said}",
    )
