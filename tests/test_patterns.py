"""A pattern means what `re.compile` means, and is compiled when it is used."""

from __future__ import annotations

import re

import pytest

from rowen.patterns import pattern


def test_a_pattern_answers_as_a_compiled_one() -> None:
    words = pattern("[a-z]+", re.IGNORECASE)
    assert words.findall("One two") == ["One", "two"]
    assert words.sub("x", "One two") == "x x"
    assert (words.pattern, words.flags) == ("[a-z]+", re.compile("[a-z]+", re.IGNORECASE).flags)


def test_it_is_compiled_at_its_first_use_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    standard = re.compile
    monkeypatch.setattr(re, "compile", lambda text, flags: compiled.append(text) or standard(text, flags))
    words = pattern("late[0-9]+")
    assert compiled == []
    assert words.search("late1")
    assert words.match("late2")
    assert compiled == ["late[0-9]+"]
