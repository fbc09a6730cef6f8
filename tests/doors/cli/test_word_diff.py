"""A word-level diff that a person can read: golden text at 80 columns, in brackets and in colours."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest

from rowen.core.compare.sections import compare
from rowen.doors.cli.drawing.console import Console
from rowen.doors.cli.drawing.parts import Group
from rowen.doors.cli.word_diff import drawn

GOLDEN = Path(__file__).parent / "golden" / "words"
BEFORE = """# Task groups

A task group waits for all of its tasks, and cancels the others when one of them fails. It was added in
version 3.11, together with exception groups.

## Creating a task

`create_task(coro, *, name=None)` adds a task to the group and returns it.

- Tasks may be added while others are running.
- A task that ends leaves the group.

## Waiting

The group waits when its block ends.

## Legacy loops

The argument `loop` was removed in version 3.10.
"""
AFTER = """# Task groups

A task group waits for all of its tasks, and cancels the others as soon as one of them fails. It was added in
version 3.11, together with exception groups.

## Waiting

The group waits when its block ends.

## Creating a task

`create_task(coro, *, name=None, context=None)` adds a task to the group and returns it.

- Tasks may be added while others are running.
- A task that ends leaves the group.
- The keyword `context` gives the task a context of its own.

## Errors

""" + " ".join(f"An error of task {number} is part of the group." for number in range(20))


@pytest.mark.parametrize("colours", [False, True], ids=["brackets", "colours"])
def test_what_differs_is_shown_by_section_with_its_words(
    colours: bool, request: pytest.FixtureRequest
) -> None:
    console = Console(StringIO(), width=80, terminal=colours, colours=colours)
    shown = console.drawn(Group(*drawn(compare(BEFORE, AFTER), colours=colours)))
    file = GOLDEN / ("colours.ansi" if colours else "brackets.txt")
    if request.config.getoption("--rewrite-golden", default=False):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(shown)
    assert shown == file.read_text()


def test_blanks_stand_outside_of_the_marks() -> None:
    parts = drawn(
        compare("Everybody has 23 days of leave.", "Everybody has 25 days of leave."), colours=False
    )
    shown = Console(StringIO(), width=80, terminal=False, colours=False).drawn(Group(*parts))
    assert "Everybody has [-23-] {+25+} days of leave." in shown


def test_texts_that_are_equal_show_nothing() -> None:
    assert drawn(compare(BEFORE, BEFORE), colours=False) == []
