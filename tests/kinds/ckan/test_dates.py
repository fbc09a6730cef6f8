"""Moments as a portal's index and its records write them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.kinds.ckan import dates


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2024-05-01T10:11:05.821474", "2024-05-01T10:11:05.821Z"),
        ("2024-05-01T10:11:05.821974", "2024-05-01T10:11:05.822Z"),
        ("2024-05-01T10:11:05.821474", "2024-05-01T10:11:05Z"),
        ("2024-05-01T10:11:05.800000", "2024-05-01T10:11:05.8Z"),
        ("2024-05-01T10:11:05", "2024-05-01T12:11:05+02:00"),
        ("2024-05-01T10:11:05", "2024-05-01 10:11"),
        ("2024-05-01T10:11:05", "2024-05-01"),
        ("soon", "soon"),
        ("", ""),
    ],
)
def test_the_same_moment_in_two_spellings(one: str, other: str) -> None:
    assert dates.is_same(one, other)
    assert dates.is_same(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2024-05-01T10:11:05.821474", "2024-05-01T10:11:05.823Z"),
        ("2024-05-01T10:11:05.821474", "2024-05-01T10:11:05.821475"),
        ("2024-05-01T10:11:05", "2024-05-01T10:11:07Z"),
        ("2024-05-01T10:11:05", "2024-05-01T10:11:05-01:00"),
        ("2024-05-01", "2024-05-02"),
        ("2024-05-01T10:11:05", ""),
        ("soon", "later"),
        ("0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00"),
    ],
)
def test_different_moments(one: str, other: str) -> None:
    assert not dates.is_same(one, other)


@given(st.integers(min_value=0, max_value=2**52))
def test_an_index_of_milliseconds_never_makes_a_dataset_look_changed(microseconds: int) -> None:
    moment = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)).replace(tzinfo=None)
    index = moment.isoformat(timespec="milliseconds") + "Z"
    assert dates.is_same(moment.isoformat(), index)
    assert not dates.is_same((moment + timedelta(seconds=2)).isoformat(), index)
