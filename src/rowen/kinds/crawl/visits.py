"""What a crawl asks for, in how many tasks, and what it concludes when everything has been answered.

Which page is next and what the answers mean for the others is decided in `frontier/`.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Container, Mapping
from typing import TypeVar

from rowen.core.document import Known
from rowen.core.rules.left_out import NOT_REACHED, OVER_MAX_PAGES, UNLINKED
from rowen.core.run import StopReason
from rowen.engine.intake import Intake
from rowen.fetching.redirects import MAX_REDIRECTS
from rowen.records import NamedTuple

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
    displaced: tuple[tuple[Known, str], ...]
    """Known pages that are over a limit now, and which: other pages come before them."""
    moved: tuple[Move, ...]
    astray: tuple[Move, ...]
    """Known pages that redirect to a page that failed, was not asked for, or leads back: they stay."""
    forbidden: tuple[Known, ...]
    """Known pages that robots.txt closes now."""
    unlinked_but_kept: int
    """Would be orphans, had every new page been asked and answered: one that was not may lead to them."""
    cut_short: bool = False
    """Not every known page was asked for: those that no page named may simply not have been reached."""
    endless: tuple[tuple[str, str], ...] = ()
    """Chains of redirects that were followed far enough: where each begins, and the last page asked."""

    def report(self, intake: Intake, ignored: Counter[str], *, uncounted: Container[str]) -> StopReason:
        """Hand all of it to the intake; returns why the crawl ended, if nothing stopped it.

        `uncounted` are pages that an earlier run asked for and this one did not.
        """
        for move in self.moved:
            intake.gone(move.page.reference, "moved", f"redirects to `{move.target}`", lost=move.lost)
        for move in self.astray:
            said = f"`{move.page.reference}`: redirects to `{move.target}`, which gives no page"
            intake.failed_because(move.page.reference, "redirect_failed", said)
        for page in self.forbidden:
            intake.gone(page.reference, "robots")
        for page in self.orphaned:
            intake.gone(page.reference, "orphaned", answered=page.reference not in uncounted)
        for page, reason in self.displaced:
            intake.gone(page.reference, reason, answered=page.reference not in uncounted)
        for start, last in self.endless:
            said = f"`{start}`: more than {MAX_REDIRECTS} redirects, the last one at `{last}`"
            intake.failed_because(start, "too_many_redirects", said)
        counted = intake.counters.ignored
        counted.update(ignored)
        if self.unlinked_but_kept:
            counted[NOT_REACHED if self.cut_short else UNLINKED] = self.unlinked_but_kept
        return StopReason.MAX_PAGES if ignored[OVER_MAX_PAGES] else StopReason.EXHAUSTED


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


def start_of(page: Page, moved: Mapping[Page, Page]) -> Page:
    """Where a chain of redirects to a page begins."""
    return end_of(page, {target: source for source, target in moved.items()}, {})


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
