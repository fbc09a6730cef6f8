"""What a crawl asks for, in how many tasks, and what it concludes when everything has been answered.

Which page is next and what the answers mean for the others is decided in `frontier.py`.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple, TypeVar

from rowen.core.document import Known
from rowen.core.run import StopReason
from rowen.engine.intake import Intake

Page = TypeVar("Page", int, str)
"""A page by its number or its address."""


class Visit(NamedTuple):
    id: int
    url: str
    depth: int
    known: Known | None


class Move(NamedTuple):
    """A known page that redirects, once it is clear what its target is."""

    page: Known
    target: str
    lost: bool
    """Its text does not live on: the target was there before, is shared, or is gone itself."""


class Settlement(NamedTuple):
    orphaned: tuple[Known, ...]
    """Nothing that can be reached links to these any more."""
    displaced: tuple[Known, ...]
    """The deepest of the known pages, for which newly linked ones left no room under `max_pages`."""
    moved: tuple[Move, ...]
    astray: tuple[Move, ...]
    """Known pages that redirect to a page that failed, was not asked for, or leads back: they stay."""
    forbidden: tuple[Known, ...]
    """Known pages that robots.txt closes now."""
    unlinked_but_kept: int
    """Would be orphans, had every new page been asked and answered: one that was not may lead to them."""
    left_out: int
    """New addresses that were not asked for because of `max_pages`."""

    def report(self, intake: Intake, ignored: Counter[str]) -> StopReason:
        """Hand all of it to the intake; returns why the crawl ended, if nothing stopped it."""
        for move in self.moved:
            intake.gone(move.page.reference, "moved", f"redirects to `{move.target}`", lost=move.lost)
        for move in self.astray:
            said = f"`{move.page.reference}`: redirects to `{move.target}`, which gives no page"
            intake.failed_because(move.page.reference, "redirect_failed", said)
        for page in self.forbidden:
            intake.gone(page.reference, "robots")
        for page in self.orphaned:
            intake.gone(page.reference, "orphaned", answered=True)
        for page in self.displaced:
            intake.gone(page.reference, "over_max_pages", answered=True)
        counted = intake.counters.ignored
        counted.update(ignored)
        if self.left_out:
            counted["over_max_pages"] = self.left_out
        if self.unlinked_but_kept:
            counted["unlinked_but_kept"] = self.unlinked_but_kept
        return StopReason.MAX_PAGES if self.left_out else StopReason.EXHAUSTED


def end_of(page: Page, moved: Mapping[Page, Page], aliases: Mapping[Page, Page]) -> Page:
    """Where a chain of redirects ends; one that leads back ends at a page that is itself moved."""
    seen = {page}
    while page in moved:
        page = moved[page]
        page = aliases.get(page, page)
        if page in seen:
            break
        seen.add(page)
    return page


async def visit_all(
    next_visit: Callable[[], Visit | None],
    visit: Callable[[Visit], Awaitable[None]],
    *,
    at_a_time: int,
    more: Callable[[], bool],
) -> None:
    """Visit what `next_visit` names, until it names nothing and no task is left whose page may bring more.

    A task goes from page to page. `more` says cheaply whether another task would find something.
    """
    tasks = 0
    changed = asyncio.Event()

    async def visit_on(found: Visit | None) -> None:
        nonlocal tasks
        while found is not None:
            await visit(found)
            if tasks < at_a_time and more():
                changed.set()
            found = next_visit()
        tasks -= 1
        changed.set()

    async with asyncio.TaskGroup() as group:
        while True:
            while tasks < at_a_time and (found := next_visit()) is not None:
                tasks += 1
                group.create_task(visit_on(found))
            if not tasks:
                return
            changed.clear()
            await changed.wait()
