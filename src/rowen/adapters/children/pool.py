"""A few child processes that answer requests: started when there is work, replaced when one fails.

A child says READY, then reads a request and writes an answer, again and again, until its input ends. An
answer is four bytes of length and its payload; how a request looks is between the two sides. A child that
takes too long, dies, answers nonsense or is left in the middle of an answer is killed; its request fails,
the others go on.
"""

from __future__ import annotations

import asyncio
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Sequence
from typing import TypeVar

from rowen.adapters.children.child import ANSWER, READY
from rowen.errors import TransientError

MAX_ANSWER_BYTES = 256 * 1024 * 1024

_START_S = 30.0
_END_S = 2.0
_BUFFER_BYTES = 4 * 1024 * 1024

T = TypeVar("T")


class ChildDied(Exception):
    """The child ended, or answered what cannot be an answer."""


class ChildPool:
    def __init__(self, command: Sequence[str], workers: int, *, who: str) -> None:
        """`who` names the children in errors."""
        self._command = tuple(command)
        self._who = who
        self._places = asyncio.Semaphore(workers)
        self._idle: list[Process] = []
        self._ending: set[asyncio.Task[None]] = set()
        self.started = 0
        """Children so far, those that were replaced included."""

    async def ask(self, request: bytes, read: Callable[[bytes], T], *, timeout_s: float) -> T:
        """What `read` makes of the answer; it raises `ValueError` for nonsense.

        Raises `TimeoutError`, `ChildDied`, and `TransientError` when no child starts.
        """
        async with self._places:
            child = self._idle.pop() if self._idle else await self._start()
            answered = False
            try:
                async with asyncio.timeout(timeout_s):
                    payload = await _exchange(child, request)
                answer = read(payload)
                answered = True
            except (asyncio.IncompleteReadError, ConnectionError, ValueError) as exc:
                raise ChildDied(self._who) from exc
            finally:
                # Also on cancellation: half an answer may lie in the pipe of a child that did not finish.
                if answered:
                    self._idle.append(child)
                else:
                    self._end(child)
        return answer

    async def close(self) -> None:
        while self._idle:
            self._end(self._idle.pop(), gently=True)
        if self._ending:
            await asyncio.gather(*self._ending)

    async def _start(self) -> Process:
        try:
            child = await asyncio.create_subprocess_exec(
                *self._command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, limit=_BUFFER_BYTES
            )
        except OSError as exc:
            raise self._not_started() from exc
        self.started += 1
        ready = False
        try:
            async with asyncio.timeout(_START_S):
                ready = await _stdout(child).readexactly(len(READY)) == READY
        except (TimeoutError, asyncio.IncompleteReadError):
            pass
        finally:
            if not ready:
                self._end(child)
        if not ready:
            raise self._not_started()
        return child

    def _not_started(self) -> TransientError:
        # Not the request's fault: it may work when the machine has room again.
        return TransientError(
            f"the {self._who}'s child process does not start",
            hint="free some memory and try again",
            command=self._command,
        )

    def _end(self, child: Process, *, gently: bool = False) -> None:
        if not gently:
            _kill(child)
        task = asyncio.get_running_loop().create_task(_reap(child))
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)


async def _exchange(child: Process, request: bytes) -> bytes:
    assert child.stdin is not None
    child.stdin.write(request)
    # The child reads a whole request before it writes, so neither side can wait for the other.
    await child.stdin.drain()
    stdout = _stdout(child)
    (length,) = ANSWER.unpack(await stdout.readexactly(ANSWER.size))
    if length > MAX_ANSWER_BYTES:
        raise ValueError(f"an answer of {length} bytes")
    return await stdout.readexactly(length)


def _stdout(child: Process) -> asyncio.StreamReader:
    assert child.stdout is not None
    return child.stdout


def _kill(child: Process) -> None:
    # It may have ended by itself, and asyncio may not have noticed yet.
    if child.returncode is None:
        try:
            child.kill()
        except ProcessLookupError:
            return


async def _reap(child: Process) -> None:
    """The end of a child's input is its sign to go; what does not go is killed."""
    assert child.stdin is not None
    child.stdin.close()
    try:
        async with asyncio.timeout(_END_S):
            await child.wait()
    except TimeoutError:
        _kill(child)
        await child.wait()
