"""Visitors of a site: as many as there is something to ask for, up to a number."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from rowen.kinds.crawl.visits import Visit


async def visit_all(
    next_visit: Callable[[], Visit | None],
    visit: Callable[[Visit], Awaitable[None]],
    *,
    at_a_time: int,
    more: Callable[[], bool],
) -> None:
    """Visit what `next_visit` names until it names nothing and nobody is under way, who may bring more.

    A visitor goes from page to page. `more` says cheaply whether another one would find something.
    """
    visitors = 0
    news = asyncio.Event()

    async def visit_on(found: Visit | None) -> None:
        nonlocal visitors
        while found is not None:
            await visit(found)
            if visitors < at_a_time and more():
                news.set()
            found = next_visit()
        visitors -= 1
        news.set()

    async with asyncio.TaskGroup() as group:
        while True:
            while visitors < at_a_time and (found := next_visit()) is not None:
                visitors += 1
                group.create_task(visit_on(found))
            if not visitors:
                return
            news.clear()
            await news.wait()
