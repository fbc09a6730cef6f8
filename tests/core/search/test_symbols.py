"""Names in questions, and how well a definition fits them."""

from __future__ import annotations

import pytest

from rowen.core.search.symbols import (
    Fit,
    as_typed,
    fit,
    fit_in_source,
    in_same_letters,
    is_one_name,
    is_written_as_name,
    last_part,
    names_in,
    names_of_parts,
    nearest_name,
    repaired,
    words_of,
)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("asyncio.TaskGroup.create_task", "createtask"),
        ("TaskGroup", "taskgroup"),
        ("std::vector::push_back", "pushback"),
        ("String#split", "split"),
        ("open()", "open"),
        ("--no-cache", "nocache"),
        ("object.__init__", "init"),
        ("work_mem", "workmem"),
        ("", ""),
    ],
)
def test_a_symbol_is_looked_up_by_the_words_of_its_last_part(name: str, words: str) -> None:
    assert words_of(name) == words


def test_a_short_question_may_be_a_name_written_as_words() -> None:
    assert names_in("get effective level") == ["geteffectivelevel"]


def test_names_are_found_in_a_sentence_by_how_they_are_written() -> None:
    question = "why does asyncio.gather() with return_exceptions swallow a KeyError and --verbose not help"
    assert names_in(question) == ["gather", "returnexceptions", "keyerror", "verbose"]
    assert names_in("how do I read a file line by line in a loop that never ends") == []


def test_what_a_name_is_a_member_of_is_looked_up_too() -> None:
    assert names_in("larder.Shelf.add()") == ["add", "shelf"]
    assert names_in("add") == ["add"]


@pytest.mark.parametrize(
    ("symbol", "query", "expected"),
    [
        ("shelf.Shelf", "shelf.Shelf", Fit.FULL),
        ("shelf.Shelf", "Shelf", Fit.LAST_PART),
        ("shelf.Shelf", "larder.cold.shelf.Shelf", Fit.PARTS),
        ("Shelf", "larder.Shelf", Fit.NONE),
        ("shelf.Shelf", "Shelf.add()", Fit.MEMBER),
        ("shelf.Shelf", "larder.shelf.Shelf.add", Fit.MEMBER),
        ("Shelf", "Shelf::add", Fit.MEMBER),
        ("shelf.Shelf", "Shelf.put", Fit.NONE),
        ("shelf.Shelf", "Jar.add", Fit.NONE),
        ("shelf.Shelf", "how to add a shelf", Fit.NONE),
    ],
)
def test_how_well_a_definition_in_source_code_fits(symbol: str, query: str, expected: Fit) -> None:
    assert fit_in_source(symbol, query, "class Shelf:\n    def add(self): ...\n") is expected


def test_what_extends_a_type_answers_for_its_members_alone() -> None:
    code = "impl Shelf {\n    fn add(&self) {}\n}"
    assert fit_in_source("Shelf", "Shelf::add", code, extends=True) is Fit.MEMBER
    assert fit_in_source("Shelf", "Shelf", code, extends=True) is Fit.MENTIONED


@pytest.mark.parametrize(
    ("symbol", "query", "expected"),
    [
        ("asyncio.gather", "asyncio.gather", Fit.FULL),
        ("asyncio.gather", "`asyncio.gather(*aws)`", Fit.FULL),
        ("asyncio.TaskGroup.create_task", "taskgroup.create_task", Fit.PARTS),
        ("asyncio.TaskGroup", "TaskGroup", Fit.LAST_PART),
        ("asyncio.TaskGroup", "task group", Fit.WORDS),
        ("--build-drafts", "build drafts", Fit.WORDS),
        ("--merge", "--merge", Fit.FULL),
        ("git.merge", "merge", Fit.LAST_PART),
        ("asyncio.gather", "when does asyncio.gather() raise", Fit.MENTIONED),
        ("other.gather", "when does asyncio.gather() raise", Fit.NONE),
        ("asyncio.gather", "gathering", Fit.NONE),
        ("click.pass_context", "@click.pass_context", Fit.FULL),
        ("@media", "@media", Fit.FULL),
    ],
)
def test_how_well_a_symbol_fits(symbol: str, query: str, expected: Fit) -> None:
    assert fit(symbol, query) is expected


@pytest.mark.parametrize(
    ("query", "typed", "is_name"),
    [
        ("--dist-dir", "--dist-dir", True),
        ("`encrypt_iv`", "encrypt_iv", True),
        ("os.path", "os.path", True),
        ("real-time", "real-time", False),
        ("install.", None, False),
        ("retries?", None, False),
        ("two words", None, False),
    ],
)
def test_a_question_of_one_word_with_marks_may_be_a_name(
    query: str, typed: str | None, is_name: bool
) -> None:
    assert as_typed(query) == typed
    assert typed is None or is_written_as_name(typed) is is_name


def test_a_slip_is_repaired_to_the_nearest_name_and_not_to_a_far_one() -> None:
    known = ["exitcode", "encode", "gather", "create"]
    assert repaired("exictode", known) == ["exitcode"]
    assert repaired("gahter", known) == ["gather"]
    assert repaired("something", known) == []


def test_only_one_word_that_is_long_enough_is_repaired() -> None:
    assert is_one_name("exictode")
    assert not is_one_name("abs")
    assert not is_one_name("two words")


def test_the_last_part_of_a_name_keeps_its_writing() -> None:
    assert last_part("asyncio.TaskGroup.create_task()") == "create_task"


def test_a_class_and_a_function_of_one_name_are_told_apart_by_their_letters() -> None:
    assert in_same_letters("asyncio.timeout", "asyncio.timeout()")
    assert not in_same_letters("asyncio.Timeout", "asyncio.timeout()")
    assert in_same_letters("asyncio.Timeout", "Timeout")


def test_a_plain_word_of_a_question_may_be_the_name_of_something() -> None:
    terms = ["cancel", "task"]
    assert fit("asyncio.Task.cancel", "how do I cancel a task", terms) is Fit.WORD
    assert fit("asyncio.Task.cancelled", "how do I cancel a task", terms) is Fit.NONE
    assert fit("asyncio.Task", "task", terms) is Fit.LAST_PART


def test_names_of_several_words_are_told_from_words_and_numbers() -> None:
    text = "set lock_timeout or os.path, not --verbose, timeouts, 3.8, x_1 or real-time; see --dist-dir"
    assert names_of_parts(text) == ["lock_timeout", "os.path", "--dist-dir"]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("lock_timout", "lock_timeout"),
        ("LOCK_TIMEOTU", "lock_timeout"),
        ("asyncio.taskgruop", "asyncio.TaskGroup"),
        ("python3.8_dir", None),
        ("sock_timers", None),
    ],
)
def test_a_mistyped_name_means_the_nearest_known_one_as_a_whole(typed: str, meant: str | None) -> None:
    known = ["lock_timeout", "lock_timeout", "lock_timeouts", "asyncio.TaskGroup", "python3.9_dir"]
    assert nearest_name(typed, known) == meant


def test_a_plain_word_is_not_the_name_of_the_option_that_is_written_like_it() -> None:
    assert fit("--merge", "merge", ["merge"]) is Fit.WORD
    assert fit("merge", "merge", ["merge"]) is Fit.FULL
