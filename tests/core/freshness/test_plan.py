"""What asking is worth, and which pages a budget is spent on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.core.freshness.gain import (
    gain,
    interval_for,
    level_of_freshness,
    p_fresh,
    share_fresh,
    spent_at,
)
from rowen.core.freshness.plan import LONGEST, SWEEPS, Page, plan, uniform_interval
from rowen.core.freshness.weights import weights

rate = st.floats(min_value=1e-6, max_value=100.0)
age = st.floats(min_value=0.0, max_value=1000.0)
mixes = st.lists(st.tuples(st.floats(0.01, 1.0), st.floats(0.1, 10.0)), min_size=1, max_size=12)


@given(rate, age, age)
def test_a_gain_grows_with_the_age_up_to_one_over_the_rate(rate: float, one: float, other: float) -> None:
    young, old = sorted((one, other))
    assert -1e-12 <= gain(rate, young) <= gain(rate, old) * (1 + 1e-6) + 1e-12
    assert gain(rate, old) <= 1 / rate * (1 + 1e-9)


@given(st.floats(1e-3, 10.0), st.floats(0.01, 100.0))
def test_the_gain_is_what_a_little_longer_interval_costs(rate: float, interval: float) -> None:
    """It is the slope of the share of fresh time by the frequency of checks."""
    step = interval * 1e-4
    shorter, longer = interval - step, interval + step
    slope = (share_fresh(rate, shorter) - share_fresh(rate, longer)) / (1 / shorter - 1 / longer)
    assert gain(rate, interval) == pytest.approx(slope, rel=1e-2, abs=1e-6)


@given(rate, age)
def test_a_probability_is_between_none_and_one(rate: float, age: float) -> None:
    assert 0.0 <= p_fresh(rate, age) <= 1.0
    assert p_fresh(rate, 0.0) == 1.0


@given(mixes, st.floats(0.5, 0.99))
def test_the_level_of_a_freshness_reaches_it(pages: list[tuple[float, float]], share: float) -> None:
    _, fresh = spent_at(level_of_freshness(pages, share, 1000.0), pages, 1000.0)
    assert fresh >= share - 1e-3


@given(rate, st.floats(0.1, 10.0), st.floats(1e-6, 10.0))
def test_a_page_is_worth_the_level_after_its_interval(rate: float, weight: float, level: float) -> None:
    interval = interval_for(rate, weight, level, 50.0)
    assert interval == 50.0 or gain(rate, interval, weight) == pytest.approx(level, rel=1e-3)


def a_page(
    name: str, *, rate: float = 0.1, age_s: float = 1.0, weight: float = 1.0, checks: int = SWEEPS
) -> Page:
    return Page(reference=name, rate=rate, age_s=age_s, weight=weight, checks=checks)


def names(pages: list[Page]) -> list[str]:
    return [page.reference for page in pages]


def test_a_budget_for_all_asks_for_all() -> None:
    pages = [a_page("a"), a_page("b")]
    assert names(plan(pages, 2, every_s=1.0)) == ["a", "b"]


def test_requests_go_where_they_gain_most() -> None:
    pages = [a_page("slow", rate=0.01), a_page("seen", weight=9.0), a_page("busy", rate=1.0), a_page("c")]
    assert names(plan(pages, 2, every_s=1.0)) == ["seen", "busy"]


def test_a_page_that_changes_before_anybody_can_read_it_is_not_worth_a_request() -> None:
    pages = [a_page("hopeless", rate=1000.0), a_page("worth it", rate=1.0), a_page("c", rate=0.001)]
    assert names(plan(pages, 1, every_s=1.0)) == ["worth it"]


def test_what_was_not_swept_twice_comes_first_the_oldest_of_it_first() -> None:
    pages = [a_page("busy", rate=1.0), a_page("new", checks=0, age_s=0.5), a_page("old", checks=1, age_s=2.0)]
    assert names(plan(pages, 1, every_s=1.0)) == ["old"]
    assert names(plan(pages, 2, every_s=1.0)) == ["old", "new"]


@given(
    st.lists(st.tuples(st.floats(1e-4, 10.0), st.floats(0.01, 10.0)), min_size=4, max_size=30),
    st.integers(1, 3),
)
def test_no_page_waits_for_longer_than_three_uniform_intervals(
    mix: list[tuple[float, float]], requests: int
) -> None:
    ages = dict.fromkeys(map(str, range(len(mix))), 0.0)
    longest = LONGEST * uniform_interval(len(mix), requests, 1.0)
    for _ in range(120):
        pages = [
            a_page(name, rate=mix[int(name)][0], weight=mix[int(name)][1], age_s=age)
            for name, age in ages.items()
        ]
        for page in plan(pages, requests, every_s=1.0):
            ages[page.reference] = 0.0
        ages = {name: age + 1.0 for name, age in ages.items()}
        # All pages begin with the same age: some of those that are due at once wait for a sweep at most.
        assert max(ages.values()) <= longest + len(mix) / requests + 1.0


def test_counts_that_differ_by_chance_alone_weigh_about_the_same() -> None:
    found = weights({"a": 4, "b": 6, "c": 5, "d": 3, "e": 7}, "abcde")
    assert max(found.values()) < 1.05 * min(found.values())


def test_a_page_that_readers_see_often_weighs_more_and_one_they_never_saw_weighs_something() -> None:
    found = weights({"top": 1000.0, "some": 10.0}, ["top", "some", *map(str, range(20))])
    assert found["top"] > 50 * found["some"] > 50 * found["0"] > 0.0


def test_before_any_search_all_pages_weigh_the_same() -> None:
    assert weights({}, "ab") == {"a": 1.0, "b": 1.0}
