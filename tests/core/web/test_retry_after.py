"""Reading `Retry-After`."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.core.web.retry_after import retry_after_s

NOW = datetime(2024, 5, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0),
        (" 0 ", 0.0),
        ("9" * 5000, 999_999_999.0),
        ("Wed, 01 May 2024 12:01:30 GMT", 90.0),
        ("Wed, 01 May 2024 14:01:30 +0200", 90.0),
        ("Wed, 01 May 2024 12:01:30 -0000", 90.0),
        ("Wed, 01 May 2024 11:00:00 GMT", 0.0),
        ("-5", None),
        ("1.5", None),
        ("²", None),
        ("soon", None),
        ("", None),
    ],
)
def test_seconds_and_dates_are_read(value: str, seconds: float | None) -> None:
    assert retry_after_s({"retry-after": value}, NOW) == seconds


@pytest.mark.parametrize("now", [datetime(1990, 1, 1, tzinfo=UTC), datetime(2090, 1, 1, tzinfo=UTC)])
def test_a_date_counts_from_the_servers_clock_however_wrong_ours_is(now: datetime) -> None:
    headers = {"retry-after": "Wed, 01 May 2024 12:01:30 GMT", "date": "Wed, 01 May 2024 12:00:00 GMT"}
    assert retry_after_s(headers, now) == 90.0


def test_no_header_is_no_answer() -> None:
    assert retry_after_s({}, NOW) is None


@given(st.text(max_size=40))
def test_no_header_value_makes_it_raise(value: str) -> None:
    seconds = retry_after_s({"retry-after": value}, NOW)
    assert seconds is None or seconds >= 0


def test_a_date_beyond_the_calendar_is_a_long_time_and_no_error() -> None:
    far = retry_after_s({"retry-after": "Fri, 31 Dec 9999 23:59:59 -1200"}, datetime(2026, 1, 1, tzinfo=UTC))
    assert far == 999_999_999.0
