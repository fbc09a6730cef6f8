"""How many pages a run may ask for, and when a source is worth its next run."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from rowen.core.freshness.gain import share_fresh
from rowen.core.freshness.plan import LONGEST, SWEEPS, Page
from rowen.core.freshness.schedule import (
    DAY_S,
    LONGEST_EVERY_S,
    SHORTEST_S,
    Sweep,
    budget_of,
    choose,
    interval,
    pages_a_day,
)

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def a_page(number: int, *, per_day: float, age_days: float = 1.0, checks: int = SWEEPS) -> Page:
    return Page(reference=f"p{number}", rate=per_day / DAY_S, age_s=age_days * DAY_S, checks=checks)


@pytest.mark.parametrize(
    ("text", "a_day"),
    [("5000/day", 5000), ("5,000 / d", 5000), ("200/h", 4800), ("3/min", 4320), ("700/week", 100)],
)
def test_a_budget_is_pages_a_day(text: str, a_day: float) -> None:
    assert budget_of(text) == pytest.approx(a_day)


@pytest.mark.parametrize("text", ["5000", "0/day", "many/day", "5000/fortnight", "-3/day"])
def test_what_is_no_budget_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="5000/day"):
        budget_of(text)


def test_a_run_gets_what_added_up_since_the_one_before_and_a_day_at_most() -> None:
    pages = [a_page(number, per_day=0.1) for number in range(1000)]
    for hours, asked in ((1, 10), (6, 60), (24, 240), (240, 240)):
        chosen = choose(pages, 240, elapsed_s=hours * 3600)
        assert chosen is not None
        assert len(chosen) == asked
    assert len(choose(pages, 240, elapsed_s=0) or ()) == 1
    assert choose(pages, 1000, elapsed_s=DAY_S) is None, "enough for all of them"


def test_the_pages_that_gain_most_come_first_and_no_page_waits_for_ever() -> None:
    busy = [a_page(number, per_day=0.5) for number in range(10)]
    quiet = [a_page(number, per_day=0.001) for number in range(10, 100)]
    chosen = choose([*quiet, *busy], 10, elapsed_s=DAY_S)
    assert chosen is not None
    assert {page.reference for page in chosen} == {page.reference for page in busy}
    old = a_page(200, per_day=1e-6, age_days=LONGEST * 101 / 10)
    chosen = choose([*quiet, *busy, old], 10, elapsed_s=DAY_S)
    assert chosen is not None
    assert chosen[0] == old


def test_a_wanted_share_of_current_hits_is_the_budget_that_reaches_it() -> None:
    pages = [a_page(number, per_day=0.02 * (1 + number % 5)) for number in range(300)]
    ninety, ninety_nine = (pages_a_day(pages, budget=None, share=share) for share in (0.90, 0.99))
    assert 0.0 < ninety < ninety_nine
    # Asked for at equal intervals, these pages need more for the same share.
    low, high = 0.01, 100.0
    for _ in range(60):
        middle = (low + high) / 2
        reached = sum(share_fresh(page.rate, middle * DAY_S) for page in pages) / len(pages)
        low, high = (middle, high) if reached >= 0.90 else (low, middle)
    assert ninety <= len(pages) / low * 1.01
    assert pages_a_day(pages, budget=ninety / 2, share=0.90) == ninety / 2, "a budget is a bound"


def test_the_interval_of_a_source_follows_how_fast_it_changes() -> None:
    slow = [a_page(number, per_day=0.001) for number in range(50)]
    fast = [a_page(number, per_day=1.0) for number in range(50)]
    chosen = [interval(pages, budget=None, share=None) for pages in (slow, fast)]
    assert LONGEST_EVERY_S >= chosen[0] > chosen[1] >= SHORTEST_S
    reached = share_fresh(1.0 / DAY_S, chosen[1])
    assert reached == pytest.approx(0.95, abs=0.001)
    assert interval([], budget=None, share=None) == DAY_S


def test_with_a_budget_a_run_is_worth_it_when_there_is_enough_to_ask_for() -> None:
    pages = [a_page(number, per_day=0.1) for number in range(10_000)]
    assert interval(pages, budget=5000, share=None) == pytest.approx(100 / 5000 * DAY_S)
    assert interval(pages, budget=1e9, share=None) == SHORTEST_S
    assert interval(pages, budget=1, share=None) == DAY_S


def test_a_sweep_is_done_when_every_page_was_asked_for_since_it_began() -> None:
    day = timedelta(days=1)
    first = Sweep(0, NOW)
    assert first.after(NOW - day, NOW + day) == first
    second = first.after(NOW, NOW + day)
    assert second == Sweep(1, NOW + day)
    assert second.after(NOW + 2 * day, NOW + 3 * day).done == SWEEPS
    done = Sweep(SWEEPS, NOW)
    assert done.after(NOW + day, NOW + 2 * day) == done
    assert Sweep.of(second.as_dict()) == second
    assert Sweep.of(None) is None
    assert Sweep.of({"done": "x"}) is None
