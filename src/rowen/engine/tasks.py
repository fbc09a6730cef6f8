"""Things done side by side, and the errors of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from rowen.errors import LeaseLost, RowenError

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
