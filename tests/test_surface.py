"""The public surface is what is written down here: `rowen.__all__` and the command line."""

from __future__ import annotations

import importlib.metadata

import click
import pytest

import rowen
from rowen import plugin
from rowen.doors.cli.app import COMMANDS
from rowen.doors.cli.starting.by_click import cli

NAMES = [
    "Added",
    "Answer",
    "AsyncRowen",
    "Change",
    "Counters",
    "Diff",
    "Event",
    "Hit",
    "PermanentError",
    "Receipt",
    "Rowen",
    "RowenError",
    "SearchMode",
    "SourceStatus",
    "TransientError",
    "UserError",
    "__version__",
]

PLUGIN_NAMES = """
CONCURRENCY CREDENTIALS DELAY_S SOURCE_REMOVED START START_SETTING BadLocation Client ConfigError Converted
Counters Cursor Document Embedder EmbedderSettings EmbedderUnavailable FeedItem Fetched Harvested Intake
Item Kind Known Lease Listing Mode Model Param PermanentError Ports Prepared Request Response RowenError
Secret Sent Sink SinkEntry SinkKind Source StopReason TransientError Unfetchable Unparseable Validators
changes_of_sink check_sink_settings complete_settings follow number one_of open_client optional pack_vectors
sources_of_sink stop_reason switch take_in whole words
"""

EVERYWHERE = {"--db", "--json", "-v", "--verbose", "--no-color"}

OPTIONS = {
    "init": {"LOCATIONS", "--store", "--every"},
    "add": {"LOCATION", "--name", "--kind", "--version", "--set", "--every", "--from", "--check", "--sync"},
    "edit": {"NAME", "--set", "--unset", "--every", "-y", "--yes"},
    "apply": {"FILE", "--prune", "--replace", "-y", "--yes", "--dry-run"},
    "plan": {"NAME", "--out", "--full-sync", "--estimate"},
    "sync": {"NAMES", "--full-sync", "--force", "--progress", "--plan", "--anyway"},
    "cancel": {"NAME"},
    "watch": {"NAME"},
    "serve": {"--once", "--standby", "--listen", "--log"},
    "worker": {"--concurrency"},
    "list": {"NAME", "--limit"},
    "status": {"NAMES"},
    "pause": {"NAME"},
    "resume": {"NAME"},
    "remove": {"NAME", "-y", "--yes"},
    "search": {
        *("QUERY", "--source", "--kind", "--where", "--language", "--limit", "--mode"),
        *("--as-of", "--generation", "--fresh"),
    },
    "show": {"DOCUMENT", "--raw", "--record", "--generation", "--as-of"},
    "open": {"HIT"},
    "inspect": {"URL", "--source", "--text"},
    "changes": {"NAME", "--since", "--limit", "--format"},
    "diff": {"NAME", "--from", "--to", "--words"},
    "compare": {"BEFORE", "AFTER", "--limit"},
    "web": {"--port", "--no-open"},
    "mcp": {"--read-only"},
    "companies": {"QUERY", "--source", "--min-open", "--limit"},
    "company": {"NAME_OR_ID"},
    "export": {"NAMES", "--format", "--out", "--text"},
    "sinks": set(),
    "subscribe": {
        "--path",
        "--heading",
        "--symbol",
        "--question",
        "--source",
        "--url",
        "--secret",
        "--file",
        "--name",
    },
    "subscriptions": set(),
    "unsubscribe": {"NAME"},
    "announce": {"NAMES", "--now"},
    "runs": {"NAME", "--limit", "--items", "--run"},
    "rollback": {"NAME", "--to", "--pin"},
    "approve": {"NAME"},
    "handoffs": {"NAME", "--status", "--reason", "--run", "--limit", "--offset"},
    "embed": set(),
    "vacuum": {"--keep"},
    "doctor": {"NAME", "--offline"},
    "config": set(),
    "token": set(),
    "db": set(),
    "completion": {"SHELL", "--install"},
    "demo": set(),
}


def loaded(name: str) -> click.Command:
    found = cli.get_command(click.Context(cli), name)
    assert found is not None
    return found


def options(command: click.Command) -> set[str]:
    return {
        name.upper() if isinstance(param, click.Argument) else name
        for param in command.params
        for name in param.opts
    }


def test_the_python_names_are_these() -> None:
    assert rowen.__all__ == NAMES
    assert dir(rowen) == NAMES
    for name in NAMES:
        assert getattr(rowen, name) is not None
    with pytest.raises(AttributeError, match="Nonsense"):
        _ = rowen.Nonsense


def test_what_plugins_may_import_is_this() -> None:
    homes = [one.partition("=")[0] for names in plugin._HOMES.values() for one in names.split()]
    assert sorted(homes) == sorted(plugin.__all__)
    assert PLUGIN_NAMES.split() == plugin.__all__
    for name in plugin.__all__:
        assert getattr(plugin, name) is not None
    with pytest.raises(AttributeError, match="Nonsense"):
        _ = plugin.Nonsense


def test_the_version_is_the_installed_one() -> None:
    assert rowen.__version__ == importlib.metadata.version("rowen")


def test_the_commands_are_these() -> None:
    assert cli.list_commands(click.Context(cli)) == list(OPTIONS)
    assert options(cli) == EVERYWHERE | {"-V", "--version"}


@pytest.mark.parametrize("name", OPTIONS)
def test_each_command_has_its_options(name: str) -> None:
    assert options(loaded(name)) == OPTIONS[name] | EVERYWHERE


def test_config_has_two_commands() -> None:
    command = loaded("config")
    assert isinstance(command, click.Group)
    assert {name: options(one) - EVERYWHERE for name, one in command.commands.items()} == {
        "show": set(),
        "trust": {"FILE", "--no"},
    }


def test_db_has_six_commands() -> None:
    command = loaded("db")
    assert isinstance(command, click.Group)
    assert {name: options(one) - EVERYWHERE for name, one in command.commands.items()} == {
        "version": set(),
        "upgrade": set(),
        "downgrade": {"--to", "--part", "-y", "--yes"},
        "copy": {"SOURCE", "TARGET", "--progress"},
        "check": {"--progress"},
        "rescue": {"SOURCE", "TARGET", "--progress"},
    }


def test_the_help_tells_of_each_command_what_the_command_tells_of_itself() -> None:
    for group in COMMANDS.values():
        for name, line in group.items():
            command = loaded(name)
            assert command.short_help == line
            assert command.help
            for param in command.params:
                assert isinstance(param, click.Argument) or getattr(param, "help", None), (name, param)


def test_tokens_have_three_commands() -> None:
    command = loaded("token")
    assert isinstance(command, click.Group)
    found = {name: options(made) - EVERYWHERE for name, made in command.commands.items()}
    assert found == {"create": {"NAME", "--scope"}, "list": set(), "remove": {"NAME"}}
