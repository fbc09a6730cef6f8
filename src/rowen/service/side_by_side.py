"""The sources of one round of `rowen serve`, as many at a time as runs may be under way.

One that hangs, or waits for its next attempt, then holds up none of the others of its round.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from typing import Any, TypeVar

from rowen.errors import TransientError

One = TypeVar("One")
Result = TypeVar("Result")


async def side_by_side(
    waiting: Sequence[One],
    work: Callable[[One], Coroutine[Any, Any, Result]],
    *,
    limit: int,
    may_go_on: Callable[[], bool],
) -> AsyncGenerator[tuple[One, Result]]:
    """Results as they come, in the order of `waiting` with a limit of one; to be closed by its caller.

    Before each but the first, `may_go_on` is asked.

    After a `TransientError`, which is about the store, no further one begins; it is raised when those under
    way have ended.
    """
    rest, trouble, begun = iter(waiting), None, False
    running: dict[asyncio.Task[Result], One] = {}
    try:
        while True:
            while len(running) < limit and trouble is None and (not begun or may_go_on()):
                one = next(rest, None)
                begun = True
                if one is None:
                    break
                running[asyncio.create_task(work(one))] = one
            if not running:
                break
            done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                one = running.pop(task)
                try:
                    result = task.result()
                except TransientError as exc:
                    trouble = trouble or exc
                else:
                    yield one, result
    finally:
        await _ended(running)
    if trouble is not None:
        raise trouble


async def _ended(tasks: dict[asyncio.Task[Result], One]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
