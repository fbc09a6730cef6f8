"""Texts are cut where it costs the least: a harvest's in child processes, few in this one.

Cutting holds the interpreter, and a first harvest cuts as long as it writes. What no child answers is cut in
this process: a child that fails costs nothing but the time.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rowen.core.section import Section
from rowen.core.split import split
from rowen.eventloop import asyncio

if TYPE_CHECKING:
    from rowen.adapters.children.pool import ChildPool

AT_ONCE = 8_000
"""Characters of short texts that are cut before anything else has its turn: that takes a fraction of a
millisecond, and a turn of the event loop for each text would add up."""
WORTH_A_CHILD = 100_000
"""So many characters in one call are the beginning of a harvest. To cut them takes as long as a child takes
to start."""
WORTH_ASKING = 20_000
"""Fewer are cut here in the time that a child's answer takes to read."""


class PoolSplitter:
    """The `Splitter` port."""

    def __init__(self, children: int, *, command: Sequence[str] | None = None) -> None:
        """`children` may be 0. `command` starts another child than ours, for tests of its faults."""
        self._most = children
        self._command = command or (sys.executable, "-P", "-m", "rowen.adapters.split.worker")
        self._children: ChildPool | None = None

    async def split(self, texts: Sequence[str]) -> list[list[Section]]:
        chars = sum(map(len, texts))
        if self._children is None and self._most and chars >= WORTH_A_CHILD:
            from rowen.adapters.children.pool import ChildPool

            self._children = ChildPool(self._command, self._most, who="splitter")
        if self._children is None or chars < WORTH_ASKING:
            return await split_here(texts)
        shares = shared_out(texts, max(WORTH_ASKING, 1 + chars // self._most))
        answers = await asyncio.gather(*(self._ask(self._children, share) for share in shares))
        return [tree for trees in answers for tree in trees]

    async def close(self) -> None:
        if self._children is not None:
            await self._children.close()

    async def _ask(self, children: ChildPool, texts: Sequence[str]) -> list[list[Section]]:
        from rowen.adapters.children.pool import ChildDied
        from rowen.adapters.split import frames, worker
        from rowen.errors import TransientError

        try:
            trees = await children.ask(
                frames.request(texts),
                lambda payload: frames.read_answer(payload, texts),
                timeout_s=worker.TIMEOUT_S,
            )
        except (ChildDied, TimeoutError, TransientError):
            trees = None
        return await split_here(texts) if trees is None else trees


async def split_here(texts: Sequence[str]) -> list[list[Section]]:
    """In this process. Others have their turn between texts: the source and the converters have work."""
    trees: list[list[Section]] = []
    chars = 0
    for text in texts:
        trees.append(split(text))
        chars += len(text)
        if chars >= AT_ONCE:
            await asyncio.sleep(0)
            chars = 0
    return trees


def shared_out(texts: Sequence[str], most: int) -> list[list[str]]:
    """The texts in their order, so many characters a share; a longer text is a share by itself."""
    shares: list[list[str]] = []
    room = 0
    for text in texts:
        if not shares or len(text) > room:
            shares.append([])
            room = most
        shares[-1].append(text)
        room -= len(text)
    return shares
