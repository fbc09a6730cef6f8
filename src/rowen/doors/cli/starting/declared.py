"""Commands as they are declared: in the words of click, which is imported when a call needs it.

`click` here is the library for type checkers. In a running process it notes what options and arguments were
declared with, so that a command is still declared once: `made` hands the notes to click, and `plain.py` reads
calls by them, in a fifth of the time that it takes to import click.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import click as click
else:

    class _Click:
        """The library: what declares is noted, every other name is the library's."""

        def __getattr__(self, name: str) -> Any:
            if name in ("option", "argument", "Choice", "IntRange", "Path"):
                return lambda *given, **named: Note(name, given, named)
            import click

            return getattr(click, name)

    click = _Click()

MOST = 2**31 - 1
"""The largest number that an option hands to the store: larger ones a database refuses."""


class Note:
    """A call of click that was not made yet: an option, an argument, or the type of one."""

    def __init__(self, name: str, given: tuple[Any, ...], named: dict[str, Any]) -> None:
        self.name = name
        self.given = given
        self.named = named

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """As a decorator."""
        function.__dict__["declared"] = [self, *declared(function)]
        return function

    def made(self) -> Any:
        import click

        named = {
            name: value.made() if isinstance(value, Note) else value for name, value in self.named.items()
        }
        return getattr(click, self.name)(*self.given, **named)


def declared(function: Callable[..., Any]) -> list[Note]:
    """The options and arguments of a command's function, in the order they are written."""
    found: list[Note] = function.__dict__.get("declared", [])
    return found


class Command:
    """A command: its function, which is given the call first, and how it was declared."""

    def __init__(self, name: str, function: Callable[..., int | None], attributes: dict[str, Any]) -> None:
        self.name = name
        self.function = function
        self.attributes = attributes

    def made(self, common: list[click.Parameter]) -> click.Command:
        """As click has it. The `common` options are the last of its help: they are the same everywhere."""
        function: Any = click.pass_obj(self.function)
        for note in reversed(declared(self.function)):
            function = note.made()(function)
        make: Callable[[Any], click.Command] = click.command(self.name, **self.attributes)
        made = make(function)
        made.params += common
        return made
