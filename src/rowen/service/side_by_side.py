"""Sources that are synced beside each other, as many at a time as runs may be under way.

One that hangs, or waits for its next attempt, holds up no other while there is a free place. What begins next
is for the caller to say, as often as it likes: `line_up` leaves alone what is under way.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, Generic, Self, TypeAlias, TypeVar

from rowen.errors import TransientError

One = TypeVar("One")
Result = TypeVar("Result")
Ended: TypeAlias = Result | TransientError


class SideBySide(Generic[One, Result]):
    """Left, it cancels what is under way and waits for its end."""

    def __init__(self, work: Callable[[One], Coroutine[Any, Any, Result]], *, limit: int) -> None:
        self._work, self._limit = work, limit
        self._running: dict[asyncio.Task[Result], One] = {}
        self._line: deque[One] = deque()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    @property
    def running(self) -> list[One]:
        return list(self._running.values())

    @property
    def waiting(self) -> list[One]:
        return list(self._line)

    @property
    def is_full(self) -> bool:
        return len(self._running) >= self._limit

    def line_up(self, waiting: Iterable[One]) -> None:
        """These begin next, in this order, in place of those that waited before."""
        self._line = deque(waiting)

    def begin(self, *, may_go_on: Callable[[], bool]) -> None:
        """Fill the free places; before each but the first, `may_go_on` is asked."""
        begun = False
        while self._line and not self.is_full and (not begun or may_go_on()):
            one, begun = self._line.popleft(), True
            self._running[asyncio.create_task(self._work(one))] = one

    async def ended(self, meanwhile: Coroutine[Any, Any, None] | None) -> list[tuple[One, Ended[Result]]]:
        """What has ended, as soon as something has; nothing when `meanwhile` is over before.

        A `TransientError` is returned, not raised: it is about the store, and all the others go on.
        """
        if not self._running and meanwhile is not None:
            await meanwhile
            return []
        clock = None if meanwhile is None else asyncio.ensure_future(meanwhile)
        watched: set[asyncio.Future[Any]] = {*self._running, *([clock] if clock else [])}
        try:
            done, _ = await asyncio.wait(watched, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if clock is not None:
                clock.cancel()
        if clock in done:
            clock.result()
        ended = [task for task in self._running if task in done]
        return [(self._running.pop(task), _outcome(task)) for task in ended]


def _outcome(task: asyncio.Task[Result]) -> Ended[Result]:
    try:
        return task.result()
    except TransientError as exc:
        return exc
