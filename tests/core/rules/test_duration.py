"""Durations: one grammar for every setting that takes one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.core.rules.duration import UNITS, Days, Duration, interval_s, seconds, text_of
from rowen.errors import ConfigError

AMOUNTS = st.floats(0, 4e9, allow_nan=False)


@given(AMOUNTS)
def test_what_is_written_is_read_as_the_same(value: float) -> None:
    assert seconds(text_of(value)) == value


@given(st.integers(1, 10**9))
def test_whole_seconds_are_written_without_a_fraction(value: int) -> None:
    assert "." not in text_of(value)


@given(st.lists(st.tuples(st.integers(0, 1000), st.sampled_from(list(UNITS))), min_size=1, max_size=6))
def test_parts_in_a_row_add_up_with_blanks_or_without(parts: list[tuple[int, str]]) -> None:
    total = sum(number * UNITS[unit] for number, unit in parts)
    written = [f"{number}{unit}" for number, unit in parts]
    for text in ("".join(written), " ".join(written), f"  {'  '.join(written)} ".upper()):
        assert seconds(text) == total


@given(st.text(max_size=20))
def test_anything_else_is_no_duration_and_no_crash(text: str) -> None:
    value = seconds(text)
    assert value is None or value >= 0


@given(st.floats(0, 1e6, allow_nan=False), st.sampled_from(list(UNITS)))
def test_a_bare_number_has_the_unit_of_its_setting(number: float, unit: str) -> None:
    assert seconds(repr(number), bare=unit) == number * UNITS[unit]
    assert seconds(repr(number)) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *[("90s", 90), ("15m", 900), ("6h", 21_600), ("1.5d", 129_600), ("2w", 1_209_600)],
        *[("1h30m", 5400), ("weekly", 604_800), ("Daily", 86_400), ("hourly", 3600), ("7 d", 604_800)],
        *[("1e2s", 100), (".5h", 1800), ("1_000s", 1000)],
    ],
)
def test_durations_are_written_for_people(text: str, expected: float) -> None:
    assert seconds(text) == Duration()(text) == interval_s(text) == expected


@pytest.mark.parametrize("text", ["", "often", "5", "-1h", "1y", "h", "1h x", "inf", "nan", "1d2"])
def test_what_is_no_duration_is_refused_with_examples(text: str) -> None:
    with pytest.raises(ValueError, match="expected a duration such as `30s`, `15m`"):
        Duration()(text)
    with pytest.raises(ConfigError, match="expected something like"):
        interval_s(text)


@pytest.mark.parametrize("text", ["99999999999w", "0.0001s", "0m", "999999999999999999d"])
def test_an_interval_too_short_or_too_long_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="one second to ten years"):
        interval_s(text)


def test_a_setting_has_limits() -> None:
    assert Duration(0.1, 600)("10m") == 600
    with pytest.raises(ValueError, match=r"expected 0\.1 to 600 seconds"):
        Duration(0.1, 600)("11m")


def test_whole_days_may_be_weeks_and_are_never_a_part_of_a_day() -> None:
    assert (Days(0, 100)("15"), Days(0, 100)("2w")) == (15, 14)
    for text in ("36h", "101", "-1"):
        with pytest.raises(ValueError, match="expected"):
            Days(0, 100)(text)


def test_every_setting_that_takes_a_duration_takes_it_in_any_spelling() -> None:
    from rowen import registers

    taken = {
        param.name
        for kind in registers.kinds().ours()
        for param in kind.params
        if isinstance(param.parse, Duration) and param.parse("1m") == 60.0
    }
    assert {"delay_s", "full_sync_every", "overlap"} <= taken
