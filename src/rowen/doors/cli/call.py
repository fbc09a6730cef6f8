"""What the user said about every command alike: which store, JSON or text, colour, tracebacks.

Each of these options is understood before and after the command's name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import click

from rowen.doors.cli.output import Output

F = TypeVar("F", bound=Callable[..., Any])


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


COMMON = (
    click.option(
        "--db",
        metavar="URL",
        expose_value=False,
        is_eager=True,
        callback=_store,
        help="The store, `sqlite:///path`; also ROWEN_DB.",
    ),
    click.option(
        "--json", is_flag=True, expose_value=False, is_eager=True, callback=_json, help="JSON for programs."
    ),
    click.option(
        "-v",
        "--verbose",
        is_flag=True,
        expose_value=False,
        is_eager=True,
        callback=_verbose,
        help="Show the traceback of an error.",
    ),
    click.option(
        "--no-color",
        is_flag=True,
        expose_value=False,
        is_eager=True,
        callback=_no_color,
        help="No colours; also NO_COLOR.",
    ),
)


def common_options(function: F) -> F:
    for option in reversed(COMMON):
        function = option(function)
    return function


def command(name: str, **attributes: Any) -> Callable[[Callable[..., int | None]], click.Command]:
    """A Click command that also takes the common options and is handed its `Call` first."""

    def wrap(function: Callable[..., int | None]) -> click.Command:
        return click.command(name, **attributes)(common_options(click.pass_obj(function)))

    return wrap
