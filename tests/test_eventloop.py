"""A coroutine that only reads needs no event loop, and one that waits gets it where it begins to."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest

from rowen.eventloop import drive, in_thread, is_running, loop_here


def refuse(rest: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    raise AssertionError("a loop was asked for")


def in_loop(rest: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    return asyncio.run(rest())


@asynccontextmanager
async def noted(notes: list[str]) -> AsyncIterator[None]:
    notes.append("opened")
    try:
        yield
    finally:
        notes.append("closed")


def test_work_that_does_not_wait_needs_no_loop() -> None:
    notes: list[str] = []

    async def work() -> int:
        async with noted(notes):
            assert not is_running()
            return 3

    assert drive(work(), refuse) == 3
    assert notes == ["opened", "closed"]


def test_work_that_waits_is_continued_in_a_loop_where_it_begins_to_wait() -> None:
    seen: list[bool] = []

    async def inner() -> int:
        seen.append(is_running())
        await loop_here()
        seen.append(is_running())
        await asyncio.sleep(0)
        return 4

    async def work() -> int:
        return await inner() + 1

    assert drive(work(), in_loop) == 5
    assert seen == [False, True]


def test_in_a_loop_asking_for_one_changes_nothing() -> None:
    async def work() -> bool:
        await loop_here()
        return is_running()

    assert asyncio.run(work())


def test_an_error_passes_through_with_or_without_a_loop() -> None:
    async def work(*, waits: bool) -> None:
        if waits:
            await loop_here()
        raise LookupError("gone")

    for waits in (False, True):
        with pytest.raises(LookupError, match="gone"):
            drive(work(waits=waits), in_loop)


def test_a_cancellation_reaches_the_continued_work_and_what_it_holds_is_closed() -> None:
    notes: list[str] = []

    async def work() -> None:
        async with noted(notes):
            await loop_here()
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
            await asyncio.Event().wait()

    with pytest.raises(asyncio.CancelledError):
        drive(work(), in_loop)
    assert notes == ["opened", "closed"]


def test_blocking_work_is_done_here_without_a_loop_and_in_a_thread_within_one() -> None:
    assert drive(in_thread(threading.get_ident), refuse) == threading.get_ident()
    assert asyncio.run(in_thread(threading.get_ident)) != threading.get_ident()


def test_the_module_is_imported_when_a_name_of_it_is_asked_for() -> None:
    program = (
        "import sys; from rowen.eventloop import asyncio, is_running; assert not is_running(); "
        "assert 'asyncio' not in sys.modules; asyncio.sleep; assert 'asyncio' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
