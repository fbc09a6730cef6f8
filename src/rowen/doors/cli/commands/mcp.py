"""`rowen mcp`: the store for an assistant, over standard input and output."""

from __future__ import annotations

import click

from rowen.doors.cli.call import Call
from rowen.doors.cli.call import command as rowen_command
from rowen.errors import ConfigError


@rowen_command("mcp")
@click.option("--read-only", is_flag=True, help="Refuse to sync: only search and read.")
def command(call: Call, read_only: bool) -> None:
    """Let an assistant search, read and refresh sources (Model Context Protocol).

    An assistant starts this command and talks to it on standard input and output. It ends with its input.
    """
    from rowen.doors.cli import session

    config = call.config()
    try:
        from rowen.doors.mcp.stdio import serve
    except ModuleNotFoundError as exc:
        if exc.name not in ("mcp", "mcp_types", "anyio"):
            raise
        raise ConfigError(
            "the package `mcp` is not installed", hint="install it with `pip install 'rowen[mcp]'`"
        ) from exc

    session.run_async(lambda: serve(config, read_only=read_only), interrupted="stopped")
