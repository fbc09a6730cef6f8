"""Slips between two names, beside the definition of the distance."""

from __future__ import annotations

from functools import cache

from hypothesis import given
from hypothesis import strategies as st

from rowen.core.search.spelling import between, nearest, one_slip_from

NAMES = st.text("abcd", max_size=7)


@cache
def defined(one: str, other: str) -> int:
    """The distance as it is defined, step by step from the ends."""
    if not one or not other:
        return len(one) + len(other)
    least = min(
        defined(one[:-1], other) + 1,
        defined(one, other[:-1]) + 1,
        defined(one[:-1], other[:-1]) + (one[-1] != other[-1]),
    )
    if len(one) > 1 and len(other) > 1 and one[-1] == other[-2] and one[-2] == other[-1]:
        least = min(least, defined(one[:-2], other[:-2]) + 1)
    return least


@given(NAMES, NAMES, st.integers(0, 3))
def test_the_number_of_slips_is_that_of_the_definition(one: str, other: str, most: int) -> None:
    distance = defined(one, other)
    assert between(one, other, most=most) == (distance if distance <= most else None)


@given(NAMES, st.lists(NAMES, unique=True), st.integers(0, 3))
def test_no_name_is_passed_over(word: str, names: list[str], slips: int) -> None:
    within = {name: distance for name in names if (distance := defined(word, name)) <= slips}
    least = min(within.values(), default=0)
    assert nearest(word, names, slips=slips) == sorted(
        n for n, distance in within.items() if distance == least
    )


@given(NAMES)
def test_what_is_one_slip_away_is_all_that_has_this_distance(word: str) -> None:
    made = one_slip_from(word)
    assert all(defined(word, one) == 1 for one in made)
    assert len(made) >= 26 * (len(word) + 1) - len(word)
