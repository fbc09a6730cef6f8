"""Processes that answer the searches of a service."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from rowen.config import (
    Config,
    restored,
)
from rowen.engine.ports import Ports

if TYPE_CHECKING:
    from rowen.core.search.hit import Answer, SearchCall

from rowen.wiring.ports import open_ports


@asynccontextmanager
async def searching_elsewhere(config: Config, ports: Ports) -> AsyncIterator[Ports]:
    """The same ports, with processes that answer searches; started by the first one."""
    if not config.service.search_processes:
        yield ports
        return
    import sys

    from rowen.adapters.children.searching import SearchChildren

    command = (sys.executable, "-P", "-c", "from rowen.wiring import answer_searches; answer_searches()")
    children = SearchChildren(command, config.service.search_processes, asdict(config))
    try:
        yield replace(ports, search_elsewhere=children)
    finally:
        await children.close()


def answer_searches() -> None:
    """The life of such a process. It opens the store when it is asked for the first time."""
    import asyncio

    from rowen.adapters.children import searching
    from rowen.core.search.hit import SearchMode
    from rowen.engine.embedding import for_search
    from rowen.reading.search import search

    async def opened(stack: AsyncExitStack, config: Config) -> Ports:
        return await stack.enter_async_context(open_ports(config, create=False))

    async def answered(ports: Ports, call: SearchCall) -> Answer:
        embedder = await for_search(ports) if call.mode is not SearchMode.KEYWORD else None
        return await search(
            ports.store,
            embedder,
            call.query,
            mode=call.mode,
            filters=call.filters,
            limit=call.limit,
            prefix=call.prefix,
        )

    ports: Ports | None = None
    stack = AsyncExitStack()
    with asyncio.Runner() as runner:

        def answer(sections: Mapping[str, Any], call: SearchCall) -> Answer | None:
            nonlocal ports
            try:
                ports = ports or runner.run(opened(stack, restored(sections)))
                return runner.run(answered(ports, call))
            except Exception:
                # The parent asks itself, and says what is wrong.
                return None

        searching.answer_searches(answer)
        runner.run(stack.aclose())
