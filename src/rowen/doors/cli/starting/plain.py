"""Calls that are read without click: known options, each with a value that fits, and the declared arguments.

Everything else is left to click: help, mistakes and their messages, completion, `--`, values that
begin with a dash, what a command declares beyond names, types and defaults. So nothing is decided here that
click could decide otherwise; a test compares both over calls made up at random.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rowen.doors.cli.starting.declared import Command, Note, declared

Noting = Callable[[Any, Any], None]
"""What an option that all commands have does with the call and its value."""

_OF_OPTIONS = {"help", "metavar", "show_default", "shell_complete", "default", "type", "multiple", "is_flag"}
_OF_ARGUMENTS = {"metavar", "shell_complete", "type", "required", "nargs"}


class Read:
    """A call that was understood."""

    def __init__(self, command: Command, shared: list[tuple[Noting, Any]], values: dict[str, Any]) -> None:
        self.command = command
        self.shared = shared
        self.values = values


class NotPlain(Exception):
    """Click has to look at this call."""


def read(
    words: Sequence[str],
    find: Callable[[str], object],
    shared: Sequence[tuple[Note, Noting]],
) -> Read | None:
    """The command that `find` knows by its name, and what it is called with."""
    by_flag = {flag: option for option, _ in shared for flag in option.given}
    noting = {flag: note for option, note in shared for flag in option.given}
    try:
        noted, name, rest = _before(iter(words), by_flag)
        command = find(name)
        if not isinstance(command, Command):
            return None
        also, values = _values(command, rest, by_flag)
    except NotPlain:
        return None
    return Read(command, [(noting[flag], value) for flag, value in (*noted, *also)], values)


def _before(waiting: Iterator[str], options: dict[str, Note]) -> tuple[list[tuple[str, Any]], str, list[str]]:
    """The options before the name of the command, the name, and the words after it."""
    noted: list[tuple[str, Any]] = []
    for word in waiting:
        if not word.startswith("-"):
            return noted, word, [*waiting]
        noted.append(_given(word, waiting, options))
    raise NotPlain


def _values(
    command: Command, words: Sequence[str], shared: dict[str, Note]
) -> tuple[list[tuple[str, Any]], dict[str, Any]]:
    if command.attributes:
        raise NotPlain
    own = [note for note in declared(command.function) if note.name == "option"]
    arguments = [note for note in declared(command.function) if note.name == "argument"]
    by_flag = {flag: note for note in own for flag in note.given if flag.startswith("-")}
    found: dict[str, Any] = {_called(note): _default(note) for note in own}
    noted: list[tuple[str, Any]] = []
    placed: list[str] = []
    waiting = iter(words)
    for word in waiting:
        if not word.startswith("-"):
            placed.append(word)
            continue
        flag, value = _given(word, waiting, by_flag | shared)
        if flag not in by_flag:
            noted.append((flag, value))
            continue
        note = by_flag[flag]
        name = _called(note)
        found[name] = (*found[name], value) if note.named.get("multiple") else value
    return noted, found | _placed(arguments, placed)


def _given(word: str, waiting: Iterator[str], options: dict[str, Note]) -> tuple[str, Any]:
    """The option that a word begins, and its value, which may be the next word."""
    flag, equals, text = word.partition("=")
    note = options.get(flag)
    if note is None or (equals and not flag.startswith("--")):
        raise NotPlain
    if note.named.get("is_flag"):
        if equals:
            raise NotPlain
        return flag, True
    return flag, _value(note, text if equals else next(waiting, ""))


def _placed(arguments: list[Note], words: list[str]) -> dict[str, Any]:
    """The arguments by name; only the last ones may be left out, and only the last may be several."""
    if any(note.named.keys() - _OF_ARGUMENTS for note in arguments):
        raise NotPlain
    found: dict[str, Any] = {}
    waiting = iter(words)
    for note in arguments:
        if note.named.get("nargs", 1) == -1 and note is arguments[-1]:
            found[_called(note)] = tuple(_value(note, word) for word in waiting)
            if note.named.get("required") and not found[_called(note)]:
                raise NotPlain
            continue
        word = next(waiting, None)
        if "nargs" in note.named or (word is None and note.named.get("required", True)):
            raise NotPlain
        found[_called(note)] = None if word is None else _value(note, word)
    if next(waiting, None) is not None:
        raise NotPlain
    return found


def _value(note: Note, text: str) -> Any:
    """A value of the declared type."""
    kind = note.named.get("type")
    if not text or text.startswith("-"):
        raise NotPlain
    if kind is None:
        default = note.named.get("default")
        return _whole(text) if isinstance(default, int) else text
    if not isinstance(kind, Note) or kind.named:
        raise NotPlain
    if kind.name == "Choice" and text in kind.given[0]:
        return text
    if kind.name == "IntRange":
        least, most = (*kind.given, None)[:2]
        number = _whole(text)
        if least <= number and (most is None or number <= most):
            return number
    raise NotPlain


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise NotPlain
    return int(text)


def _default(note: Note) -> Any:
    default = note.named.get("default")
    multiple, is_flag = note.named.get("multiple", False), note.named.get("is_flag", False)
    plain = default is None or (isinstance(default, str | int) and not (multiple or is_flag))
    if note.named.keys() - _OF_OPTIONS or not plain or any("/" in flag for flag in note.given):
        raise NotPlain
    if multiple:
        return ()
    return False if is_flag else default


def _called(note: Note) -> str:
    """The name that the function knows a value by: the one without dashes, or the first long one."""
    bare = [name for name in note.given if not name.startswith("-")]
    long = [name for name in note.given if name.startswith("--")]
    first: str = [*bare, *long, *note.given][0]
    return first.lstrip("-").replace("-", "_").lower()
