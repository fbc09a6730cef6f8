"""The one loop that waits and tries again."""

from __future__ import annotations

import pytest

from rowen.core.rules.retry import RetryPolicy
from rowen.engine.patience import patiently, retried
from rowen.errors import PermanentError, TransientError
from tests.support.fakes import FakeClock

pytestmark = pytest.mark.anyio

POLICY = RetryPolicy(retries=3, base_s=1.0, max_wait_s=10.0)


class Call:
    def __init__(self, *failures: Exception) -> None:
        self._failures = list(failures)
        self.calls = 0

    async def __call__(self) -> str:
        self.calls += 1
        if self._failures:
            raise self._failures.pop(0)
        return "good"


async def test_a_call_that_works_is_not_waited_for() -> None:
    clock = FakeClock()
    assert await patiently(Call(), clock, POLICY) == "good"
    assert clock.waits == []


async def test_a_failing_call_is_tried_again_after_longer_and_longer_waits() -> None:
    clock = FakeClock()
    assert await patiently(Call(TransientError("a"), TransientError("b")), clock, POLICY) == "good"
    assert clock.waits == [1.0, 2.0]


async def test_the_last_failure_is_raised_when_the_policy_gives_up() -> None:
    call = Call(*(TransientError(str(number)) for number in range(4)))
    with pytest.raises(TransientError, match="3"):
        await patiently(call, FakeClock(), POLICY)
    assert call.calls == 4


async def test_what_cannot_work_later_is_not_tried_again() -> None:
    call = Call(PermanentError("no"))
    with pytest.raises(PermanentError):
        await patiently(call, FakeClock(), POLICY)
    assert call.calls == 1


async def test_a_failure_that_asks_for_more_time_than_the_policy_has_is_raised_at_once() -> None:
    call = Call(TransientError("later", retry_after_s=60.0))
    with pytest.raises(TransientError):
        await patiently(call, FakeClock(), POLICY)
    assert call.calls == 1


async def test_a_call_that_gets_further_each_time_is_tried_as_often_as_that_takes() -> None:
    async def yes() -> bool:
        return True

    clock = FakeClock()
    call = Call(*(TransientError("again") for _ in range(8)))
    assert await patiently(call, clock, POLICY, starts_over=yes) == "good"
    assert clock.waits == [1.0] * 8


async def test_the_caller_may_refuse_to_wait() -> None:
    def refuse(failure: TransientError) -> None:
        raise failure

    clock, call = FakeClock(), Call()
    with pytest.raises(TransientError, match="first"):
        await retried(call, TransientError("first"), clock, POLICY, before_wait=refuse)
    assert (call.calls, clock.waits) == (0, [])
