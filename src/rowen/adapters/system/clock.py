"""Real time and real chance, behind the `Clock` port."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from rowen.eventloop import asyncio, loop_here


class SystemClock:
    def now(self) -> datetime:
        return datetime.fromtimestamp(time.time(), tz=UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    def jitter(self) -> float:
        import random  # takes long to import, and few commands draw lots

        return random.random()

    async def sleep(self, seconds: float) -> None:
        await loop_here()
        await asyncio.sleep(seconds)
