"""CKAN's action API, and a walk through its datasets that loses none.

Pages are asked for by key: each by the ids behind the last one that was seen, so that a dataset which is
there all the time is met even when others come or go meanwhile. Portals that do not take such a filter are
read by offset in the order of ids: each page begins with the last row of the page before, and when it does
not, something in front was removed and the page is read from further back. Portals that do not sort are read
by offset and believed only when as many datasets came as were announced.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from itertools import pairwise
from typing import Any

from rowen.errors import PermanentError, RowenError, TransientError
from rowen.fetching.client import STOPS
from rowen.kinds.api.asking import TOO_MUCH, ApiClient, PageSize
from rowen.kinds.api.items import Broken
from rowen.kinds.ckan import rules as ckan
from rowen.kinds.ckan.rules import Page, Refused

NOTHING: Mapping[str, str] = {}
MOST_BROKEN = 3
"""So many datasets of a page may all be broken; with more of them, the portal is."""
SLACK = 20
SLACK_SHARE = 0.01
"""How many datasets a portal may remove between two pages before its counts are doubted."""


class ActionApi:
    def __init__(self, client: ApiClient, portal: str, chosen: Mapping[str, str] = NOTHING) -> None:
        self._client = client
        self.portal = portal
        self._chosen = chosen
        """What every search asks for as well: the datasets that the settings choose."""

    async def search(self, **params: str | int) -> Page:
        filters = [str(one) for one in (self._chosen.get("fq"), params.get("fq")) if one]
        params = {**self._chosen, **params} | ({"fq": " AND ".join(filters)} if filters else {})
        result, url = await self._result("package_search", params)
        return ckan.page_of(result, url)

    async def show(self, reference: str) -> dict[str, Any]:
        result, url = await self._result("package_show", {"id": reference})
        return ckan.row_of(result, url)

    async def names(self) -> list[str]:
        result, url = await self._result("package_list", {})
        return ckan.names_of(result, url)

    async def fields(self, url: str) -> list[Any]:
        """The columns of a table in the datastore, by the address that asks for them."""
        response = await self._client.ask(url)
        return ckan.fields_of(ckan.result_of(response.status, response.body, url), url)

    async def _result(self, action: str, params: dict[str, str | int]) -> tuple[Any, str]:
        url = ckan.action_url(self.portal, action, params)
        response = await self._client.ask(url)
        return ckan.result_of(response.status, response.body, url), url


Rows = list[Any]
"""Rows as the portal wrote them, and `Broken` for those it could not write."""


class DatasetPages:
    """One walk through the datasets that a filter selects, or through all."""

    def __init__(self, api: ActionApi, size: PageSize, *, where: str = "", ids_only: bool = False) -> None:
        self._api = api
        self._size = size
        self._where = where
        self._ids_only = ids_only
        self._received: int | None = None
        self._asked = size.current
        """So many rows were asked for last."""
        self._counts_on = False
        """A page announced more than it had, so the portal does not count what it answers."""
        self.seen: set[str] = set()
        self.announced: int | None = None
        """How many there are, by the first page."""
        self.complete = False
        """Nothing that was there all the time can be missing."""

    async def pages(self, *, behind: str = "") -> AsyncGenerator[Rows, None]:
        """All pages, or those behind an id up to which `seen` has everything."""
        if behind:
            page = await self._ask(after=behind)
            if _is_behind(page.rows, behind):
                self.announced = None if page.count is None else len(self.seen) + page.count
                async for rows in self._by_key(page, behind):
                    yield rows
                return
        page = await self._ask()
        self.announced = page.count
        yield self._fresh(page.rows)
        last = _last_if_ordered(page.rows)
        if not page.rows or self._is_rest(page):
            self.complete = bool(page.rows) or not page.count
            return
        if last is None:
            further = self._unordered(len(page.rows))
        elif second := await self._page_behind(last):
            further = self._by_key(second, last)
        else:
            further = self._by_offset(len(self.seen), last)
        async for rows in further:
            yield rows

    async def _page_behind(self, last: str) -> Page | None:
        """The second page by key, or None when the portal does not page by key."""
        try:
            page = await self._ask(after=last)
        except (Refused, *TOO_MUCH):
            return None
        missing = (self.announced or 0) - len(self.seen) - (page.count or 0)
        # One that ignores the filter begins again; one that misreads it finds too little.
        honest = _is_behind(page.rows, last) and missing <= max(SLACK, (self.announced or 0) * SLACK_SHARE)
        # Behind as many as were announced, an empty page is the end.
        is_end = not page.rows and not page.count and len(self.seen) >= (self.announced or 0) > 0
        return page if (page.rows and honest) or is_end else None

    async def _by_key(self, page: Page, last: str) -> AsyncGenerator[Rows, None]:
        while page.rows:
            newest = _last_if_ordered(page.rows)
            if newest is None or newest <= last:
                async for rows in self._by_offset(len(self.seen), last):
                    yield rows
                return
            yield self._fresh(page.rows)
            last = newest
            if self._is_rest(page):
                break
            page = await self._ask(after=last)
        self.complete = bool(page.rows) or not page.count

    async def _by_offset(self, position: int, last: str) -> AsyncGenerator[Rows, None]:
        start, step = max(0, position - 1), 1
        while True:
            page = await self._ask(start=start)
            ids = [reference for row in page.rows if (reference := ckan.id_of(row))]
            if start and (not ids or ids[0] > last):
                # What was here has moved to the front: something before it was removed.
                start, step = max(0, start - step), step * 2
                continue
            newest = _last_if_ordered(page.rows)
            if newest is None:
                async for rows in self._unordered(start):
                    yield rows
                return
            if rows := self._fresh(page.rows):
                yield rows
            behind = start + len(page.rows)
            if newest <= last or self._is_rest(page, behind):
                self.complete = page.count is None or behind >= page.count
                return
            start, step, last = behind - 1, 1, newest

    async def _unordered(self, start: int) -> AsyncGenerator[Rows, None]:
        for again in (False, True):
            while True:
                page = await self._ask(start=start)
                if again and not start:
                    self.announced = page.count
                if rows := self._fresh(page.rows):
                    yield rows
                start += len(page.rows)
                if not page.rows or self._is_rest(page, start):
                    break
                if not rows and page.count is None:
                    # The same rows for every offset: there is only one page.
                    break
            # As many as announced, and none came or went meanwhile.
            same = page.count is not None and page.count == self.announced
            self.complete = same and len(self.seen) >= (self.announced or 0)
            if self.complete or page.count is None:
                return
            start = 0

    def _is_rest(self, page: Page, reached: int | None = None) -> bool:
        """Is there nothing behind this page? Fewer rows than were asked for do not mean that.

        Nor does the number alone, behind a full page: it may be that of the page. `reached` is how many rows
        came up to its end, where the number is that of all.
        """
        rows = len(page.rows)
        came = rows if reached is None else reached
        return page.count is not None and page.count <= came and (rows < self._asked or self._counts_on)

    def _fresh(self, rows: Rows) -> Rows:
        fresh = []
        for row in rows:
            reference = row.id if isinstance(row, Broken) else ckan.id_of(row)
            if not reference or reference not in self.seen:
                fresh.append(row)
            if reference and not ckan.is_deleted(row):
                self.seen.add(reference)
        return fresh

    async def _ask(self, *, after: str | None = None, start: int = 0) -> Page:
        filters = [self._where, ckan.after(after) if after is not None else ""]
        params: dict[str, str | int] = {"sort": ckan.ORDER, "start": start}
        if where := " AND ".join(one for one in filters if one):
            params["fq"] = where
        if self._ids_only:
            params["fl"] = ckan.ID_AND_DATE
        while True:
            self._asked = self._size.current
            try:
                page = await self._api.search(rows=self._asked, **params)
            except TOO_MUCH as exc:
                if self._size.shrink(self._received):
                    continue
                return await self._one_by_one(params, exc)
            self._size.went_well()
            self._received = len(page.rows)
            self._counts_on = self._counts_on or (page.count or 0) > len(page.rows)
            return page

    async def _one_by_one(self, params: dict[str, str | int], problem: RowenError) -> Page:
        """Even a small page fails: one of its datasets may be what breaks it."""
        if self._ids_only:
            raise problem
        try:
            page = await self._api.search(rows=self._size.current, **params, fl="id")
        except STOPS:
            raise
        except (TransientError, PermanentError):
            raise problem from None
        rows: Rows = []
        for reference in [found for row in page.rows if (found := ckan.id_of(row))]:
            try:
                rows.append(await self._api.show(reference))
            except STOPS:
                raise
            except (TransientError, PermanentError) as exc:
                rows.append(Broken(reference, exc))
        if not rows or (len(rows) > MOST_BROKEN and all(isinstance(row, Broken) for row in rows)):
            raise problem
        return Page(rows, page.count)


def _references(rows: Rows) -> list[str]:
    found = [row.id if isinstance(row, Broken) else ckan.id_of(row) for row in rows]
    return [reference for reference in found if reference]


def _last_if_ordered(rows: Rows) -> str | None:
    ids = _references(rows)
    ordered = all(before < behind for before, behind in pairwise(ids))
    return ids[-1] if ids and ordered else None


def _is_behind(rows: Rows, last: str) -> bool:
    return all(reference > last for reference in _references(rows))
