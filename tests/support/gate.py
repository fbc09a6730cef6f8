"""Hold things back in a test: a page until a gate is opened, time until the test moves it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

from tests.support.fakes import HEARTBEAT_LIKE_S, FakeClock

DEADLINE_S = 120.0


class Gate(threading.Event):
    """Give it as a page's `delay`; `set` opens it."""

    def __init__(self) -> None:
        super().__init__()
        self._reached = threading.Event()

    def is_set(self) -> bool:
        self._reached.set()
        return super().is_set()

    async def reached(self) -> None:
        """Wait until the page is asked for."""
        assert await asyncio.to_thread(self._reached.wait, DEADLINE_S), "the page was not asked for"


class StillClock(FakeClock):
    """A task that looks again and again does not make time pass."""

    async def sleep(self, seconds: float) -> None:
        if seconds < HEARTBEAT_LIKE_S:
            with self._sleeping(seconds):
                await asyncio.sleep(0.001)
        else:
            await super().sleep(seconds)


async def until(true: Callable[[], bool]) -> None:
    """Wait for what has no event of its own."""
    async with asyncio.timeout(DEADLINE_S):
        while not true():  # noqa: ASYNC110
            await asyncio.sleep(0.001)
