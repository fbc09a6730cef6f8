"""For how long an item that fails holds up the others."""

from __future__ import annotations

from rowen.kinds.api import give_up


def test_only_runs_in_a_row_count() -> None:
    runs: dict[str, int] = {}
    for failed in (["a"], ["a"], [], ["a"], ["a"]):
        runs = give_up.counted(runs, failed=failed, met=["a"])
    assert runs == {"a": 2}
    assert give_up.lasting(runs, ["a"]) == []
    assert give_up.lasting(give_up.counted(runs, failed=["a"], met=["a"]), ["a"]) == ["a"]


def test_a_run_that_does_not_meet_an_item_says_nothing_about_it() -> None:
    assert give_up.counted({"a": 2}, failed=["b"], met=[]) == {"a": 2, "b": 1}


def test_what_is_given_up_costs_no_write_any_more() -> None:
    runs = {"a": give_up.RUNS}
    assert give_up.counted(runs, failed=["a"], met=["a"]) == runs


def test_many_are_not_given_up_and_few_of_very_many_are() -> None:
    items = [str(number) for number in range(11)]
    assert give_up.are_few(items[:10], asked=10)
    assert not give_up.are_few(items, asked=100)
    assert give_up.are_few(items, asked=110)


def test_what_is_remembered_has_an_end() -> None:
    failed = [str(number) for number in range(5000)]
    assert len(give_up.counted({}, failed=failed, met=[])) == give_up.MAX_REMEMBERED
