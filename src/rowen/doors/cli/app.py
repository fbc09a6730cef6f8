"""The `rowen` command: its list of commands, and the exit code that each way to end becomes.

Commands are imported when they are called; `--help` and `--version` import none of them.
"""

from __future__ import annotations

import contextlib
import sys
from importlib import import_module

import click

from rowen import __version__
from rowen.doors.cli import failure
from rowen.doors.cli.call import Call, common_options
from rowen.doors.cli.output import close_quietly

COMMANDS: dict[str, dict[str, str]] = {
    "Sources": {
        "init": "Write a rowen.toml for this folder, after three questions.",
        "add": "Add a source by its address.",
        "edit": "Change the settings of a source; its history stays.",
        "apply": "Make sources, sinks and alarms match `rowen.toml`.",
        "plan": "List what a sync would do and cost, without doing it.",
        "sync": "Bring the copy of a source up to date.",
        "cancel": "Cancel the run of a source.",
        "watch": "Follow a source: a folder as its files change, a site by its schedule.",
        "serve": "Sync every source when it is due, until stopped.",
        "worker": "Do the work that `rowen serve` hands out, on any machine.",
        "list": "List the sources, or the documents of one.",
        "status": "Show the sources and their state.",
        "pause": "Stop `rowen serve` from syncing a source.",
        "resume": "Let `rowen serve` sync a source again.",
        "remove": "Delete a source and everything stored of it.",
    },
    "Reading": {
        "search": "Search the visible documents.",
        "show": "Show a document, or one section of it.",
        "open": "Open a hit of the last search in the browser.",
        "inspect": "Say what would become of one page; nothing is stored.",
        "changes": "Tell what changed, in words.",
        "diff": "Show what changed between two generations.",
        "compare": "Tell what changed between two versions of one thing.",
        "web": "Show sources, runs and search in a page of this machine.",
        "mcp": "Serve assistants over MCP on standard input and output.",
        "companies": "Show companies that have job listings.",
        "company": "Show one company with its job listings.",
    },
    "Sending": {
        "export": "Write the visible documents into a file.",
        "sinks": "Show the sinks and what waits for each.",
        "subscribe": "Be told when the answer to one thing changes.",
        "subscriptions": "List what is subscribed to, and who is told.",
        "unsubscribe": "Remove a subscription.",
        "announce": "Send what waits to the sinks now.",
    },
    "History": {
        "runs": "Show what runs did and what they avoided.",
        "rollback": "Make an older generation visible again.",
        "approve": "Make a held generation visible.",
        "handoffs": "Show the changed items that were handed to ingestion.",
        "embed": "Compute missing vectors, or those of a new model.",
        "vacuum": "Delete history that is not kept, and free its space.",
    },
    "This installation": {
        "doctor": "Check that everything Rowen needs is installed and works.",
        "config": "Show the configuration and where each value came from.",
        "token": "Create, list and remove tokens for the API.",
        "db": "Upgrade, downgrade, copy, check or rescue the store.",
        "completion": "Print or install the completion script of a shell.",
        "demo": "Sync a small bundled site twice, search it, show the diff.",
    },
}
"""By heading, with the line of each command in `rowen --help`."""

LINES = {name: line for group in COMMANDS.values() for name, line in group.items()}
NAMES = list(LINES)
SHARED = {
    "resume": "pause",
    "approve": "rollback",
    "company": "companies",
    "subscriptions": "subscribe",
    "unsubscribe": "subscribe",
}
"""Commands that are in the module of another one, under their own name."""


class LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return NAMES

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in NAMES:
            return None
        module = import_module(f"rowen.doors.cli.commands.{SHARED.get(cmd_name, cmd_name)}")
        found = getattr(module, cmd_name if cmd_name in SHARED else "command")
        assert isinstance(found, click.Command)
        found.short_help = LINES[cmd_name]
        return found

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


def main(argv: list[str] | None = None) -> int:
    """Run one command; returns the exit code and never raises."""
    arguments = sys.argv[1:] if argv is None else list(argv)
    for stream in (sys.stdout, sys.stderr):
        # A character the terminal does not know is shown as an escape; no command fails for it.
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    call = Call()
    # A call that Click refuses may not have got as far as its options.
    call.out.json = "--json" in arguments
    try:
        ended = cli.main(arguments, prog_name="rowen", standalone_mode=False, obj=call)
        return ended if isinstance(ended, int) else failure.GOOD
    except click.exceptions.NoArgsIsHelpError as exc:
        click.echo(exc.format_message(), err=True)
        return failure.WRONG_CALL
    except KeyboardInterrupt:
        return failure.report(click.Abort(), out=call.out, verbose=False)
    except Exception as exc:
        return failure.report(exc, out=call.out, verbose=call.verbose)
    finally:
        close_quietly()
