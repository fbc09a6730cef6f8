"""What readers were shown, counted without a write for each search."""

from __future__ import annotations

import pytest

from rowen.core.search.shown import EVERY_S, EVERY_SEARCHES, HALF_LIFE_S, MOST_PAGES, Shown, added


def test_counts_are_handed_on_after_many_searches() -> None:
    shown = Shown()
    told = [shown.count([1, 2], 0.0) for _ in range(EVERY_SEARCHES)]
    assert told[:-1] == [None] * (EVERY_SEARCHES - 1)
    assert told[-1] == {1: EVERY_SEARCHES, 2: EVERY_SEARCHES}
    assert shown.count([1], 0.0) is None, "it begins anew"


def test_counts_are_handed_on_with_the_first_search_after_a_while() -> None:
    shown = Shown()
    assert shown.count([1], 100.0) is None
    assert shown.count([1, 3], 100.0 + EVERY_S) == {1: 2, 3: 1}
    assert shown.count([], 100.0 + 2 * EVERY_S) is None, "nothing was shown"


def test_older_counts_fade_and_few_are_kept() -> None:
    found = added({"a": 8.0, "b": 0.06}, {"c": 1.0}, HALF_LIFE_S)
    assert found == {"a": pytest.approx(4.0), "c": 1.0}, "what was shown long ago is forgotten"
    many = added({}, {f"p{number}": float(number) for number in range(1, MOST_PAGES + 50)}, 0.0)
    assert len(many) == MOST_PAGES
    assert "p1" not in many
