"""The server over standard input and output, for a client that starts it as its child.

Standard output belongs to the protocol: the SDK sends other prints to standard error. The store
is opened by the first call that needs it, so a client that only asks what there is waits for nothing.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any, cast

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from rowen import wiring
from rowen.config import Config
from rowen.doors.mcp.server import make_server
from rowen.engine.ports import Ports

PIECE_BYTES = 65_536


async def serve(config: Config, *, read_only: bool = False) -> None:
    """Until the client closes our input, or this task is cancelled; a sync under way ends in good order."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    async with AsyncExitStack() as stack:
        server = make_server(_Lazily(config, stack).opened, read_only=read_only)
        lines = _Lines(_private_input())
        serving = asyncio.create_task(_serve(server, lines))
        try:
            await asyncio.shield(serving)
        except asyncio.CancelledError:
            # The SDK ends in good order when its input does; cancelled in the middle of a message it breaks.
            lines.end()
            await serving
            raise


async def _serve(server: Server[Any], lines: _Lines) -> None:
    try:
        async with stdio_server(stdin=cast("anyio.AsyncFile[str]", lines)) as (read, write):
            await server.run(read, write, server.create_initialization_options())
    except* BrokenPipeError:
        # The client went away without a word: the same as the end of our input.
        pass


class _Lazily:
    def __init__(self, config: Config, stack: AsyncExitStack) -> None:
        self._config = config
        self._stack = stack
        self._opening = asyncio.Lock()
        self._ports: Ports | None = None

    async def opened(self) -> Ports:
        async with self._opening:
            if self._ports is None:
                self._ports = await self._stack.enter_async_context(
                    wiring.open_ports(self._config, create=False)
                )
            return self._ports


def _private_input() -> int:
    """Our input under another number: children inherit an empty one and cannot read the client's words."""
    private = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return private


class _Lines:
    """Lines as they come, read by a thread that the process does not wait for.

    The SDK's own reader waits in a thread that cannot be interrupted: a signal to end would be answered when
    the client says something next. The bare number is read, since Python waits for the lock of a file object
    before it ends.
    """

    def __init__(self, number: int) -> None:
        self._number = number
        self._pieces: asyncio.Queue[bytes] = asyncio.Queue()

    def end(self) -> None:
        """End the input, also while the client still writes."""
        self._pieces.put_nowait(b"")

    async def __aiter__(self) -> AsyncIterator[str]:
        loop = asyncio.get_running_loop()

        def read() -> None:
            while True:
                try:
                    piece = os.read(self._number, PIECE_BYTES)
                except OSError:
                    piece = b""
                try:
                    loop.call_soon_threadsafe(self._pieces.put_nowait, piece)
                except RuntimeError:
                    return  # the loop ended before our input did
                if not piece:
                    return

        threading.Thread(target=read, name="rowen-stdin", daemon=True).start()
        rest = bytearray()
        while piece := await self._pieces.get():
            rest += piece
            *lines, last = rest.split(b"\n")
            rest = bytearray(last)
            for line in lines:
                yield line.decode("utf-8", "replace")
        if rest:
            yield rest.decode("utf-8", "replace")
