"""Windows: forward without gaps, backwards day by day to a fixed end."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from rowen.core.window import DAY, Window, Windows, backward, forward, reached_by

NOW = datetime(2026, 3, 10, 15, 30, tzinfo=UTC)
MOMENTS = st.integers(0, 10**8).map(lambda seconds: NOW + timedelta(seconds=seconds))


def test_a_forward_window_begins_before_the_watermark_and_ends_now() -> None:
    window = forward(Windows(overlap=timedelta(hours=6)), watermark=NOW - DAY, now=NOW)
    assert (window.since, window.until) == (NOW - DAY - timedelta(hours=6), NOW)


def test_without_history_there_is_no_backward_window() -> None:
    assert backward(Windows(), reached=date(2026, 3, 9), began=NOW, watermark=NOW) is None


def test_history_waits_for_the_first_good_run() -> None:
    assert backward(Windows(seed_days=30), reached=None, began=NOW, watermark=None) is None


@given(MOMENTS, st.integers(1, 90), st.integers(1, 10))
def test_seeding_takes_in_every_moment_once_and_comes_to_an_end(
    began: datetime, seed_days: int, window_days: int
) -> None:
    windows = Windows(seed_days=seed_days, seed_window_days=window_days)
    first = forward(windows, watermark=None, now=began)
    reached = reached_by(first, before=None)
    taken: list[Window] = []
    while window := backward(windows, reached=reached, began=began, watermark=began):
        taken.append(window)
        reached = reached_by(window, before=reached)
        assert len(taken) <= seed_days + 1
    assert first.since <= first.until
    # The day in which the first window begins is taken in whole by the one after it.
    assert not taken or taken[0].until >= first.since
    assert all(earlier.since == later.until for earlier, later in pairwise(taken))
    assert reached is not None
    assert reached <= began.date() - timedelta(days=seed_days) or not taken


def test_a_window_that_was_not_finished_is_asked_for_again() -> None:
    windows = Windows(seed_days=30)
    reached = date(2026, 3, 1)
    asked = backward(windows, reached=reached, began=NOW, watermark=NOW)
    assert asked == backward(windows, reached=reached, began=NOW, watermark=NOW)
    assert asked is not None
    assert (asked.since.date(), asked.until.date()) == (date(2026, 2, 28), reached)


def test_a_later_forward_window_does_not_move_how_far_back_seeding_has_come() -> None:
    window = forward(Windows(), watermark=NOW, now=NOW + DAY)
    assert reached_by(window, before=date(2026, 1, 1)) == date(2026, 1, 1)
