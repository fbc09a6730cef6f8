"""Things done side by side, the errors of them, and the time they may take."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any, TypeVar

from rowen.errors import LeaseLost, RowenError
from rowen.ports.clock import Clock

_T = TypeVar("_T")


async def each(items: Iterable[_T], work: Callable[[_T], Awaitable[None]], concurrency: int) -> None:
    """A few at a time; the first error ends it and is raised as it is."""
    waiting = iter(items)

    async def worker() -> None:
        for item in waiting:
            await work(item)

    tasks = [asyncio.create_task(worker()) for _ in range(concurrency)]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def within(
    limit_s: float, clock: Clock, work: Coroutine[Any, Any, _T], at_limit: Callable[[], None]
) -> _T | None:
    """What the work came to; 0 is no limit.

    Work that is still under way at its limit is cancelled, wherever it waits, after a call of `at_limit`.
    None when nothing came of it.
    """
    if not limit_s:
        return await work
    working, alarm = asyncio.create_task(work), asyncio.create_task(clock.sleep(limit_s))
    try:
        await asyncio.wait({working, alarm}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            at_limit()
            working.cancel()
            await asyncio.wait({working})
        return None if working.cancelled() else working.result()
    finally:
        alarm.cancel()
        working.cancel()
        await asyncio.gather(alarm, working, return_exceptions=True)


def first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The one error that matters of a group: a lost lease, then a bug, then what we raise on purpose."""
    errors: list[BaseException] = []
    waiting: list[BaseException] = [group]
    while waiting:
        error = waiting.pop()
        if isinstance(error, BaseExceptionGroup):
            waiting.extend(error.exceptions)
        else:
            errors.append(error)
    return min(errors, key=lambda e: (not isinstance(e, LeaseLost), isinstance(e, RowenError)))
