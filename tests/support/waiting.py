"""Waiting for what gives no event: another process, another machine. Looks often, gives up late."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable


async def until(met: Callable[[], Awaitable[bool]], *, timeout_s: float = 120.0) -> None:
    async with asyncio.timeout(timeout_s):
        while not await met():  # noqa: ASYNC110 - there is nothing to wait for but time
            await asyncio.sleep(0.01)
