"""`rowen db`: which schema the store has, upgrades and downgrades of it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

import click

from rowen.doors.cli.call import Call, group
from rowen.doors.cli.call import command as rowen_command
from rowen.doors.cli.commands.db_check import check
from rowen.doors.cli.commands.db_copy import copy
from rowen.doors.cli.commands.db_rescue import rescue
from rowen.doors.words import count
from rowen.errors import UserError

if TYPE_CHECKING:
    from rowen.ports.schema import Loss, Schema

T = TypeVar("T")

AGAIN = "any other command of this Rowen upgrades it again: install the older Rowen before the next one"


@rowen_command("version", short_help="Show the schema of the store and the newest one.")
def version(call: Call) -> None:
    """Show the number of the store's schema and the newest one that this Rowen knows."""

    async def work(schema: Schema) -> tuple[int, int]:
        return await schema.version(), schema.latest

    has, latest = _run(call, work)
    state = "up to date" if has == latest else f"the newest is {latest}"
    call.out.result({"version": has, "latest": latest}, f"schema {has}, {state}")


@rowen_command("upgrade", short_help="Bring the schema up to date.")
def upgrade(call: Call) -> None:
    """Bring the schema of the store up to date."""

    async def work(schema: Schema) -> tuple[int, int]:
        before = await schema.version()
        await schema.upgrade()
        return before, schema.latest

    before, after = _run(call, work)
    _tell(call, before, after)


@rowen_command("downgrade", short_help="Take the schema back, for an older Rowen.")
@click.option("--to", type=click.IntRange(1), required=True, metavar="N", help="The schema to go back to.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
def downgrade(call: Call, to: int, yes: bool) -> None:
    """Take the schema of the store back to number N. What only newer schemas hold is deleted."""

    async def look(schema: Schema) -> tuple[int, list[Loss]]:
        return await schema.version(), await schema.losses(to)

    before, losses = _run(call, look)
    forgets = _in_words(losses)
    if to < before and not yes:
        if call.out.json or not is_terminal():
            raise UserError(
                f"schema {before} to {to}: this forgets {forgets}",
                hint="say `--yes` to do it without a question",
            )
        if not click.confirm(f"Take the schema from {before} to {to}? This forgets {forgets}.", err=True):
            call.out.note("nothing was changed")
            return

    async def work(schema: Schema) -> None:
        await schema.downgrade(to)

    _run(call, work)
    call.out.note(f"forgot {forgets}")
    _tell(call, before, to)
    call.out.note(AGAIN)


def is_terminal() -> bool:
    """Can a question be asked?"""
    return sys.stdin.isatty()


def _run(call: Call, work: Callable[[Schema], Coroutine[Any, Any, T]]) -> T:
    from rowen import wiring
    from rowen.doors.cli import session

    config = call.config()

    async def with_schema() -> T:
        async with wiring.open_schema(config) as schema:
            return await work(schema)

    return session.run_async(with_schema)


def _tell(call: Call, before: int, after: int) -> None:
    said = f"schema {after} already" if before == after else f"schema {before} is now {after}"
    call.out.result({"before": before, "version": after}, said)


def _in_words(losses: list[Loss]) -> str:
    parts = [
        f"{count(loss.rows, 'row')} of `{loss.table}`"
        if loss.column is None
        else f"`{loss.table}.{loss.column}` ({count(loss.rows, 'value')})"
        for loss in losses
        if loss.rows
    ]
    return ", ".join(parts) or "nothing"


command = group(
    "db",
    version,
    upgrade,
    downgrade,
    copy,
    check,
    rescue,
    help="The store: its schema, which other commands upgrade by themselves, copies, and damage.",
)
