"""The circuit breaker, transition by transition."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.core.rules.breaker import (
    Breaker,
    BreakerSettings,
    BreakerState,
    after_failure,
    after_success,
    allows,
    before_call,
    from_json,
    to_json,
)

NOW = datetime(2026, 5, 1, tzinfo=UTC)
SETTINGS = BreakerSettings()


def failed(breaker: Breaker, times: int, **how: object) -> Breaker:
    for _ in range(times):
        breaker = after_failure(breaker, SETTINGS, NOW, error="x", **how)  # type: ignore[arg-type]
    return breaker


def later(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def test_it_opens_after_five_failures_in_a_row() -> None:
    assert allows(failed(Breaker(), 4))
    assert not allows(failed(Breaker(), 5))


def test_a_success_starts_the_count_anew() -> None:
    breaker = after_success(failed(Breaker(), 4), SETTINGS)
    assert allows(failed(breaker, 4))


def test_it_lets_a_call_through_after_thirty_seconds() -> None:
    breaker = failed(Breaker(), 5)
    assert not allows(before_call(breaker, later(29.9)))
    tried = before_call(breaker, later(30))
    assert tried.state is BreakerState.HALF_OPEN


def test_one_that_opened_in_the_future_lets_a_call_through_now() -> None:
    breaker = failed(Breaker(), 5)
    assert before_call(breaker, later(-86_400)).state is BreakerState.HALF_OPEN


def test_two_successes_close_it() -> None:
    breaker = before_call(failed(Breaker(), 5), later(30))
    breaker = after_success(breaker, SETTINGS)
    assert breaker.state is BreakerState.HALF_OPEN
    assert after_success(breaker, SETTINGS) == Breaker()


def test_any_failure_while_half_open_opens_it_again() -> None:
    breaker = before_call(failed(Breaker(), 5), later(30))
    breaker = after_success(breaker, SETTINGS)
    again = after_failure(breaker, SETTINGS, later(31), error="x")
    assert again.opens_again_at == later(61)


def test_a_rate_limit_doubles_the_time_up_to_five_minutes() -> None:
    breaker = failed(Breaker(), 5)
    waits = []
    moment = NOW
    for _ in range(6):
        moment = breaker.opens_again_at or moment
        breaker = after_failure(
            before_call(breaker, moment), SETTINGS, moment, error="429", rate_limited=True
        )
        waits.append(breaker.timeout_s)
    assert waits == [60, 120, 240, 300, 300, 300]


def test_a_rate_limit_that_opens_it_doubles_once() -> None:
    assert failed(Breaker(), 5, rate_limited=True).timeout_s == 60


def test_a_provider_that_names_a_time_is_believed() -> None:
    breaker = failed(Breaker(), 5, rate_limited=True, retry_after_s=900)
    assert breaker.opens_again_at == later(900)


def test_closing_forgets_the_longer_time() -> None:
    breaker = failed(Breaker(), 5, rate_limited=True)
    for _ in range(2):
        breaker = after_success(before_call(breaker, later(10_000)), SETTINGS)
    assert failed(breaker, 5).timeout_s == 30


@pytest.mark.parametrize("breaker", [Breaker(), failed(Breaker(), 3), failed(Breaker(), 5)])
def test_it_can_be_remembered(breaker: Breaker) -> None:
    assert from_json(to_json(breaker)) == breaker


@given(st.lists(st.sampled_from(["success", "failure", "limited", "wait"]), max_size=60))
def test_it_never_calls_while_open_and_never_stays_open_for_ever(happenings: list[str]) -> None:
    breaker, now = Breaker(), NOW
    for happening in happenings:
        if happening == "wait":
            now += timedelta(seconds=17)
        breaker = before_call(breaker, now)
        if not allows(breaker):
            assert breaker.opens_again_at is not None
            assert breaker.opens_again_at - now <= timedelta(seconds=SETTINGS.max_recovery_timeout_s)
        elif happening == "success":
            breaker = after_success(breaker, SETTINGS)
        elif happening in ("failure", "limited"):
            limited = happening == "limited"
            breaker = after_failure(breaker, SETTINGS, now, error="x", rate_limited=limited)


def test_calls_that_were_under_way_when_it_opened_change_nothing() -> None:
    opened = failed(Breaker(), 5, rate_limited=True)
    assert failed(opened, 3, rate_limited=True) == opened
    assert after_success(after_success(opened, SETTINGS), SETTINGS) == opened
    assert failed(opened, 1, retry_after_s=500.0).timeout_s == 500.0


def test_a_breaker_that_another_version_wrote_down_is_read() -> None:
    assert from_json({"state": "closed", "failures": 2, "of_a_later_version": 1}) == Breaker(failures=2)
