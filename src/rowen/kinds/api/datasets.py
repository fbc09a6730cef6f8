"""Taking in the datasets of a portal, and finding out which are gone.

A portal is listed page by page and never held as a whole: a set of ids is the most that is kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from rowen.core.document import Draft, Validators
from rowen.engine.intake import Intake
from rowen.engine.ports import Ports
from rowen.errors import PermanentError, RowenError, TransientError, Unparseable
from rowen.fetching.client import STOPS
from rowen.kinds.api.dataset import Dataset

MAX_CHECKED = 500
"""So many absent datasets are asked for one by one before the listing is believed about the rest."""
CHECKED_AT_ONCE = 50
CONTENT_TYPE = "text/markdown"

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Broken:
    """An item of a page that could not be had or read; the rest of the page could."""

    reference: str
    error: RowenError


@dataclass(frozen=True, slots=True)
class Unseen:
    """An item whose reference and validator are known, to be read only if need be."""

    reference: str
    validator: str
    read: Callable[[], Dataset]


class Taking:
    """Takes in the datasets of a run, each once, page by page."""

    def __init__(self, intake: Intake, *, by_validator: bool) -> None:
        self._intake = intake
        self.by_validator = by_validator and not intake.unconditional
        """An item with the known validator is not looked into."""
        self.taken: set[str] = set()
        self.failed = 0

    async def take(self, items: Iterable[Unseen | Broken]) -> None:
        page: dict[str, Unseen] = {}
        for item in items:
            if isinstance(item, Broken):
                self.fail(item.reference, item.error)
            elif item.reference not in self.taken:
                self.taken.add(item.reference)
                page[item.reference] = item
        if not page:
            return
        await self._intake.look_up(list(page))
        for item in page.values():
            await self._one(item)

    def fail(self, reference: str, error: RowenError) -> None:
        self.failed += 1
        self.taken.add(reference)
        self._intake.failed(reference, error)

    async def _one(self, item: Unseen) -> None:
        known = self._intake.known.get(item.reference)
        cheap = self.by_validator and bool(item.validator)
        if cheap and known is not None and known.validators.etag == item.validator:
            self._intake.not_modified(known)
            return
        try:
            dataset = item.read()
        except (PermanentError, RecursionError) as exc:
            error = exc if isinstance(exc, PermanentError) else Unparseable("nested too deeply")
            self.fail(item.reference, error)
            return
        self._intake.counters.parses += 1
        await self._intake.fetched(
            Draft(
                reference=dataset.id,
                url=dataset.url,
                title=dataset.title,
                text=dataset.text,
                validators=Validators(dataset.modified or None),
                content_type=CONTENT_TYPE,
                metadata=dataset.metadata,
            )
        )


Check = Callable[[str], Awaitable[Unseen | None]]
"""Asks for one dataset: itself, or None when it is gone. Raises when that cannot be said."""


class Absences:
    """What readers see and a complete listing does not name is gone, once the portal says so itself."""

    def __init__(
        self, ports: Ports, intake: Intake, taking: Taking, check: Check | None, *, concurrency: int
    ) -> None:
        self._ports = ports
        self._intake = intake
        self._taking = taking
        self._check = check
        self._concurrency = concurrency
        self._checked = 0
        self._missed = 0
        """Datasets that are there and were not listed: the listing is not to be believed."""

    async def settle(self, listed: set[str]) -> set[str]:
        """Deletes what is gone; answers which of the listed ones readers do not see yet."""
        unknown = set(listed)
        after = ""
        while references := await self._ports.store.visible_references(
            self._intake.run.source_id, after=after, limit=1000
        ):
            after = references[-1]
            unknown.difference_update(references)
            absent = [one for one in references if one not in listed]
            for start in range(0, len(absent), CHECKED_AT_ONCE):
                await self._settle(absent[start : start + CHECKED_AT_ONCE])
        return unknown

    async def _settle(self, absent: Sequence[str]) -> None:
        gone: list[str] = []
        if self._check is None:
            gone = list(absent)
        elif self._checked < MAX_CHECKED:
            gone = await self._ask_for(absent, self._check)
        elif not self._missed:
            gone = list(absent)
        if gone:
            await self._intake.look_up(gone)
            for reference in gone:
                self._intake.gone(reference, "absent")

    async def _ask_for(self, absent: Sequence[str], check: Check) -> list[str]:
        self._checked += len(absent)
        gone: list[str] = []
        found: list[Unseen] = []

        async def one(reference: str) -> None:
            try:
                item = await check(reference)
            except STOPS:
                raise
            except (TransientError, PermanentError) as exc:
                self._taking.fail(reference, exc)
                return
            if item is None:
                gone.append(reference)
            else:
                found.append(item)

        await each(absent, one, self._concurrency)
        self._missed += len(found)
        if found:
            self._intake.counters.ignored["not_listed_but_there"] += len(found)
            await self._taking.take(found)
        return gone


async def each(items: Iterable[_T], work: Callable[[_T], Awaitable[None]], concurrency: int) -> None:
    """A few at a time; the first error ends it and is raised as it is."""
    waiting = iter(items)

    async def worker() -> None:
        for item in waiting:
            await work(item)

    tasks = [asyncio.create_task(worker()) for _ in range(concurrency)]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def ahead(pages: AsyncGenerator[_T, None]) -> AsyncGenerator[_T, None]:
    """The same pages; the next is asked for while this one is being taken in."""
    waiting = asyncio.ensure_future(_next(pages))
    try:
        while (page := await waiting) is not None:
            waiting = asyncio.ensure_future(_next(pages))
            yield page
    finally:
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await pages.aclose()


async def _next(pages: AsyncGenerator[_T, None]) -> _T | None:
    return await anext(pages, None)
