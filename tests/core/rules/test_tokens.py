from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.core.rules.tokens import Estimate, estimate

COUNTS = st.integers(0, 10**9)


def test_an_estimate_counts_calls_by_the_batch_and_tokens_by_four_characters() -> None:
    assert estimate(4_000, 100, batch_size=32) == Estimate(calls=4, tokens=1_000)


def test_nothing_costs_nothing() -> None:
    assert estimate(0, 0, batch_size=100) == Estimate(calls=0, tokens=0)


def test_a_cost_is_for_a_million_tokens() -> None:
    assert estimate(4_000_000, 1, batch_size=1).cost(0.02) == pytest.approx(0.02)


@given(chars=COUNTS, texts=COUNTS, batch_size=st.integers(1, 10_000))
def test_there_is_room_for_every_text_and_never_a_call_too_many(
    chars: int, texts: int, batch_size: int
) -> None:
    found = estimate(chars, texts, batch_size=batch_size)
    assert found.calls * batch_size >= texts > (found.calls - 1) * batch_size or texts == found.calls == 0
    assert found.tokens * 4 >= chars > (found.tokens - 1) * 4 or chars == found.tokens == 0


@pytest.mark.parametrize(("chars", "texts", "batch_size"), [(-1, 0, 1), (0, -1, 1), (0, 0, 0)])
def test_counts_below_zero_are_a_mistake_of_the_caller(chars: int, texts: int, batch_size: int) -> None:
    with pytest.raises(ValueError, match="expected counts"):
        estimate(chars, texts, batch_size=batch_size)
