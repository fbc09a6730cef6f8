"""Wait for changes in the feed: until this process activates a generation, or another one did.

`notify` wakes the waiting readers at once; what another process activates is found within `POLL_S`.
"""

from __future__ import annotations

import asyncio

from rowen.core.feed import ALL_SOURCES, Chosen, Cursor, FeedItem
from rowen.ports.clock import Clock
from rowen.ports.store.feed import Feed

POLL_S = 1.0


class FeedWait:
    def __init__(self, store: Feed, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._changed = asyncio.Event()
        self._closed = False
        self.waiting = 0
        """Calls of `read` that have not returned."""

    async def read(
        self, after: Cursor, chosen: Chosen = ALL_SOURCES, *, limit: int, wait_s: float
    ) -> list[FeedItem]:
        """The feed after a cursor; while that is empty, wait for an item, at most `wait_s`."""
        deadline = self._clock.monotonic() + wait_s
        self.waiting += 1
        try:
            while True:
                # Taken before the feed is read, so that an activation in between sets this very event.
                changed = self._changed
                items = await self._store.feed(after, **chosen, limit=limit)
                left = deadline - self._clock.monotonic()
                if items or left <= 0 or self._closed:
                    return items
                await sleep_or(changed, self._clock, min(left, POLL_S))
        finally:
            self.waiting -= 1

    def notify(self) -> None:
        """A generation may have been activated: every waiting `read` looks again."""
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    def close(self) -> None:
        """Every waiting `read` returns with what the feed has now."""
        self._closed = True
        self.notify()


async def sleep_or(event: asyncio.Event, clock: Clock, seconds: float) -> None:
    """Until the event, but not longer than this."""
    sleeping = asyncio.ensure_future(clock.sleep(seconds))
    waiting = asyncio.ensure_future(event.wait())
    try:
        await asyncio.wait({sleeping, waiting}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        sleeping.cancel()
        waiting.cancel()
