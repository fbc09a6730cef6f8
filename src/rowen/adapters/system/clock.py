"""Real time and real chance, behind the `Clock` port."""

from __future__ import annotations

import asyncio
import random
import time
from datetime import UTC, datetime


class SystemClock:
    def now(self) -> datetime:
        return datetime.fromtimestamp(time.time(), tz=UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    def jitter(self) -> float:
        return random.random()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
