"""How much a caller may ask for: requests in a minute, bytes in a body, and time to send it."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable

from starlette.exceptions import HTTPException
from starlette.types import Message, Receive

MAX_CALLERS = 10_000
"""Beyond it, the callers that were silent longest are forgotten: an attacker has many addresses."""


BODY_S = 30.0
"""How long a body may take: a caller that sends a byte now and then must not hold a connection."""


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
    """An exception that the framework passes on; it reports any other as an unreadable body."""

    def __init__(self, limit: int) -> None:
        super().__init__(413, f"the body is longer than {limit} bytes")


class BodyTooSlow(HTTPException):
    """The rest is not read, so the connection is closed."""

    def __init__(self) -> None:
        super().__init__(
            408, f"the body did not come in within {BODY_S:g} s", headers={"Connection": "close"}
        )


def limited(receive: Receive, limit: int | None) -> Receive:
    """Counts a body while it is read: the length in the header may be wrong.

    Without a `limit` only its time is limited.
    """
    received, whole = 0, False
    until = asyncio.get_running_loop().time() + BODY_S

    async def counted() -> Message:
        nonlocal received, whole
        if whole:
            # The next message is the disconnect of the caller, which may take any time.
            return await receive()
        try:
            async with asyncio.timeout_at(until):
                message = await receive()
        except TimeoutError:
            raise BodyTooSlow from None
        if message["type"] == "http.request":
            received += len(message.get("body", b""))
            whole = not message.get("more_body", False)
            if limit is not None and received > limit:
                raise BodyTooLong(limit)
        return message

    return counted
