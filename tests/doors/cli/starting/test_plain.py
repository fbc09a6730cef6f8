"""Calls read without click mean what they mean to click."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.doors.cli.app import NAMES, find
from rowen.doors.cli.call import SHARED_OPTIONS, Call, common_options
from rowen.doors.cli.starting import plain
from rowen.doors.cli.starting.declared import Command, declared

VALUES = ["word", "two words", "5", "0", "-1", "", "hybrid", "json", "a=b", "-", "--", "٣", "1e3", " 7", "+7"]


def seen_by_click(command: Command, words: list[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    call = Call()
    with command.made(common_options()).make_context(command.name, words, obj=call) as context:
        return context.params, state(call)


def state(call: Call) -> dict[str, Any]:
    out = call.out
    return {"db": call.db, "json": out.json, "verbose": call.verbose, "no_color": out.no_color}


def commands() -> list[str]:
    return [name for name in NAMES if isinstance(find(name), Command)]


@st.composite
def calls(draw: st.DrawFn) -> list[str]:
    """The name of a command, with options of its own or of all commands, and values that may fit."""
    name = draw(st.sampled_from(commands()))
    command = find(name)
    assert isinstance(command, Command)
    notes = [*declared(command.function), *(option for option, _ in SHARED_OPTIONS)]
    flags = [word for note in notes for word in note.given if word.startswith("-")]
    fitting = [
        str(one)
        for note in notes
        if (kind := note.named.get("type")) is not None and not isinstance(kind, type)
        for one in (kind.given[0] if kind.name == "Choice" else kind.given)
    ]
    values = st.sampled_from([*VALUES, *fitting])
    flag = st.sampled_from(flags)
    word = st.one_of(
        st.tuples(flag),
        st.tuples(flag, values),
        st.builds(lambda one, value: (f"{one}={value}",), flag, values),
        st.tuples(values),
    )
    words = draw(st.lists(word, max_size=4))
    return [name, *(one for some in words for one in some)]


@given(calls())
def test_a_call_that_is_read_without_click_has_the_values_that_click_finds(words: list[str]) -> None:
    read = plain.read(words, find, SHARED_OPTIONS)
    if read is None:
        return
    call = Call()
    for note, value in read.shared:
        note(call, value)
    assert (read.values, state(call)) == seen_by_click(read.command, words[1:])


@pytest.mark.parametrize(
    "words",
    [
        ["status"],
        ["--json", "status", "-v"],
        ["--db", "sqlite:///a.db", "list", "--no-color", "--db=sqlite:///b.db"],
        ["search", "two words", "--source", "a", "--source=b", "--mode", "keyword", "--limit", "3"],
        ["search", "two", "words", "--limit", "3"],
        ["search", "plum", "--generation", "2"],
        ["show", "3"],
        ["runs", "docs"],
        ["sync", "docs"],
    ],
    ids=" ".join,
)
def test_usual_calls_are_read_without_click(words: list[str]) -> None:
    read = plain.read(words, find, SHARED_OPTIONS)
    assert read is not None
    at = words.index(read.command.name)
    assert read.values == seen_by_click(read.command, words[at + 1 :])[0]


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--json"],
        ["--help"],
        ["search", "--help"],
        ["search"],
        ["show", "a", "b"],
        ["search", "a", "--limit", "many"],
        ["search", "a", "--limit"],
        ["search", "a", "--mode", "guess"],
        ["search", "a", "--generation", "0"],
        ["search", "--", "-a"],
        ["search", ""],
        ["status", "--json=1"],
        ["status", "--unknown"],
        ["db", "version"],
    ],
    ids=" ".join,
)
def test_help_mistakes_and_groups_are_left_to_click(words: list[str]) -> None:
    assert plain.read(words, find, SHARED_OPTIONS) is None
