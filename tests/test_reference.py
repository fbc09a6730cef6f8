"""docs/reference.md is what the code says."""

from __future__ import annotations

import click

from rowen import registers
from rowen.config import load
from rowen.doors.cli.app import LINES, cli
from scripts.reference import PAGE, page

WRITTEN = PAGE.read_text("utf-8")


def test_the_reference_is_current() -> None:
    assert page() == WRITTEN, "run `make reference`"


def test_it_has_every_command_with_every_option() -> None:
    context = click.Context(cli)
    for name in LINES:
        command = cli.get_command(context, name)
        assert command is not None
        assert f"#### rowen {name}" in WRITTEN
        for param in command.params:
            assert isinstance(param, click.Argument) or f"`{param.opts[0]}`" in WRITTEN


def test_it_has_every_setting_and_every_variable() -> None:
    for one in load(environment={})[1]:
        assert f"`{one.variable}`" in WRITTEN
    for kind in (*registers.kinds().ours(), *registers.sinks().ours()):
        assert kind.params
        for param in kind.params:
            assert f"| `{param.label}` |" in WRITTEN
