"""When to try again, and how long to wait first."""

from __future__ import annotations

from rowen.records import dataclass


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    retries: int = 3
    base_s: float = 0.5
    max_wait_s: float = 60.0
    """A server that asks for longer than this ends the attempt: the client is paused instead."""

    def wait_s(self, attempt: int, *, jitter: float, retry_after_s: float | None = None) -> float | None:
        """Seconds before attempt number `attempt + 1`, or None when it is not worth it.

        `attempt` counts from 1. `jitter` is in [0, 1): up to half the wait is added, so that many clients
        that failed together do not return together.
        """
        if attempt > self.retries:
            return None
        wait: float = self.base_s * 2 ** (attempt - 1)
        wait += wait * jitter / 2
        if retry_after_s is not None:
            wait = max(wait, retry_after_s)
        return wait if wait <= self.max_wait_s else None
