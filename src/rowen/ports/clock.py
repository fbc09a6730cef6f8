"""Time and chance, so that tests can own both."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    def now(self) -> datetime:
        """Aware, UTC."""
        ...

    def monotonic(self) -> float: ...

    def jitter(self) -> float:
        """A random number in [0, 1)."""
        ...

    async def sleep(self, seconds: float) -> None: ...
