"""`rowen token`: who may call the API. A token is shown once, when it is made; what is stored is its hash."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from rowen.doors.cli.call import Call, common_options
from rowen.doors.cli.call import command as rowen_command
from rowen.errors import NotFound, UserError

if TYPE_CHECKING:
    from rowen.core.safety.access import Token
    from rowen.engine.ports import Ports

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@click.group("token", short_help="Make, list and remove tokens for the API.")
def command() -> None:
    """Tokens for the REST API and the MCP server of `rowen serve --listen`; web hooks are signed instead."""


@rowen_command("create", short_help="Make a token and show it, once.")
@click.argument("name")
@click.option(
    "--scope",
    type=click.Choice(["read", "sync", "admin"]),
    required=True,
    help="What it allows: to read, also to start runs, or everything.",
)
def create(call: Call, name: str, scope: str) -> int:
    """Make a token called NAME and show it. It cannot be shown again."""
    import secrets

    from rowen.core.safety.access import PREFIX, SECRET_BYTES, Scope, digest
    from rowen.doors.cli import session

    if not NAME.fullmatch(name):
        raise UserError(
            f"name `{name}`: expected up to 64 letters, digits, dots, dashes or underscores", name=name
        )
    secret = PREFIX + secrets.token_urlsafe(SECRET_BYTES)

    async def work(ports: Ports) -> Token:
        return await ports.store.add_token(
            name, digest=digest(secret), scope=Scope(scope), now=ports.clock.now()
        )

    made = session.run(call, work)
    if call.out.json:
        call.out.emit({"name": made.name, "scope": made.scope.value, "token": secret})
        return 0
    call.out.line(secret)
    call.out.note(
        f"token `{name}`, scope `{scope}`: write it down, it is not shown again;"
        " send it as `Authorization: Bearer TOKEN`"
    )
    return 0


@rowen_command("list", short_help="Show the tokens there are.")
def show(call: Call) -> int:
    """Show the names and scopes of tokens, and when each was last used."""
    from rowen.doors.cli import session

    async def work(ports: Ports) -> list[Token]:
        return await ports.store.tokens()

    found = session.run(call, work)
    if call.out.json:
        call.out.emit(
            {
                "tokens": [
                    {
                        "name": one.name,
                        "scope": one.scope.value,
                        "created_at": one.created_at.isoformat(),
                        "last_used_at": one.last_used_at.isoformat() if one.last_used_at else None,
                    }
                    for one in found
                ]
            }
        )
        return 0
    if not found:
        call.out.line("no tokens: `rowen serve --listen` answers callers on this machine only")
        return 0
    from rich.table import Table

    table = Table(box=None, padding=(0, 3, 0, 0), header_style="dim")
    for column in ("token", "scope", "made", "last used"):
        table.add_column(column, no_wrap=True)
    for one in found:
        used = f"{one.last_used_at:%Y-%m-%d %H:%M}" if one.last_used_at else "never"
        table.add_row(one.name, one.scope.value, f"{one.created_at:%Y-%m-%d %H:%M}", used)
    call.out.print(table)
    return 0


@rowen_command("remove", short_help="Let a token open nothing any more.")
@click.argument("name")
def remove(call: Call, name: str) -> int:
    """Remove the token NAME; whoever has it is refused from the next call on."""
    from rowen.doors.cli import session

    async def work(ports: Ports) -> None:
        if not await ports.store.remove_token(name):
            raise NotFound(
                f"token `{name}`: no such token", hint="list them with `rowen token list`", name=name
            )

    session.run(call, work)
    if call.out.json:
        call.out.emit({"name": name, "removed": True})
    else:
        call.out.line(f"removed {name}")
    return 0


command.params += common_options()
for one in (create, show, remove):
    command.add_command(one)
