"""The state of a source in a word and a sentence."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from rowen.core.generation import Activation, Cause
from rowen.core.rules.schedule import NextRun, next_run
from rowen.core.rules.standing import CLI, Loudness, Progress, Standing, State, by_token, standing
from rowen.core.run import Counters, Result, RunStatus, StopReason
from rowen.core.source import FATAL, Source, Status
from rowen.core.sync_request import SyncRequest
from tests.core.rules.test_schedule import a_source

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
DAY = timedelta(days=1)


def ended(
    outcome: RunStatus, stop: StopReason = StopReason.EXHAUSTED, *, failed: int = 0
) -> dict[str, object]:
    return Result.of(outcome, stop, Counters(failed=failed)).as_dict()


def a_run_source(outcome: RunStatus = RunStatus.COMPLETED, **changes: object) -> Source:
    defaults: dict[str, object] = {
        "last_success_at": NOW - timedelta(minutes=3),
        "last_result": ended(outcome),
    }
    return a_source("docs", NOW - timedelta(minutes=4), **defaults | changes)


def held(since: datetime) -> Standing:
    source = a_run_source(
        RunStatus.HELD,
        status=Status.ERROR,
        held_generation=42,
        held_reason="it would remove 214 of 611 documents, more than 30%",
        held_at=since,
    )
    return standing(source, NOW)


def test_a_source_whose_last_run_brought_everything_is_up_to_date() -> None:
    found = standing(a_run_source(), NOW)
    assert (found.state, found.says) == (State.UP_TO_DATE, "verified 3 min ago")
    assert found.state == "up to date"


def test_a_run_that_ended_at_its_own_limit_is_up_to_date_and_says_the_limit() -> None:
    found = standing(a_run_source(last_result=ended(RunStatus.COMPLETED, StopReason.MAX_PAGES)), NOW)
    assert found.state is State.UP_TO_DATE
    assert found.says == "verified 3 min ago, capped: stopped at `max_pages`"


def test_a_running_source_says_how_far_it_is() -> None:
    progress = Progress(started_at=NOW - timedelta(seconds=8), counters={"unchanged": 300, "updated": 12})
    found = standing(a_run_source(), NOW, running=True, progress=progress, documents=540)
    assert (found.state, found.says) == (State.RUNNING, "312 of about 540, 39/s")


def test_a_partial_run_says_what_failed_and_that_it_was_kept() -> None:
    source = a_run_source(last_result=ended(RunStatus.PARTIAL, failed=3))
    assert standing(source, NOW).says == "3 items failed"
    found = standing(source, NOW, problems={"timeout": 2, "server_error": 1})
    assert (found.state, found.says) == (
        State.PARTIAL,
        "2 items failed: timeout, 1 server error; kept as before",
    )


def test_an_upstream_that_wants_quiet_is_waited_for() -> None:
    found = standing(a_run_source(), NOW, quiet_until=NOW.replace(hour=16, minute=40))
    assert (found.state, found.says) == (State.WAITING, "`d.example` asks for quiet until 16:40 UTC")


def test_a_failed_run_is_waited_for_with_its_error_and_the_next_attempt() -> None:
    source = a_run_source(
        RunStatus.FAILED,
        status=Status.ERROR,
        last_error="no answer",
        consecutive_failures=2,
        last_error_at=NOW,
    )
    following = NextRun(NOW + DAY, "every 1d")
    found = standing(source, NOW, next_run=following)
    assert (found.state, found.says) == (
        State.WAITING,
        "its last run failed: no answer (2 times in a row); retried at 16 Nov 12:00 UTC",
    )


def test_a_cancelled_run_does_not_get_the_error_of_the_run_before() -> None:
    source = a_run_source(
        RunStatus.CANCELLED,
        status=Status.ERROR,
        last_error="no answer",
        consecutive_failures=2,
        last_error_at=NOW,
    )
    assert standing(source, NOW).says == (
        "its last run was cancelled; the one before failed: no answer (2 times in a row)"
    )


def test_a_pause_says_who_and_since_when() -> None:
    source = a_run_source(paused=True, paused_at=NOW - 3 * DAY, paused_by=by_token("ops"))
    found = standing(source, NOW)
    assert (found.state, found.says, found.by) == (
        State.PAUSED,
        "paused by token ops on 12 Nov",
        "token ops",
    )
    assert standing(a_run_source(paused=True), NOW).says == "paused by a person"


def test_a_pinned_source_is_paused_at_its_generation() -> None:
    found = standing(a_run_source(pinned_at=NOW, pinned_by=CLI), NOW)
    assert (found.state, found.says) == (
        State.PAUSED,
        "pinned to generation 1 by the command line on 15 Nov",
    )


@pytest.mark.parametrize(
    ("age", "loudness"),
    [(0.9, Loudness.QUIET), (1, Loudness.NOTICE), (2.9, Loudness.NOTICE), (3, Loudness.ALARM)],
)
def test_a_hold_gets_louder_with_its_age(age: float, loudness: Loudness) -> None:
    found = held(NOW - age * DAY)
    assert (found.state, found.loudness, found.needs_person) == (State.HELD, loudness, True)
    assert found.says == "would remove 214 of 611 documents, more than 30%"


def test_a_source_that_was_rolled_back_is_not_up_to_date_before_the_next_run() -> None:
    back = Activation(
        id=9,
        generation=4,
        previous=5,
        run_id=None,
        at=NOW - timedelta(minutes=2),
        cause=Cause.ROLLBACK,
        by=CLI,
    )
    found = standing(a_run_source(), NOW, rollback=back)
    assert (found.state, found.since, found.by) == (State.WAITING, back.at, "the command line")
    assert found.says == (
        "rolled back to generation 4 by the command line 2 min ago; the next sync goes forward again"
    )
    assert found.hint == "`rowen rollback docs --to 4 --pin` stays there"
    verified = standing(a_run_source(last_success_at=NOW - timedelta(minutes=1)), NOW, rollback=back)
    assert verified.state is State.UP_TO_DATE


def test_wrong_credentials_stop_a_source_with_what_to_do() -> None:
    source = a_run_source(
        RunStatus.FAILED,
        status=Status.ERROR,
        metadata={FATAL: True},
        last_error="401 from `x`",
        last_error_at=NOW,
    )
    found = standing(source, NOW)
    assert (found.state, found.says, found.needs_person) == (State.STOPPED, "401 from `x`", True)
    assert found.hint == "fix it, then `rowen resume docs`"


def test_a_source_that_never_ran_says_when_it_was_added() -> None:
    source = a_source("docs", status=Status.IDLE, created_at=NOW - timedelta(minutes=2))
    assert (standing(source, NOW).state, standing(source, NOW).says) == (State.NEVER_RUN, "added 2 min ago")


def test_a_cancelled_first_run_is_not_called_never_run() -> None:
    source = a_run_source(RunStatus.CANCELLED, status=Status.IDLE, active_generation=0)
    assert standing(source, NOW).state is State.WAITING
    assert standing(source, NOW).says == "its last run was cancelled"


def test_the_next_run_says_when_and_why() -> None:
    def following(source: Source, **given: object) -> NextRun | None:
        return next_run(source, NOW, default_every_s=86_400.0, **given)  # type: ignore[arg-type]

    assert following(a_source("docs", status=Status.IDLE)) == NextRun(NOW, "first run")
    scheduled = following(a_run_source())
    assert scheduled and scheduled.why == "every 1d"
    assert DAY * 0.9 < scheduled.at - NOW < DAY * 1.1
    quiet = following(a_run_source(every_s=60.0), quiet_until=NOW + DAY)
    assert quiet == NextRun(NOW + DAY, "every 1m, when `d.example` may be asked again")
    request = SyncRequest(
        source_id=1, number=1, only=None, full=False, reason="handoff_retry", requested_at=NOW
    )
    assert following(a_run_source(), request=request) == NextRun(NOW, "requested: handoff retry")
    assert following(a_run_source(paused=True), request=request) is None
    assert following(a_run_source(pinned_at=NOW)) is None
    assert following(a_run_source(RunStatus.FAILED, status=Status.ERROR, metadata={FATAL: True})) is None
    cancelled = following(a_run_source(RunStatus.CANCELLED))
    assert cancelled and cancelled.why == "its last run was cut short"
