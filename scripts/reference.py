"""Write docs/reference.md from the code: commands, settings of kinds and sinks, configuration keys.

`make reference` writes it; with `--check` nothing is written, and the exit code is 1 when it is not current.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from pathlib import Path

import click

from rowen import registers
from rowen.config import SECTIONS, SHORT_VARIABLES, load
from rowen.core.params import Param
from rowen.doors.cli.app import COMMANDS, cli
from rowen.doors.cli.call import common_options
from rowen.sinks.builtin import BUILTIN

PAGE = Path(__file__).parents[1] / "docs" / "reference.md"

INTRODUCTION = """# Reference

Generated from the code by `scripts/reference.py`; do not edit. `make reference` writes it again.

A duration is written as `90s`, `15m`, `6h`, `1d` or `2w`, as several of these in a row (`1h30m`), or as
`hourly`, `daily` or `weekly`. Where a setting has a unit in its name, a bare number is read in that unit.
"""


def page() -> str:
    parts = [INTRODUCTION, *_commands(), *_sources(), *_sinks(), *_configuration()]
    return "\n".join(parts)


def _commands() -> Iterator[str]:
    yield "## Commands\n"
    yield "Every command also takes these options, before or after its name:\n"
    yield from _table(("option", "meaning"), [_option(one) for one in common_options()])
    context = click.Context(cli)
    for heading, group in COMMANDS.items():
        yield f"### {heading}\n"
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
    yield f"#### rowen {' '.join([name, *arguments])}\n"
    yield _text(command)
    common = {tuple(one.opts) for one in common_options()}
    own = [one for one in command.params if isinstance(one, click.Option) and tuple(one.opts) not in common]
    if own:
        yield from _table(("option", "meaning"), [_option(one) for one in own])


def _text(command: click.Command) -> str:
    return " ".join((command.help or "").split()) + "\n"


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


def _sources() -> Iterator[str]:
    yield "## Settings of sources\n"
    yield "Given with `--set key=value` to `rowen add`, or under `set` in `rowen.toml`.\n"
    for kind in registers.kinds().ours():
        yield f"### Kind `{kind.name}`\n"
        yield from _params(kind.params)


def _sinks() -> Iterator[str]:
    yield "## Settings of sinks\n"
    yield "Keys of a `[[sinks]]` table in `rowen.toml`, beside `name`, `kind` and `sources`.\n"
    for name, kind in ((name, made()) for name, made in BUILTIN.items()):
        yield f"### Sink `{name}`\n"
        yield from _params(kind.params)


def _params(params: Sequence[Param]) -> Iterator[str]:
    rows = [(f"`{one.label}`", f"`{one.shown}`" if one.shown else "", f"{one.help}.") for one in params]
    yield from _table(("setting", "default", "meaning"), rows)


def _configuration() -> Iterator[str]:
    yield "## Configuration\n"
    yield (
        "Read from defaults, then the TOML file named by `ROWEN_CONFIG`, then the environment, then flags."
        " `rowen config show` prints the values in force.\n"
    )
    settings = {one.name: one for one in load(environment={})[1]}
    also = {name: variable for variable, name in SHORT_VARIABLES.items()}
    for section, cls in SECTIONS.items():
        yield f"### [{section}]\n"
        rows = []
        for field in fields(cls):
            one = settings[f"{section}.{field.name}"]
            variables = dict.fromkeys((one.variable, also.get(one.name, one.variable)))
            shown = str(one.value).lower() if isinstance(one.value, bool) else str(one.value)
            default = f"`{shown}`" if shown else ""
            rows.append(
                (f"`{field.name}`", default, ", ".join(f"`{name}`" for name in variables), f"{one.help}.")
            )
        yield from _table(("key", "default", "variable", "meaning"), rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    lines = [head, ["---"] * len(head), *rows]
    yield (
        "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
        + "\n"
    )


def main() -> int:
    written = PAGE.read_text("utf-8") if PAGE.exists() else ""
    if "--check" in sys.argv[1:]:
        if written != page():
            print("docs/reference.md is not current: run `make reference`", file=sys.stderr)
            return 1
        return 0
    PAGE.write_text(page(), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
