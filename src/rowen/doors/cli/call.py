"""What a user says about every command alike: which store, JSON or text, colour, tracebacks.

Each of these options is understood before and after the command's name.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import cached_property, update_wrapper
from typing import TYPE_CHECKING, Any

from rowen.doors.cli.output import Output
from rowen.doors.cli.starting.declared import Command, Note, click

if TYPE_CHECKING:
    from rowen.config import Config
    from rowen.core.source import Source
    from rowen.engine.ports import Ports


class Call:
    ports: Ports
    """Open while a `store_command` works."""

    def __init__(self) -> None:
        self.db: str | None = None
        self.verbose = False
        self.out = Output()

    def config(self) -> Config:
        """The configuration in force, with the store that this call names."""
        return self._config

    @cached_property
    def _config(self) -> Config:
        from pathlib import Path

        from rowen import config, project_file

        folder = Path.cwd()
        if (found := project_file.find(folder)) and found.has_settings and not found.trusted:
            self.out.note(f"{project_file.FILE} here is not used: read it, then `rowen config trust`")
        return config.in_force(db=self.db, folder=folder)

    async def source(self, name: str) -> Source:
        from rowen.managing.find import find

        return await find(self.ports.store, name)


def _db(call: Call, value: str) -> None:
    call.db = value


def _json(call: Call, value: bool) -> None:
    call.out.json = value


def _verbose(call: Call, value: bool) -> None:
    call.verbose = value


def _no_color(call: Call, value: bool) -> None:
    call.out.no_color = value


SHARED_OPTIONS: tuple[tuple[Note, Callable[[Call, Any], None]], ...] = (
    (
        Note(
            "option",
            ("--db",),
            {
                "metavar": "URL",
                "help": "The store, `sqlite:///path` or `postgresql://...`; also ROWEN_DB.",
            },
        ),
        _db,
    ),
    (Note("option", ("--json",), {"is_flag": True, "help": "JSON for programs."}), _json),
    (
        Note(
            "option",
            ("-v", "--verbose"),
            {"is_flag": True, "help": "Say more; show the traceback of an error."},
        ),
        _verbose,
    ),
    (
        Note("option", ("--no-color",), {"is_flag": True, "help": "No colours; also NO_COLOR."}),
        _no_color,
    ),
)
"""With what each does to the call."""


def common_options() -> list[click.Parameter]:
    """The same for click."""
    return [_option(option, note) for option, note in SHARED_OPTIONS]


def _option(option: Note, note: Callable[[Call, Any], None]) -> click.Option:
    def callback(ctx: click.Context, param: click.Parameter, value: Any) -> None:
        if value not in (None, False):
            note(ctx.ensure_object(Call), value)

    return click.Option([*option.given], expose_value=False, is_eager=True, callback=callback, **option.named)


def group(name: str, *commands: Command, help: str) -> click.Group:  # noqa: A002
    """A command that consists of commands."""
    made = click.Group(name, help=help, params=common_options())
    for one in commands:
        made.add_command(one.made(common_options()))
    return made


def command(name: str, **attributes: Any) -> Callable[[Callable[..., int | None]], Command]:
    """A command that also takes the common options; its function is given the `Call` first."""
    return lambda function: Command(name, function, attributes)


def store_command(
    name: str,
    *,
    interrupted: str = "interrupted",
    creates: bool = False,
    reads: bool = False,
    check: Callable[..., None] = lambda **_: None,
    **attributes: Any,
) -> Callable[[Callable[..., Coroutine[Any, Any, int | None]]], Command]:
    """A command that works on the store: its coroutine is given the `Call`, with the open ports, first.

    It returns the exit code, or None for 0. `interrupted` is the message after Ctrl-C or SIGTERM. `check`
    gets the arguments before the store is opened: a wrong call must not create an empty store. A store that
    does not exist is an error unless the command `creates` it. One that only `reads` waits for nothing but
    the store, and begins without an event loop.
    """

    def wrap(function: Callable[..., Coroutine[Any, Any, int | None]]) -> Command:
        def run(call: Call, **given: Any) -> int:
            from rowen.doors.cli import session

            async def work(ports: Ports) -> int:
                call.ports = ports
                return await function(call, **given) or 0

            check(**given)
            return session.run(call, work, interrupted=interrupted, creates=creates, reads=reads)

        return command(name, **attributes)(update_wrapper(run, function))

    return wrap
