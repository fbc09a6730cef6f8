"""The pages in docs/reference are what the code says."""

from __future__ import annotations

import click

from rowen import registers
from rowen.config import load
from rowen.core.exchange import alarm_channels
from rowen.doors.cli.app import LINES
from rowen.doors.cli.starting.by_click import cli
from rowen.doors.mcp.tools import TOOLS
from scripts.reference import FOLDER, api, pages

WRITTEN = {path.name: path.read_text("utf-8") for path in FOLDER.glob("*.md")}


def test_the_reference_is_current() -> None:
    assert {path.name: text for path, text in pages().items()} == WRITTEN, "run `make reference`"


def test_it_has_every_command_with_every_option() -> None:
    context = click.Context(cli)
    for name in LINES:
        command = cli.get_command(context, name)
        assert command is not None
        assert f"### rowen {name}" in WRITTEN["commands.md"]
        for param in command.params:
            assert isinstance(param, click.Argument) or f"`{param.opts[0]}`" in WRITTEN["commands.md"]


def test_it_has_every_setting_and_every_variable() -> None:
    for one in load(environment={})[1]:
        assert f"`{one.variable}`" in WRITTEN["rowen-toml.md"]
    for page, kinds in (
        ("sources.md", registers.kinds().ours()),
        ("sinks.md", registers.sinks().ours()),
    ):
        for kind in kinds:
            assert kind.params
            for param in kind.params:
                assert f"| `{param.label}` |" in WRITTEN[page]


def test_it_has_every_field_of_an_alarm() -> None:
    for fields in alarm_channels.FIELDS.values():
        for name in (*alarm_channels.COMMON, *fields):
            assert f"| `{name}` |" in WRITTEN["rowen-toml.md"]


def test_it_has_every_operation_and_every_shape_of_the_api() -> None:
    document = api.description()
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            assert f"### {method.upper()} `{path}`\n" in WRITTEN["rest-operations.md"]
            for parameter in operation.get("parameters", ()):
                assert f"| `{parameter['name']}`" in WRITTEN["rest-operations.md"]
    for name, shape in document["components"]["schemas"].items():
        assert f"## {name}\n" in WRITTEN["rest-shapes.md"]
        for field in shape.get("properties", ()):
            assert f"| `{field}`" in WRITTEN["rest-shapes.md"]


def test_it_has_every_tool_for_assistants_with_its_arguments() -> None:
    for tool in TOOLS:
        assert f"## {tool.name}\n" in WRITTEN["mcp-tools.md"]
        for name in tool.takes:
            assert f"| `{name}`" in WRITTEN["mcp-tools.md"]
