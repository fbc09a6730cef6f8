"""Phrases and excluded words."""

from __future__ import annotations

import pytest

from rowen.core.search.question import Question
from tests.core.search.test_rank import place

GROUPS = place(
    1, 1, title="Tasks", heading_path="Tasks › Groups", text="A **task group** waits for its\nthreads."
)


@pytest.mark.parametrize(
    ("typed", "text", "phrases", "excluded"),
    [
        ("install the package", "install the package", (), ()),
        ('"Task  Group" cancel', "Task Group cancel", ("task group",), ()),
        ("“task group”", "task group", ("task group",), ()),
        ("cancel -thread now", "cancel now", (), ("thread",)),
        ("pg_dump --data-only -a", "pg_dump --data-only -a", (), ()),
        ("-thread", "", (), ("thread",)),
        ("-thread cancel", "cancel", (), ("thread",)),
        ('"-thread"', "-thread", ("-thread",), ()),
        ("-march=native", "-march=native", (), ()),
        ('an "unclosed phrase', 'an "unclosed phrase', (), ()),
        ('""', '""', (), ()),
    ],
)
def test_what_is_typed_is_taken_apart(
    typed: str, text: str, phrases: tuple[str, ...], excluded: tuple[str, ...]
) -> None:
    read = Question.read(typed)
    assert (read.text, read.phrases, read.excluded) == (text, phrases, excluded)


@pytest.mark.parametrize(
    ("typed", "allowed"),
    [
        ("group task", True),
        ('"task group"', True),
        ('"its threads"', True),
        ('"group task"', False),
        ('"tasks › groups"', True),
        ("group -thread", False),
        ("group -process", True),
        ('"task group" waits -threads', False),
    ],
)
def test_a_phrase_must_stand_and_an_excluded_word_must_not(typed: str, allowed: bool) -> None:
    assert Question.read(typed).allows(GROUPS) is allowed


@pytest.mark.parametrize(
    ("typed", "only"),
    [("-thread", True), (" -thread -task ", True), ("-thread task", False), ('"-task"', False)],
)
def test_a_question_of_excluded_words_alone_is_told_from_others(typed: str, only: bool) -> None:
    assert Question.read(typed).only_excludes is only
