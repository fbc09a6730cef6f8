"""The event loop, for callers that may do without one.

Everything that acts is `async`. A command that only reads waits for nothing but its store, and a store that
is asked outside a loop answers in the caller's thread. Such a coroutine never suspends, so `drive` runs it by
hand, and asyncio, whose sockets, TLS and threads take long to import, is left alone.

Code that has to wait for something else says `await loop_here()` first: there the coroutine is continued in a
loop, and its callers do not notice.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine, Generator
from types import coroutine
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

if TYPE_CHECKING:
    import asyncio as asyncio
else:

    class _WhenUsed:
        """The module asyncio, imported when a name of it is first asked for; each name is looked up once."""

        def __getattr__(self, name: str) -> Any:
            import asyncio

            found = self.__dict__[name] = getattr(asyncio, name)
            return found

    asyncio = _WhenUsed()


def is_running() -> bool:
    """Is the caller inside an event loop?"""
    # Without the module there is no loop; to ask it would import it.
    return "asyncio" in sys.modules and asyncio._get_running_loop() is not None


@coroutine
def loop_here() -> Generator[None, None, None]:
    """From here on there is a running loop."""
    if not is_running():
        yield


async def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Blocking work beside the loop. Without a loop nothing waits for it, and it is done here."""
    if not is_running():
        return function(*args, **kwargs)
    return await asyncio.to_thread(function, *args, **kwargs)


def drive(work: Coroutine[Any, Any, T], in_loop: Callable[[Callable[[], Coroutine[Any, Any, T]]], T]) -> T:
    """The result of the work, without a loop for as long as it does not wait; `in_loop` does the rest."""
    try:
        work.send(None)
    except StopIteration as ended:
        found: T = ended.value
        return found

    async def rest() -> T:
        return await _continued(work)

    return in_loop(rest)


@coroutine
def _continued(work: Coroutine[Any, Any, T]) -> Generator[Any, Any, T]:
    # Not awaited: Python refuses to await a coroutine that was begun.
    found: T = yield from work
    return found
