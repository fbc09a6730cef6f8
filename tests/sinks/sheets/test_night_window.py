"""Nights: windows by the clocks of a place, also when the clocks are changed."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.sinks.sheets.night_window import NightWindow

MADRID = ZoneInfo("Europe/Madrid")
EARLY = NightWindow(time(3), time(6), MADRID)


def madrid(*parts: int, fold: int = 0) -> datetime:
    return datetime(*parts, tzinfo=MADRID, fold=fold).astimezone(UTC)  # type: ignore[misc,arg-type]


def test_a_window_is_open_from_its_beginning_until_before_its_end() -> None:
    assert not EARLY.at(madrid(2026, 6, 1, 2, 59, 59))
    assert EARLY.at(madrid(2026, 6, 1, 3))
    assert EARLY.at(madrid(2026, 6, 1, 5, 59, 59))
    assert not EARLY.at(madrid(2026, 6, 1, 6))
    assert EARLY.at(madrid(2026, 6, 1, 4)) == (madrid(2026, 6, 1, 3), madrid(2026, 6, 1, 6))


def test_the_next_opening_is_the_one_after_now() -> None:
    assert EARLY.next_opening(madrid(2026, 6, 1, 2)) == madrid(2026, 6, 1, 3)
    assert EARLY.next_opening(madrid(2026, 6, 1, 3)) == madrid(2026, 6, 2, 3)
    assert EARLY.next_opening(madrid(2026, 6, 1, 12)) == madrid(2026, 6, 2, 3)


def test_a_window_may_reach_over_midnight() -> None:
    late = NightWindow(time(23), time(2), MADRID)
    assert late.at(madrid(2026, 6, 1, 23, 30))
    assert late.at(madrid(2026, 6, 2, 1, 59))
    assert not late.at(madrid(2026, 6, 2, 2))
    assert late.at(madrid(2026, 6, 2, 1)) == (madrid(2026, 6, 1, 23), madrid(2026, 6, 2, 2))
    assert late.next_opening(madrid(2026, 6, 2, 1)) == madrid(2026, 6, 2, 23)


def test_the_same_time_twice_is_a_whole_day() -> None:
    always = NightWindow(time(4), time(4), MADRID)
    assert always.at(madrid(2026, 6, 1, 3)) == (madrid(2026, 5, 31, 4), madrid(2026, 6, 1, 4))
    assert always.next_opening(madrid(2026, 6, 1, 3)) == madrid(2026, 6, 1, 4)


def test_a_window_after_the_jump_is_as_long_as_ever() -> None:
    # 2026-03-29, 02:00 becomes 03:00.
    span = EARLY.at(madrid(2026, 3, 29, 4))
    assert span == (datetime(2026, 3, 29, 1, tzinfo=UTC), datetime(2026, 3, 29, 4, tzinfo=UTC))
    assert not EARLY.at(datetime(2026, 3, 29, 0, 59, 59, tzinfo=UTC))


def test_a_window_after_the_repeated_hour_opens_once() -> None:
    # 2026-10-25, 03:00 becomes 02:00.
    span = EARLY.at(madrid(2026, 10, 25, 4))
    assert span == (datetime(2026, 10, 25, 2, tzinfo=UTC), datetime(2026, 10, 25, 5, tzinfo=UTC))
    assert not EARLY.at(madrid(2026, 10, 25, 2, 30, fold=0))
    assert not EARLY.at(madrid(2026, 10, 25, 2, 30, fold=1))


def test_a_window_in_the_repeated_hour_opens_the_first_time_only() -> None:
    short = NightWindow(time(2, 15), time(2, 45), MADRID)
    assert short.at(madrid(2026, 10, 25, 2, 30, fold=0))
    assert not short.at(madrid(2026, 10, 25, 2, 30, fold=1))
    assert short.next_opening(madrid(2026, 10, 25, 2, 30, fold=0)) == madrid(2026, 10, 26, 2, 15)


def test_a_window_in_the_skipped_hour_opens_an_hour_later() -> None:
    short = NightWindow(time(2, 15), time(2, 45), MADRID)
    assert short.at(madrid(2026, 3, 29, 3, 30)) == (madrid(2026, 3, 29, 3, 15), madrid(2026, 3, 29, 3, 45))
    assert short.next_opening(madrid(2026, 3, 29, 1, 30)) == madrid(2026, 3, 29, 3, 15)


def test_a_window_that_begins_in_the_skipped_hour_keeps_its_length_when_its_end_is_past() -> None:
    short = NightWindow(time(2, 30), time(3), MADRID)
    assert short.at(madrid(2026, 3, 29, 3, 45)) == (madrid(2026, 3, 29, 3, 30), madrid(2026, 3, 29, 4))


def test_places_that_left_out_a_day_have_their_nights() -> None:
    apia = NightWindow(time(3), time(6), ZoneInfo("Pacific/Apia"))
    before = datetime(2011, 12, 30, 5, tzinfo=UTC)
    assert apia.next_opening(before) == datetime(2011, 12, 30, 13, tzinfo=UTC)
    assert apia.next_opening(datetime(2011, 12, 30, 14, tzinfo=UTC)) == datetime(2011, 12, 31, 13, tzinfo=UTC)


@pytest.mark.parametrize("zone", ["Europe/Madrid", "America/New_York", "Australia/Lord_Howe", "UTC"])
@given(
    start=st.times(),
    end=st.times(),
    now=st.integers(1_577_836_800, 1_893_456_000).map(lambda second: datetime.fromtimestamp(second, UTC)),
)
def test_every_night_has_one_window(zone: str, start: time, end: time, now: datetime) -> None:
    window = NightWindow(start.replace(fold=0), end.replace(fold=0), ZoneInfo(zone))
    opening = window.next_opening(now)
    assert now < opening <= now + timedelta(hours=49)
    span = window.at(opening)
    assert span is not None
    assert span[0] <= opening < span[1]
    assert span[1] - span[0] <= timedelta(hours=25)
