"""Index the texts of a run while it goes on, in a process of its own (`indexer.py`).

A first harvest has thousands of texts, and cutting them into words holds the interpreter. So they go to a
child as they are stored, and the run does not wait for the index at its end. What the child could not index
is found missing when the run ends, and is indexed then.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rowen.adapters.children.pool import ChildDied, ChildPool
from rowen.adapters.store.shared.search import indexer
from rowen.errors import TransientError
from rowen.eventloop import asyncio

if TYPE_CHECKING:
    from rowen.core.section import Passage

BATCH = 2_500
"""Texts that are indexed together; so many in a run are worth a process."""
LAST_S = 5.0
"""How long closing waits for texts that are being written, many times what they take."""


class IndexAhead:
    """For the runs of one store, also for several at once; belongs to one event loop."""

    batch = BATCH

    def __init__(self, folder: Callable[[], Path | None]) -> None:
        """`folder` answers where the index is; None where a child has none to write."""
        self._folder = folder
        self._waiting: list[Passage] = []
        self._sending = asyncio.Lock()
        self._under_way: asyncio.Task[None] | None = None
        self._children: ChildPool | None = None
        self._last: asyncio.Task[None] | None = None
        """What a run stored last, on its way to the child."""
        self._gave_up = False

    async def take(self, passages: Sequence[Passage]) -> None:
        """What a run has stored. Waits for earlier texts where they take longer than the run does."""
        self._waiting += passages
        if len(self._waiting) >= self.batch:
            await self._send()

    def go_on(self) -> None:
        """Index what there is where there is a child for it, and do not wait."""
        if self._children is not None and self._last is None:
            self._last = asyncio.create_task(self._send())

    async def rest(self) -> None:
        """At the end of a run: index its last texts where there is a child for them, and let it go."""
        if self._last is not None:
            last, self._last = self._last, None
            await last
        if self._children is not None:
            await self._send()
        await self._sent()
        self._waiting, self._gave_up = [], False
        await self._end()

    async def close(self) -> None:
        """Ends after the texts that are being written: an index that is left half written is a slower one."""
        # The first of them starts the second.
        await _ended(self._last)
        await _ended(self._under_way)
        await self._end()

    async def _send(self) -> None:
        async with self._sending:
            await self._sent()
            texts, self._waiting = self._waiting, []
            if self._gave_up or not texts:
                return
            if self._children is None and (folder := self._folder()) is not None:
                self._children = ChildPool(command(folder), 1, who="indexer")
            if self._children is not None:
                self._under_way = asyncio.create_task(self._index(self._children, indexer.request(texts)))

    async def _sent(self) -> None:
        if self._under_way is not None:
            # A caller that is cancelled leaves the child at its work.
            await asyncio.shield(self._under_way)

    async def _index(self, children: ChildPool, frame: bytes) -> None:
        try:
            await children.ask(frame, indexer.read_answer, timeout_s=indexer.TIMEOUT_S)
        except (ChildDied, TimeoutError, TransientError):
            # The end of the run finds out what is missing, and says what is wrong.
            self._gave_up = True

    async def _end(self) -> None:
        children, self._children = self._children, None
        if children is not None:
            await children.close()


async def _ended(task: asyncio.Task[None] | None) -> None:
    if task is not None:
        await asyncio.wait([task], timeout=LAST_S)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def command(folder: Path) -> tuple[str, ...]:
    return (sys.executable, "-P", "-m", indexer.__name__, str(folder))
