"""Processes that answer the searches of a service."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from rowen.config import (
    Config,
    restored,
)
from rowen.engine.ports import Ports

if TYPE_CHECKING:
    from rowen.adapters.children.searching import Asked
    from rowen.core.search.hit import Answer, SearchCall

from rowen.wiring.ports import open_ports

MOST_PROCESSES = 8
"""That are started where the settings do not say how many: each has its own view of the store in memory."""


@asynccontextmanager
async def searching_elsewhere(config: Config, ports: Ports, code: str) -> AsyncIterator[Ports]:
    """The same ports, with processes that answer searches; started by the first one.

    Each runs `code`, which calls `answer_searches`.
    """
    processes = config.service.search_processes
    if not processes:
        yield ports
        return
    import sys

    from rowen.adapters.children.cores import cores
    from rowen.adapters.children.searching import SearchChildren

    if processes < 0:
        processes = min(cores(), MOST_PROCESSES)
    children = SearchChildren((sys.executable, "-P", "-c", code), processes, asdict(config))
    try:
        yield replace(ports, search_elsewhere=children)
    finally:
        await children.close()


def answer_searches(
    answer: Callable[[Ports, SearchCall], Awaitable[Answer]], page: Callable[[Answer, int, int], bytes]
) -> None:
    """The life of such a process. It opens the store when it is asked for the first time.

    `page` makes the JSON of an answer of which so many hits after so many are shown.
    """
    import asyncio

    import orjson

    from rowen.adapters.children import searching

    async def opened(stack: AsyncExitStack, config: Config) -> Ports:
        return await stack.enter_async_context(open_ports(config, create=False, alone=True))

    ports: Ports | None = None
    stack = AsyncExitStack()
    with asyncio.Runner() as runner:
        loop = runner.get_loop()

        def answered(asked: Asked) -> bytes:
            nonlocal ports
            try:
                ports = ports or runner.run(opened(stack, restored(orjson.loads(asked.config))))
                # Not by the runner: it would prepare for Ctrl-C each time, which children do not get.
                found = loop.run_until_complete(answer(ports, asked.call))
                return page(found, *asked.page) if asked.page else searching.write_answer(found)
            except Exception:
                # The parent asks itself, and says what is wrong.
                return b""

        searching.answer_searches(answered)
        runner.run(stack.aclose())
