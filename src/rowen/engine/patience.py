"""Trying again what failed for now: the one loop that waits and retries.

How often and how long is the policy's decision. What must not be tried again raises no `TransientError`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from rowen.core.rules.retry import RetryPolicy
from rowen.errors import TransientError
from rowen.ports.clock import Clock

T = TypeVar("T")


async def patiently(
    call: Callable[[], Awaitable[T]],
    clock: Clock,
    policy: RetryPolicy,
    *,
    starts_over: Callable[[], Awaitable[bool]] | None = None,
) -> T:
    """Call until it works; raises the last failure when the policy gives up."""
    try:
        return await call()
    except TransientError as exc:
        return await retried(call, exc, clock, policy, starts_over=starts_over)


async def retried(
    call: Callable[[], Awaitable[T]],
    failure: TransientError,
    clock: Clock,
    policy: RetryPolicy,
    *,
    before_wait: Callable[[TransientError], None] = lambda failure: None,
    starts_over: Callable[[], Awaitable[bool]] | None = None,
) -> T:
    """The same for a call that has failed once.

    `before_wait` hears of each failure that is waited out, and may raise instead. `starts_over` is asked
    after each failure whether the call got further than before: then its attempts are counted anew.
    """
    attempt = 0
    while True:
        attempt = 1 if starts_over is not None and await starts_over() else attempt + 1
        wait_s = policy.wait_s(attempt, jitter=clock.jitter(), retry_after_s=failure.retry_after_s)
        if wait_s is None:
            raise failure
        before_wait(failure)
        await clock.sleep(wait_s)
        try:
            return await call()
        except TransientError as exc:
            failure = exc
