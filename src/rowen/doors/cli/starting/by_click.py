"""Calls that click reads: help, mistakes, completion, and everything that is not plain."""

from __future__ import annotations

import click

from rowen import __version__
from rowen.doors.cli import failure
from rowen.doors.cli.app import COMMANDS, LINES, NAMES, find
from rowen.doors.cli.call import Call, common_options
from rowen.doors.cli.starting.declared import Command


class LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return NAMES

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in NAMES:
            return None
        found = find(cmd_name)
        made = found.made(common_options()) if isinstance(found, Command) else found
        made.short_help = LINES[cmd_name]
        return made

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as exc:
            import difflib

            close = difflib.get_close_matches(args[0], NAMES, 1)
            hint = f"; did you mean `{close[0]}`?" if close else ""
            raise click.UsageError(f"no such command `{args[0]}`{hint}", ctx) from exc

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, NAMES))
        for heading, group in COMMANDS.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), line) for name, line in group.items()])


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with `rowen demo`, or `rowen add docs.example.org --sync` and `rowen search`.",
)
@click.version_option(__version__, "--version", "-V", message="rowen %(version)s")
def cli() -> None:
    """Keep searchable copies of outside sources up to date, with the least possible work."""


cli.params += common_options()


def run(arguments: list[str], call: Call) -> object:
    """What the command returned, or the exit code."""
    try:
        return cli.main(arguments, prog_name="rowen", standalone_mode=False, obj=call)
    except click.exceptions.NoArgsIsHelpError as exc:
        click.echo(exc.format_message(), err=True)
        return failure.WRONG_CALL
