"""Tell those who wait that readers see something new, whoever showed it.

A process that shows something itself rings, and nobody waits for the next look at the store; what another
process shows is noticed within a second.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection

from rowen.core.feed import Cursor, FeedItem
from rowen.engine.ports import Ports
from rowen.ports.clock import Clock

LOOK_S = 1.0


class Lookout:
    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._bell = asyncio.Event()
        self._closed = False
        self.waiting = 0
        """How many ask at this moment."""

    async def feed(
        self, after: Cursor, *, source_ids: Collection[int] | None, limit: int, wait_s: float
    ) -> list[FeedItem]:
        """What was touched after a cursor; when that is nothing, what is touched while we wait for it."""
        clock, store = self._ports.clock, self._ports.store
        deadline = clock.monotonic() + wait_s
        self.waiting += 1
        try:
            while True:
                # Taken before the feed is read: what is shown in between rings this one.
                bell = self._bell
                items = await store.feed(after, source_ids=source_ids, limit=limit)
                left = deadline - clock.monotonic()
                if items or left <= 0 or self._closed:
                    return items
                await sleep_or(bell, clock, min(left, LOOK_S))
        finally:
            self.waiting -= 1

    def ring(self) -> None:
        """Something may have been shown."""
        bell, self._bell = self._bell, asyncio.Event()
        bell.set()

    def close(self) -> None:
        """Whoever waits is answered now, with what there is."""
        self._closed = True
        self.ring()


async def sleep_or(event: asyncio.Event, clock: Clock, seconds: float) -> None:
    """Until the event, but not longer than this."""
    sleeping = asyncio.ensure_future(clock.sleep(seconds))
    waiting = asyncio.ensure_future(event.wait())
    try:
        await asyncio.wait({sleeping, waiting}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        sleeping.cancel()
        waiting.cancel()
