"""What a child process of `pool.py` does besides its work: its pipes, its limits, its end.

It ends when its input ends, so it does not outlive its parent, and it is killed when one request takes far
too long, so it does not even when the parent died while it was busy.
"""

from __future__ import annotations

import os
import signal
import struct
import sys
from collections.abc import Callable
from typing import BinaryIO, TypeVar

READY = b"rowen\n"
ANSWER = struct.Struct(">I")
"""What a child says first, and the length before each of its answers."""

T = TypeVar("T")

_PIPE_BYTES = 1024 * 1024


def take_pipes() -> tuple[BinaryIO, BinaryIO]:
    """The two pipes, out of reach of what libraries and plug-ins print or read: only frames pass there."""
    # Ctrl-C goes to the whole group; the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    incoming, outgoing = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.close(nothing)
    _widen(incoming, outgoing)
    return incoming, outgoing


def serve(
    incoming: BinaryIO,
    outgoing: BinaryIO,
    read_request: Callable[[BinaryIO], T | None],
    answer: Callable[[T], bytes],
    *,
    timeout_s: float,
) -> None:
    """Answer requests until the input ends, with the payload that `answer` makes."""
    try:
        outgoing.write(READY)
        outgoing.flush()
        while (request := read_request(incoming)) is not None:
            _limit_time(timeout_s)
            payload = answer(request)
            _limit_time(0.0)
            outgoing.write(ANSWER.pack(len(payload)) + payload)
            outgoing.flush()
    except BrokenPipeError:
        sys.stderr.close()  # the parent is gone: flushing would only complain


def limit_memory(memory_mb: int) -> None:
    try:
        import resource
    except ImportError:  # not on Windows
        return
    limit = memory_mb * 1024 * 1024
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    try:
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    except (ValueError, OSError):
        return  # macOS refuses; the time limit still holds


def _limit_time(seconds: float) -> None:
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _widen(*pipes: BinaryIO) -> None:
    """A request in one piece instead of many: most of what a round trip costs is waking up."""
    try:
        import fcntl

        for pipe in pipes:
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    except (ImportError, AttributeError, OSError):
        return  # not Linux, or not allowed: slower, not wrong
