"""Waiting for something on behalf of a caller, only while the caller is connected."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from fastapi import Request

T = TypeVar("T")


class Gone(Exception):
    """The caller closed the connection: no answer is sent."""


async def while_there(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """The result of the work; when the caller goes away the work is cancelled and `Gone` is raised."""
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_left(request))
    either: set[asyncio.Future[Any]] = {working, leaving}
    try:
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if leaving.done():
            # A body that is refused while it comes in is not a caller that goes away.
            leaving.result()
        if not working.done():
            raise Gone
        return working.result()
    finally:
        for task in (working, leaving):
            task.cancel()
        await asyncio.wait(either)


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
