"""Small decisions: the deletion guard, retries, parameters, handoffs, kept history, keys."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.core import params
from rowen.core.generation import oldest_kept
from rowen.core.handoff import HandoffStatus, Reason, again, is_poison, reopen_reason
from rowen.core.rules.guard import reason_to_hold
from rowen.core.rules.retry import RetryPolicy
from rowen.core.rules.words import minute
from rowen.core.source import source_key
from rowen.errors import ConfigError
from rowen.kinds.web.kind import PARAMS


@pytest.mark.parametrize(
    ("before", "deleted", "held"),
    [
        (0, 0, False),
        (100, 0, False),
        (100, 30, False),
        (100, 31, True),
        (19, 10, False),
        (19, 19, True),
        (1, 1, True),
        (20, 7, True),
    ],
)
def test_the_guard_holds_what_removes_too_much(before: int, deleted: int, held: bool) -> None:
    reason = reason_to_hold(before=before, deleted=deleted, max_deleted_share=0.3)
    assert (reason is not None) is held


def test_the_guard_holds_any_removal_while_the_root_does_not_answer() -> None:
    assert reason_to_hold(before=10, deleted=1, max_deleted_share=0.3, root_answered=False)
    assert not reason_to_hold(before=10, deleted=0, max_deleted_share=0.3, root_answered=False)


def test_the_guard_can_be_switched_off() -> None:
    assert not reason_to_hold(before=50, deleted=50, max_deleted_share=1.0, root_answered=False)


@given(st.integers(0, 1000), st.integers(0, 1000))
def test_a_held_reason_names_both_counts(before: int, deleted: int) -> None:
    reason = reason_to_hold(before=before, deleted=deleted, max_deleted_share=0.3)
    if reason is not None:
        assert str(before) in reason


def test_waits_double_and_end_after_the_last_retry() -> None:
    policy = RetryPolicy(retries=3, base_s=0.5)
    assert [policy.wait_s(attempt, jitter=0.0) for attempt in (1, 2, 3, 4)] == [0.5, 1.0, 2.0, None]


@given(st.integers(1, 3), st.floats(0, 0.999))
def test_jitter_adds_at_most_half(attempt: int, jitter: float) -> None:
    plain = RetryPolicy().wait_s(attempt, jitter=0.0)
    spread = RetryPolicy().wait_s(attempt, jitter=jitter)
    assert plain is not None
    assert spread is not None
    assert plain <= spread <= plain * 1.5


def test_a_server_that_names_a_time_is_believed_up_to_a_point() -> None:
    policy = RetryPolicy(max_wait_s=60)
    assert policy.wait_s(1, jitter=0.0, retry_after_s=30) == 30
    assert policy.wait_s(1, jitter=0.0, retry_after_s=3600) is None


def test_parameters_are_read_checked_and_completed() -> None:
    values = params.read(
        PARAMS, {"max_pages": "50", "robots": "no", "include": "/a/**, /b", "max_depth": "none"}
    )
    assert values == {"max_pages": 50, "robots": False, "include": ["/a/**", "/b"], "max_depth": None}
    complete = params.complete(PARAMS, values)
    assert (complete["max_pages"], complete["concurrency"]) == (50, 3)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("max_pages", "0", "expected 1 to 10000000, got `0`"),
        ("max_pages", "many", "not a number, got `many`"),
        ("robots", "perhaps", "expected true or false"),
        ("scope", "galaxy", "expected one of subpages, host, domain"),
        ("delay_s", "-1", "expected 0 to 3600"),
    ],
)
def test_a_bad_parameter_is_named_with_what_was_expected(name: str, value: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        params.read(PARAMS, {name: value})
    assert f"setting `{name}`" in caught.value.message
    assert message in caught.value.message


def test_a_misspelt_parameter_gets_a_suggestion() -> None:
    with pytest.raises(ConfigError) as caught:
        params.read(PARAMS, {"max_page": "5"})
    assert caught.value.hint == "did you mean `max_pages`?"


def test_only_what_changes_the_fetch_is_part_of_the_key() -> None:
    def key(**given: str) -> str:
        values = params.read(PARAMS, given)
        identity = params.identity(PARAMS, values)
        return source_key(
            kind="web", name="docs", location="https://d.example/", version="", identity=identity
        )

    assert key() == key(concurrency="8", delay_s="1")
    assert key() == key(max_pages="20000"), "a default that is written out is still the default"
    assert key() != key(max_depth="2")
    assert key().startswith("web:docs:")


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (HandoffStatus.COMPLETED, Reason.REOPENED_AFTER_REVERT),
        (HandoffStatus.FAILED, Reason.REOPENED_AFTER_FAILURE),
        (HandoffStatus.QUEUED, Reason.INGESTION_JOB_ALREADY_ACTIVE),
        (HandoffStatus.RUNNING, Reason.INGESTION_JOB_ALREADY_ACTIVE),
    ],
)
def test_why_a_handoff_is_queued_again(status: HandoffStatus, reason: Reason) -> None:
    assert reopen_reason(status) is reason


def test_only_attempts_made_alone_that_never_ended_count_on() -> None:
    few, alone = Reason.RETRIED_WITH_FEW, Reason.RETRIED_ALONE
    batch = Reason.INGESTION_JOB_QUEUED
    assert again(HandoffStatus.RUNNING, batch, 2) == (few, 0), "any item of it may be the cause"
    assert again(HandoffStatus.QUEUED, few, 2) == (few, 0), "the process ended before its turn"
    assert again(HandoffStatus.RUNNING, few, 2) == (alone, 0), "any of the few may be the cause"
    assert again(HandoffStatus.RUNNING, alone, 2) == (alone, 2)
    assert again(HandoffStatus.QUEUED, alone, 2) == (alone, 2), "the process ended before its turn"
    assert again(HandoffStatus.QUEUED, batch, 2) == (Reason.INGESTION_JOB_ALREADY_ACTIVE, 0)
    assert again(HandoffStatus.FAILED, Reason.RETRY_EXHAUSTED, 3).attempts == 0
    assert again(HandoffStatus.FAILED, Reason.WORKER_LOST, 3) == (alone, 3), "it stays given up"
    assert again(HandoffStatus.FAILED, Reason.WORKER_LOST, 3, full=True) == (alone, 0)
    assert [again(HandoffStatus.RUNNING, reason, 1).suspect for reason in (batch, few, alone)] == [
        few,
        alone,
        alone,
    ]
    assert again(HandoffStatus.QUEUED, batch, 1).suspect is None
    assert not is_poison(2)
    assert is_poison(3)


@pytest.mark.parametrize(
    ("activated", "active", "keep", "floor"),
    [([], 0, 3, 0), ([1, 2], 2, 3, 1), ([1, 2, 3, 4], 4, 3, 2), ([1, 2, 3, 4], 2, 2, 1), ([5, 9], 9, 1, 9)],
)
def test_the_oldest_kept_generation(activated: list[int], active: int, keep: int, floor: int) -> None:
    assert oldest_kept(activated, active=active, keep=keep) == floor


def test_what_the_number_or_the_time_keeps_is_kept() -> None:
    assert oldest_kept([1, 2, 3, 4, 5], active=5, keep=2, seen=3) == 3, "the time keeps more"
    assert oldest_kept([1, 2, 3, 4, 5], active=5, keep=4, seen=5) == 2, "the number keeps more"
    assert oldest_kept([1, 2, 3, 4, 5], active=5, keep=2, seen=None) == 4


def test_what_lasts_until_a_moment_is_over_in_the_minute_that_is_said() -> None:
    noon = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
    assert minute(noon) == "2026-01-01 12:00 UTC"
    assert minute(noon + timedelta(microseconds=1)) == "2026-01-01 12:01 UTC"
    assert minute(noon + timedelta(seconds=59.5)) == "2026-01-01 12:01 UTC"
