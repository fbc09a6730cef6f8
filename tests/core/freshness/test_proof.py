"""How likely a copy is current, in numbers and in words."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import pytest

from rowen.core.freshness.proof import NOT_KNOWN, Proof, likely

NOW = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)


def test_the_probability_falls_with_the_time_since_it_was_verified() -> None:
    proof = Proof(NOW, "not_modified", rate=0.1 / DAY.total_seconds())
    assert proof.p_fresh(NOW) == 1.0
    assert proof.p_fresh(NOW + DAY) == pytest.approx(math.exp(-0.1))
    assert proof.p_fresh(NOW + 10 * DAY) == pytest.approx(math.exp(-1.0))


def test_a_clock_that_went_back_makes_nothing_more_than_certain() -> None:
    assert Proof(NOW, None, rate=1.0).p_fresh(NOW - timedelta(minutes=1)) == 1.0


def test_without_a_rate_there_is_no_probability() -> None:
    assert Proof(NOW, "fetched").p_fresh(NOW) is None
    assert likely(None) == NOT_KNOWN


@pytest.mark.parametrize(
    ("p", "said"),
    [
        (1.0, "more than 99 % likely current"),
        (0.99, "99 % likely current"),
        (0.9899, "98 % likely current"),
        (0.0101, "1 % likely current"),
        (0.009, "less than 1 % likely current"),
    ],
)
def test_words_never_promise_more_than_the_number(p: float, said: str) -> None:
    assert likely(p) == said


def test_a_copy_that_was_verified_in_the_future_is_not_said_to_be_current() -> None:
    """A clock that was ahead wrote that time: after it was set right, a search asks again."""
    assert Proof(NOW, "not_modified", rate=1e-9).p_fresh(NOW - DAY) is None
