"""What the user said about every command alike: which store, JSON or text, colour, tracebacks.

Each of these options is understood before and after the command's name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import click

from rowen.doors.cli.output import Output


@dataclass
class Call:
    db: str | None = None
    verbose: bool = False
    out: Output = field(default_factory=Output)


def _store(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    if value is not None:
        ctx.ensure_object(Call).db = value


def _json(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        ctx.ensure_object(Call).out.json = True


def _verbose(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        ctx.ensure_object(Call).verbose = True


def _no_color(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        ctx.ensure_object(Call).out.no_color = True


def common_options() -> list[click.Parameter]:
    return [
        click.Option(
            ["--db"],
            metavar="URL",
            expose_value=False,
            is_eager=True,
            callback=_store,
            help="The store, `sqlite:///path` or `postgresql://...`; also ROWEN_DB.",
        ),
        click.Option(
            ["--json"],
            is_flag=True,
            expose_value=False,
            is_eager=True,
            callback=_json,
            help="JSON for programs.",
        ),
        click.Option(
            ["-v", "--verbose"],
            is_flag=True,
            expose_value=False,
            is_eager=True,
            callback=_verbose,
            help="Show the traceback of an error.",
        ),
        click.Option(
            ["--no-color"],
            is_flag=True,
            expose_value=False,
            is_eager=True,
            callback=_no_color,
            help="No colours; also NO_COLOR.",
        ),
    ]


def command(name: str, **attributes: Any) -> Callable[[Callable[..., int | None]], click.Command]:
    """A Click command that also takes the common options and is handed its `Call` first."""

    def wrap(function: Callable[..., int | None]) -> click.Command:
        make: Callable[[Any], click.Command] = click.command(name, **attributes)
        made = make(click.pass_obj(function))
        # Last in the help: they are the same everywhere.
        made.params += common_options()
        return made

    return wrap
