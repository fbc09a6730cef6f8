"""The circuit breaker in front of an embedding provider.

    CLOSED ──[5 failures in a row]──▶ OPEN ──[30 s]──▶ HALF-OPEN
      ▲                                ◀──[failure]──      │
      └────────────────[2 successes]───────────────────────┘

Pure: a breaker is a value, and what happened gives the next value. Who calls the provider, reads the clock
and remembers the state is elsewhere.
"""

from __future__ import annotations

from dataclasses import asdict, fields, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from rowen.core.rules.clocks import is_ahead
from rowen.records import dataclass


class BreakerState(StrEnum):
    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


@dataclass(frozen=True, kw_only=True, slots=True)
class BreakerSettings:
    failure_threshold: int = 5
    recovery_timeout_s: float = 30.0
    success_threshold: int = 2
    rate_limit_multiplier: float = 2.0
    max_recovery_timeout_s: float = 300.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Breaker:
    state: BreakerState = BreakerState.CLOSED
    failures: int = 0
    """In a row, while closed."""
    successes: int = 0
    """In a row, while half-open."""
    timeout_s: float = 0.0
    """How long it stays open; a rate limit makes it longer, closing resets it."""
    opened_at: datetime | None = None
    last_error: str | None = None

    @property
    def opens_again_at(self) -> datetime | None:
        """When the next call may be tried, while open."""
        if self.state is not BreakerState.OPEN or self.opened_at is None:
            return None
        return self.opened_at + timedelta(seconds=self.timeout_s)


CLOSED = Breaker()


def before_call(breaker: Breaker, now: datetime) -> Breaker:
    """Open for long enough, it lets a call through to see; the answer's state says whether to call."""
    due, opened_at = breaker.opens_again_at, breaker.opened_at
    if due is not None and (now >= due or (opened_at and is_ahead(opened_at, now))):
        return replace(breaker, state=BreakerState.HALF_OPEN, successes=0)
    return breaker


def allows(breaker: Breaker) -> bool:
    return breaker.state is not BreakerState.OPEN


def after_success(breaker: Breaker, settings: BreakerSettings) -> Breaker:
    if breaker.state is BreakerState.CLOSED:
        return breaker if not breaker.failures else CLOSED
    if breaker.state is BreakerState.OPEN:
        # It was under way when others failed, and proves nothing about what comes next.
        return breaker
    successes = breaker.successes + 1
    if successes >= settings.success_threshold:
        return CLOSED
    return replace(breaker, successes=successes)


def after_failure(
    breaker: Breaker,
    settings: BreakerSettings,
    now: datetime,
    *,
    error: str,
    rate_limited: bool = False,
    retry_after_s: float | None = None,
) -> Breaker:
    if breaker.state is BreakerState.OPEN:
        # It was under way with those that opened it: the same failure, told once more.
        return replace(breaker, timeout_s=max(breaker.timeout_s, retry_after_s or 0.0))
    failures = breaker.failures + 1
    if breaker.state is BreakerState.CLOSED and failures < settings.failure_threshold:
        return replace(breaker, failures=failures, last_error=error)
    return Breaker(
        state=BreakerState.OPEN,
        failures=failures,
        timeout_s=_timeout(breaker, settings, rate_limited, retry_after_s),
        opened_at=now,
        last_error=error,
    )


def _timeout(
    breaker: Breaker, settings: BreakerSettings, rate_limited: bool, retry_after_s: float | None
) -> float:
    timeout_s = breaker.timeout_s or settings.recovery_timeout_s
    if rate_limited:
        timeout_s = min(timeout_s * settings.rate_limit_multiplier, settings.max_recovery_timeout_s)
    # A provider that names a time knows better than our limit.
    return max(timeout_s, retry_after_s or 0.0)


def to_json(breaker: Breaker) -> dict[str, Any]:
    opened_at = breaker.opened_at.isoformat() if breaker.opened_at else None
    return {**asdict(breaker), "state": breaker.state.value, "opened_at": opened_at}


def from_json(value: dict[str, Any]) -> Breaker:
    """Also of another version: what it does not know is left out, what is missing has its default."""
    known = {one.name: value[one.name] for one in fields(Breaker) if one.name in value}
    opened_at = value.get("opened_at")
    at = datetime.fromisoformat(opened_at) if opened_at else None
    return Breaker(**{**known, "state": BreakerState(value["state"]), "opened_at": at})
