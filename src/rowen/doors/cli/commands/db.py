"""`rowen db`: which schema the store has, and moving it up or down."""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

import click

from rowen.doors.cli.call import Call, common_options
from rowen.doors.cli.call import command as rowen_command
from rowen.doors.cli.commands.db_copy import copy
from rowen.errors import UserError

if TYPE_CHECKING:
    from rowen.ports.store.schema import Loss, Schema

T = TypeVar("T")

AGAIN = "any other command of this Rowen upgrades it again: install the older Rowen before the next one"


@click.group("db", short_help="The store itself: its schema, and copying it to another database.")
def command() -> None:
    """The schema of a store on SQLite. Other commands bring it up to date; an older Rowen needs it back."""


@rowen_command("version", short_help="Show the schema of the store and the newest one.")
def version(call: Call) -> int:
    """Show the number of the store's schema and the newest one that this Rowen knows."""

    async def work(schema: Schema) -> tuple[int, int]:
        return await schema.version(), schema.latest

    has, latest = _run(call, work)
    if call.out.json:
        call.out.emit({"version": has, "latest": latest})
    else:
        call.out.line(f"schema {has}, " + ("up to date" if has == latest else f"the newest is {latest}"))
    return 0


@rowen_command("upgrade", short_help="Bring the schema up to date.")
def upgrade(call: Call) -> int:
    """Bring the schema of the store up to date."""

    async def work(schema: Schema) -> tuple[int, int]:
        before = await schema.version()
        await schema.upgrade()
        return before, schema.latest

    before, after = _run(call, work)
    _tell(call, before, after)
    return 0


@rowen_command("downgrade", short_help="Take the schema back, for an older Rowen.")
@click.option("--to", type=click.IntRange(1), required=True, metavar="N", help="The schema to go back to.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
def downgrade(call: Call, to: int, yes: bool) -> int:
    """Take the schema of the store back to number N. What only newer schemas hold is forgotten."""

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
            return 0

    async def work(schema: Schema) -> None:
        await schema.downgrade(to)

    _run(call, work)
    call.out.note(f"forgot {forgets}")
    _tell(call, before, to)
    call.out.note(AGAIN)
    return 0


def is_terminal() -> bool:
    """Is there somebody to ask?"""
    return sys.stdin.isatty()


def _run(call: Call, work: Callable[[Schema], Coroutine[Any, Any, T]]) -> T:
    from rowen import config as settings
    from rowen import wiring
    from rowen.doors.cli import session

    config, _ = settings.load(db=call.db)

    async def with_schema() -> T:
        async with wiring.open_schema(config) as schema:
            return await work(schema)

    return session.run_async(with_schema)


def _tell(call: Call, before: int, after: int) -> None:
    if call.out.json:
        call.out.emit({"before": before, "version": after})
    elif before == after:
        call.out.line(f"schema {after} already")
    else:
        call.out.line(f"schema {before} is now {after}")


def _in_words(losses: list[Loss]) -> str:
    from rowen.doors.cli.words import count

    parts = [
        f"{count(loss.rows, 'row')} of `{loss.table}`"
        if loss.column is None
        else f"`{loss.table}.{loss.column}` ({count(loss.rows, 'value')})"
        for loss in losses
        if loss.rows
    ]
    return ", ".join(parts) or "nothing that is stored now"


command.params += common_options()
for one in (version, upgrade, downgrade, copy):
    command.add_command(one)
