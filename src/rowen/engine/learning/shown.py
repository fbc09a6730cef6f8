"""Tell the store which pages readers were shown, behind the searches that showed them.

A search does not wait for it: on SQLite another process may be writing for seconds. One batch is on its way
at a time, later counts wait in memory, and what a process has not told when it ends is lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from rowen.core.search.shown import Shown
from rowen.errors import RowenError
from rowen.eventloop import asyncio

if TYPE_CHECKING:
    from rowen.ports.clock import Clock
    from rowen.ports.store.learning.rates import Rates


class ShownPages:
    """Of one process. Belongs to one event loop at a time."""

    def __init__(self) -> None:
        self._shown = Shown()
        self._telling: asyncio.Task[None] | None = None

    def count(self, store: Rates, clock: Clock, documents: Iterable[int]) -> None:
        """One more search that was answered with these."""
        free = self._telling is None or self._telling.done()
        counts = self._shown.count(documents, clock.monotonic(), taken=free)
        if counts:
            self._telling = asyncio.create_task(_tell(store, clock, counts))

    async def close(self) -> None:
        """What the store has begun to write, it writes to the end; nothing else is waited for."""
        if self._telling is not None:
            self._telling.cancel()
            await asyncio.gather(self._telling, return_exceptions=True)


async def _tell(store: Rates, clock: Clock, counts: Mapping[int, int]) -> None:
    try:
        await store.add_shown(counts, now=clock.now())
    except RowenError as exc:
        # A store that cannot be written now costs a count, and no answer.
        import logging

        logging.getLogger("rowen.search").debug("shown_not_counted error=%r", exc.message)
