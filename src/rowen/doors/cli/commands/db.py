"""`rowen db`: which schema the store has, upgrades and downgrades of it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from rowen.doors.cli.call import Call, group
from rowen.doors.cli.call import command as rowen_command
from rowen.doors.cli.commands.db_check import check
from rowen.doors.cli.commands.db_copy import copy
from rowen.doors.cli.commands.db_rescue import rescue
from rowen.doors.cli.starting.declared import click
from rowen.doors.words import count
from rowen.errors import UserError

if TYPE_CHECKING:
    from rowen.ports.database.schema import Loss, Schema

T = TypeVar("T")

AGAIN = "any other command of this Rowen upgrades it again: install the older Rowen before the next one"


@rowen_command("version", short_help="Show the schema of the store and the newest one.")
def version(call: Call) -> None:
    """Show the number of the store's schema and the newest one that this Rowen knows."""

    async def work(schema: Schema) -> tuple[int, int, list[str]]:
        return await schema.version(), schema.latest, await schema.missing()

    has, latest, missing = _run(call, work)
    state = "up to date" if has == latest else f"the newest is {latest}"
    state += "".join(f", without `{part}`" for part in missing)
    call.out.result({"version": has, "latest": latest, "missing": missing}, f"schema {has}, {state}")


@rowen_command("upgrade", short_help="Bring the schema up to date.")
def upgrade(call: Call) -> None:
    """Bring the schema of the store up to date, and restore what `downgrade --part` removed."""

    async def work(schema: Schema) -> tuple[int, int, list[str]]:
        before, missing = await schema.version(), await schema.missing()
        await schema.upgrade()
        return before, schema.latest, missing

    before, after, restored = _run(call, work)
    for part in restored:
        call.out.note(f"`{part}` is back, and empty")
    _tell(call, before, after)


@rowen_command("downgrade", short_help="Take the schema back, or one part of it down.")
@click.option("--to", type=click.IntRange(1), metavar="N", help="Go back to schema N, for an older Rowen.")
@click.option(
    "--part",
    type=click.Choice(["handoffs"]),
    help="Remove only this part; the number of the schema does not change.",
)
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
def downgrade(call: Call, to: int | None, part: str | None, yes: bool) -> None:
    """Take the schema of the store back to number N, or remove one PART of it.

    --to deletes everything that exists only in newer schemas. --part handoffs deletes only the record of how
    items came in: sync still stores items, and `rowen handoffs` and /handoffs say that the part is missing.
    `rowen db upgrade` restores the tables in both cases, but not their rows. Unless `store.auto_upgrade` is
    false, any other command of this Rowen does the same.
    """
    if (to is None) == (part is None):
        raise UserError(
            "say either `--to N` or `--part handoffs`", hint="`rowen db version` shows the number"
        )
    if part is not None:
        _take_down(call, part, yes=yes)
    elif to is not None:
        _go_back(call, to, yes=yes)


def _take_down(call: Call, part: str, *, yes: bool) -> None:
    async def look(schema: Schema) -> int:
        return 0 if part in await schema.missing() else await schema.part_rows(part)

    forgets = f"{count(_run(call, look), 'row')} of `{part}`"
    if not _confirmed(call, f"part `{part}`", f"Take down `{part}`", forgets, yes=yes):
        return

    async def work(schema: Schema) -> int:
        await schema.take_down(part)
        return await schema.version()

    version = _run(call, work)
    call.out.result({"version": version, "missing": [part]}, f"schema {version}, without `{part}`")
    call.out.note(f"forgot {forgets}; `rowen db upgrade` brings the part back, empty")
    if call.config().store.auto_upgrade:
        call.out.note("any other command brings it back too: set `store.auto_upgrade = false` to go without")


def _go_back(call: Call, to: int, *, yes: bool) -> None:
    async def look(schema: Schema) -> tuple[int, list[Loss]]:
        return await schema.version(), await schema.losses(to)

    before, losses = _run(call, look)
    forgets = _in_words(losses)
    if to < before and not _confirmed(
        call, f"schema {before} to {to}", f"Take the schema from {before} to {to}", forgets, yes=yes
    ):
        return

    async def work(schema: Schema) -> None:
        await schema.downgrade(to)

    _run(call, work)
    call.out.note(f"forgot {forgets}")
    _tell(call, before, to)
    call.out.note(AGAIN)


def _confirmed(call: Call, what: str, question: str, forgets: str, *, yes: bool) -> bool:
    if yes:
        return True
    if call.out.json or not is_terminal():
        raise UserError(f"{what}: this forgets {forgets}", hint="say `--yes` to do it without a question")
    if click.confirm(f"{question}? This forgets {forgets}.", err=True):
        return True
    call.out.note("nothing was changed")
    return False


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
