"""`rowen mcp`: the store for an assistant, over standard input and output."""

from __future__ import annotations

from rowen.doors.cli.call import Call
from rowen.doors.cli.call import command as rowen_command
from rowen.doors.cli.starting.declared import click


@rowen_command("mcp")
@click.option("--read-only", is_flag=True, help="Refuse to sync: only search and read.")
def command(call: Call, read_only: bool) -> None:
    """Let an assistant search, read and refresh sources (Model Context Protocol).

    An assistant starts this command and talks to it on standard input and output. It ends with its input.
    """
    from rowen.doors.cli import session

    config = call.config()
    # Here, because the protocol takes a second to import that no other command needs.
    from rowen.doors.mcp.stdio import serve

    session.run_async(lambda: serve(config, read_only=read_only), interrupted="stopped")
