"""The server over HTTP that is made when its first request comes.

The packages of the protocol take longer to load than everything else a service loads at its start, and most
services are never called by an assistant.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

from starlette.types import Receive, Scope, Send


class Application(Protocol):
    """An ASGI application that answers while `running()` is entered."""

    def running(self) -> AbstractAsyncContextManager[None]: ...

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None: ...


class Late:
    """Answers while `running()` is entered, which is possible once. `make` is called at most once."""

    def __init__(self, make: Callable[[], Application]) -> None:
        self._make = make
        self._wanted, self._over = asyncio.Event(), asyncio.Event()
        self._made: asyncio.Future[Application] | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        self._made = asyncio.get_running_loop().create_future()
        # A task of its own, because the application must be entered and left in the same one.
        living = asyncio.create_task(self._live(self._made))
        try:
            yield
        finally:
            self._over.set()
            self._wanted.set()
            await living

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self._made is not None
        self._wanted.set()
        application = await asyncio.shield(self._made)
        await application(scope, receive, send)

    async def _live(self, made: asyncio.Future[Application]) -> None:
        await self._wanted.wait()
        if self._over.is_set():
            made.cancel()
            return
        try:
            # In a thread: other callers are answered while the packages are loaded.
            application = await asyncio.to_thread(self._make)
            async with application.running():
                made.set_result(application)
                await self._over.wait()
        except Exception as exc:
            if made.done():
                raise
            # The request that waits for it fails with it, and so does every later one.
            made.set_exception(exc)
            made.exception()
