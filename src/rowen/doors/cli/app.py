"""The `rowen` command: its list of commands, and the exit code that each way to end becomes.

Commands are imported when they are called; `--help` and `--version` import none of them. A plain call is read
without click (`starting/`), which takes a fifth of the time of a short command to import.
"""

from __future__ import annotations

import contextlib
import sys
from importlib import import_module
from typing import TYPE_CHECKING

from rowen.doors.cli import failure
from rowen.doors.cli.call import SHARED_OPTIONS, Call
from rowen.doors.cli.output import close_quietly
from rowen.doors.cli.starting import plain
from rowen.doors.cli.starting.declared import Command

if TYPE_CHECKING:
    import click

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


def find(name: str) -> Command | click.Command:
    """A command by its name, or a group of commands."""
    module = import_module(f"rowen.doors.cli.commands.{SHARED.get(name, name)}")
    found: Command | click.Command = getattr(module, name if name in SHARED else "command")
    return found


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
        ended = _run(arguments, call)
        return ended if isinstance(ended, int) else failure.GOOD
    except KeyboardInterrupt:
        return failure.report(failure.Interrupted(failure.INTERRUPTED), out=call.out, verbose=False)
    except BrokenPipeError:
        # As click has it.
        return failure.FAILED
    except Exception as exc:
        return failure.report(exc, out=call.out, verbose=call.verbose)
    finally:
        close_quietly()


def _run(arguments: list[str], call: Call) -> object:
    """What the command returned, or the exit code."""
    read = plain.read(arguments, lambda name: find(name) if name in LINES else None, SHARED_OPTIONS)
    if read is None:
        from rowen.doors.cli.starting import by_click

        return by_click.run(arguments, call)
    for note, value in read.shared:
        note(call, value)
    return read.command.function(call, **read.values)
