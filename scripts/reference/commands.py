"""The page of the command line: every command with its arguments and options."""

from __future__ import annotations

from collections.abc import Iterator

import click

from rowen.doors.cli.app import COMMANDS
from rowen.doors.cli.call import common_options
from rowen.doors.cli.starting.by_click import cli
from scripts.reference.markdown import WRITTEN, one_line, table

INTRODUCTION = f"""# Commands

{WRITTEN}
Exit codes: 0 success, 1 the work failed, 2 the call was wrong, 130 after Ctrl-C
([ADR 6](../adr/0006-exit-codes.md)). Every command also takes these options, before or after its name:
"""


def page() -> Iterator[str]:
    yield INTRODUCTION
    yield table(("option", "meaning"), [_option(one) for one in common_options()])
    context = click.Context(cli)
    for heading, group in COMMANDS.items():
        yield f"## {heading}\n"
        for name in group:
            command = cli.get_command(context, name)
            assert command is not None
            if isinstance(command, click.Group):
                yield _text(command)
                for one in command.commands.values():
                    yield from _command(f"{name} {one.name}", one)
            else:
                yield from _command(name, command)


def _command(name: str, command: click.Command) -> Iterator[str]:
    arguments = [
        param.make_metavar(click.Context(command))
        for param in command.params
        if isinstance(param, click.Argument)
    ]
    yield f"### rowen {name}\n"
    if arguments:
        yield f"Usage: `rowen {' '.join([name, *arguments])}`\n"
    yield _text(command)
    common = {tuple(one.opts) for one in common_options()}
    own = [one for one in command.params if isinstance(one, click.Option) and tuple(one.opts) not in common]
    if own:
        yield table(("option", "meaning"), [_option(one) for one in own])


def _text(command: click.Command) -> str:
    return one_line(command.help or "") + "\n"


def _option(param: click.Parameter) -> tuple[str, str]:
    assert isinstance(param, click.Option)
    names = ", ".join(f"`{one}`" for one in [*param.opts, *param.secondary_opts])
    if not param.is_flag or isinstance(param.flag_value, str):
        names += f" {param.make_metavar(click.Context(click.Command('')))}"
    shown = (
        isinstance(param.default, str | int) and not isinstance(param.default, bool) and param.default != ""
    )
    default = f" Default: `{param.default}`." if shown else ""
    return names, (param.help or "") + default
