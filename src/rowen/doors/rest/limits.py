"""How much a caller may ask for: requests in a minute, and bytes in a body."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from starlette.exceptions import HTTPException
from starlette.types import Message, Receive

MAX_CALLERS = 10_000
"""Addresses are cheap: the callers that were silent longest are forgotten first."""


class Buckets:
    """A bucket of tokens for each caller, as large as what flows into it in a minute."""

    def __init__(self, per_minute: int, *, now: Callable[[], float]) -> None:
        self._per_minute = per_minute
        self._now = now
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait_s(self, caller: str) -> float:
        """0 when the caller may go on, which is counted; else for how long it should not ask."""
        if not self._per_minute:
            return 0.0
        now = self._now()
        level, at = self._levels.pop(caller, (float(self._per_minute), now))
        level = min(self._per_minute, level + (now - at) * self._per_minute / 60.0)
        granted = level >= 1.0
        self._levels[caller] = (level - 1.0 if granted else level, now)
        if len(self._levels) > MAX_CALLERS:
            self._levels.popitem(last=False)
        return 0.0 if granted else (1.0 - level) * 60.0 / self._per_minute


class BodyTooLong(HTTPException):
    """Of the kind the framework lets through: anything else it takes for a body it cannot read."""

    def __init__(self, limit: int) -> None:
        super().__init__(413, f"the body is longer than {limit} bytes")


def limited(receive: Receive, limit: int) -> Receive:
    """Counts a body while it comes in: what a caller says about its length is not believed."""
    received = 0

    async def counted() -> Message:
        nonlocal received
        message = await receive()
        if message["type"] == "http.request":
            received += len(message.get("body", b""))
            if received > limit:
                raise BodyTooLong(limit)
        return message

    return counted
