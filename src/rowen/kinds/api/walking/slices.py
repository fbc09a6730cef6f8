"""A list that is longer than its service pages, read in stretches of time.

Each stretch is cut in halves until it is short enough to be read to its end. What no stretch has (datasets
without a date) is counted as missing.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from rowen.kinds.api import items, rules
from rowen.kinds.api.walking.walk import REFUSED, Rows, Walk

BEGIN = datetime(1970, 1, 1, tzinfo=UTC)
AHEAD = timedelta(days=400)
"""Portals have dates in the future."""
DAY = timedelta(days=1)


class Slice(NamedTuple):
    since: datetime
    until: datetime

    def halves(self) -> tuple[Slice, Slice] | None:
        """The older and the newer half, in whole days; None when it cannot be cut."""
        days = (self.until - self.since) // DAY
        if days < 2:
            return None
        middle = self.since + DAY * (days // 2)
        return Slice(self.since, middle), Slice(middle, self.until)

    def ahead(self) -> Slice:
        """A stretch behind its end."""
        return Slice(self.until, self.until + AHEAD)


def everything(now: datetime) -> Slice:
    midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return Slice(BEGIN, midnight + AHEAD)


class SlicedWalk(Walk):
    """Once through a list, in slices if that is how all of it can be had."""

    def __init__(self, *given: Any, now: datetime, **options: Any) -> None:
        super().__init__(*given, now=now, **options)
        catalogue = self.api.catalogue
        self._pages_to = catalogue.offset_end if catalogue and catalogue.offset_end is not None else 0
        self._everything = everything(now)
        self._whole: int | None = None
        """How many there are in all, once that is too many."""
        self._may_cut = True
        """A list or a slice with too many items is left at its first page."""

    async def pages(self) -> AsyncGenerator[Rows, None]:
        async for page in super().pages():
            yield page
        if (self.announced or 0) <= self._pages_to or self._ended:
            return
        self._whole, unsliced = self.announced, self._places
        further = self._slices(unsliced) if await self._takes_slices(unsliced) else self._as_far_as_it_goes()
        async for page in further:
            yield page

    def _is_left_here(self) -> bool:
        return self._may_cut and (self.announced or 0) > self._pages_to

    async def _takes_slices(self, unsliced: dict[str, str]) -> bool:
        """Does the API take the filter? Of a time that is far ahead it has almost nothing."""
        self._places = self._within(self._everything.ahead(), unsliced)
        url = self._url(self._way.first())
        response = await self._ask(url)
        self._places = unsliced
        if response.status in REFUSED:
            return False
        found = items.total_of(self.api, await self._data(response, url))
        return found is not None and found < (self._whole or 0)

    async def _as_far_as_it_goes(self) -> AsyncGenerator[Rows, None]:
        self._may_cut = False
        async for page in self.one_pass():
            yield page

    async def _slices(self, unsliced: dict[str, str]) -> AsyncGenerator[Rows, None]:
        waiting, read_whole = [self._everything], True
        while waiting:
            one = waiting.pop()
            halves = one.halves()
            self._places, self._may_cut = self._within(one, unsliced), halves is not None
            async for page in self.one_pass():
                yield page
            if halves and (self.announced or 0) > self._pages_to:
                waiting += halves
            elif not self._ended or self._way.doubtful or self._way.walled:
                read_whole = False
        self._places, self.announced = unsliced, self._whole
        self._way.walled = not read_whole or len(self.seen) + self.nameless < (self._whole or 0)
        self._ended, self._way.moved = True, False

    def _within(self, one: Slice, unsliced: dict[str, str]) -> dict[str, str]:
        form = self.api.date_format
        return {**unsliced, "since": rules.stamp(one.since, form), "until": rules.stamp(one.until, form)}
