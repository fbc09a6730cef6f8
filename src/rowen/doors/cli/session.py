"""The asynchronous part of a command: it opens the ports, watches for signals and closes everything.

A command that only reads begins without an event loop (`eventloop.drive`).
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from rowen import wiring
from rowen.doors.cli import collect_more_often, failure
from rowen.doors.cli.call import Call
from rowen.doors.cli.starting import late_modules
from rowen.errors import NotFound
from rowen.eventloop import asyncio, drive

if TYPE_CHECKING:
    from rowen.engine.ports import Ports

T = TypeVar("T")


def run(
    call: Call,
    work: Callable[[Ports], Coroutine[Any, Any, T]],
    *,
    interrupted: str = "interrupted",
    creates: bool = False,
    reads: bool = False,
) -> T:
    """Open the store named by the call, do the work, close everything. Only some commands create a store.

    Ctrl-C and SIGTERM cancel the work; what it holds is put in order before `Interrupted` is raised.
    """
    config = call.config()
    opened = False

    async def with_ports() -> T:
        nonlocal opened
        async with wiring.open_ports(config, create=creates) as ports:
            opened = True
            return await work(ports)

    try:
        # PostgreSQL's tickets belong to a loop.
        runs = run_here if reads and not wiring.is_postgres(config) else run_async
        return runs(with_ports, interrupted=interrupted)
    except NotFound as exc:
        if not opened and not config.store.url:
            # The user's own store, by default: its path is not what is wrong.
            exc.hint = (
                "nothing was added yet: begin with `rowen add docs.example.org --sync`, or `rowen demo`"
            )
        raise


class _Terminated(BaseException):
    """A polite kill, where no event loop receives it."""


def run_here(work: Callable[[], Coroutine[Any, Any, T]], *, interrupted: str = "interrupted") -> T:
    """The same as `run_async`, without an event loop for as long as the work does not need one."""

    def terminate(*_: object) -> None:
        raise _Terminated

    def in_loop(rest: Callable[[], Coroutine[Any, Any, T]]) -> T:
        return run_async(rest, interrupted=interrupted)

    with contextlib.ExitStack() as stack:
        with contextlib.suppress(ValueError):  # a thread beside the main one gets no signals
            stack.callback(signal.signal, signal.SIGTERM, signal.signal(signal.SIGTERM, terminate))
        try:
            return drive(work(), in_loop)
        except KeyboardInterrupt:
            raise failure.Interrupted(failure.INTERRUPTED, interrupted) from None
        except _Terminated:
            raise failure.Interrupted(failure.TERMINATED, interrupted) from None


def run_async(work: Callable[[], Coroutine[Any, Any, T]], *, interrupted: str = "interrupted") -> T:
    late_modules.load()
    collect_more_often()
    terminated = False

    async def watched() -> T:
        task = asyncio.current_task()
        assert task is not None

        def terminate() -> None:
            nonlocal terminated
            terminated = True
            task.cancel()

        # asyncio handles Ctrl-C itself: it cancels this task in the same way.
        with contextlib.suppress(NotImplementedError):  # there are systems without signals
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, terminate)
        return await work()

    try:
        return asyncio.run(watched())
    except KeyboardInterrupt:
        raise failure.Interrupted(failure.INTERRUPTED, interrupted) from None
    except asyncio.CancelledError:
        if not terminated:
            raise
        raise failure.Interrupted(failure.TERMINATED, interrupted) from None
