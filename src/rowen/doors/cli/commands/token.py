"""`rowen token`: who may call the API. A token is shown once, when it is created; the store has its hash."""

from __future__ import annotations

from rowen.doors.cli.call import Call, group, store_command
from rowen.doors.cli.starting.declared import click
from rowen.doors.shapes.shape import Shape, Time
from rowen.errors import NotFound


def _check(*, name: str, **_: object) -> None:
    from rowen.managing.sources import check_name

    check_name(name)


@store_command("create", short_help="Create a token and show it once.", check=_check, creates=True)
@click.argument("name")
@click.option(
    "--scope",
    type=click.Choice(["read", "sync", "admin"]),
    required=True,
    help="What it allows: to read, also to start runs, or everything.",
)
async def create(call: Call, name: str, scope: str) -> None:
    """Create a token called NAME and show it. It cannot be shown again."""
    import secrets

    from rowen.core.safety.access import PREFIX, SECRET_BYTES, Scope, digest

    secret = PREFIX + secrets.token_urlsafe(SECRET_BYTES)
    made = await call.ports.store.add_token(
        name, digest=digest(secret), scope=Scope(scope), now=call.ports.clock.now()
    )
    call.out.result({"name": made.name, "scope": made.scope.value, "token": secret}, secret)
    call.out.note(
        f"token `{name}`, scope `{scope}`: write it down, it is not shown again;"
        " send it as `Authorization: Bearer TOKEN`"
    )


@store_command("list", short_help="Show the tokens.")
async def show(call: Call) -> None:
    """Show the names and scopes of tokens, and when each was last used, noted once an hour."""
    found = await call.ports.store.tokens()
    if call.out.json:
        call.out.emit({"tokens": [TokenShape.show(one) for one in found]})
    elif not found:
        call.out.line("no tokens: `rowen serve --listen` answers callers on this machine only")
    else:
        rows = [
            (
                one.name,
                one.scope.value,
                f"{one.created_at:%Y-%m-%d %H:%M}",
                f"{one.last_used_at:%Y-%m-%d %H:%M}" if one.last_used_at else "never",
            )
            for one in found
        ]
        call.out.table(["token", "scope", "created", "last used"], rows)


@store_command("remove", short_help="Remove a token.")
@click.argument("name")
async def remove(call: Call, name: str) -> None:
    """Remove the token NAME; callers that send it are refused from their next call on."""
    if not await call.ports.store.remove_token(name):
        raise NotFound(f"token `{name}`: no such token", hint="list them with `rowen token list`", name=name)
    call.out.result({"name": name, "removed": True}, f"removed {name}")


class TokenShape(Shape):
    name: str
    scope: str
    created_at: Time
    last_used_at: Time | None


command = group(
    "token",
    create,
    show,
    remove,
    help="Tokens for the REST API and MCP server of `rowen serve --listen`; web hooks are signed instead.",
)
