"""Once through the pages of an API that somebody described, each item once.

A listing moves while it is read. What comes in front of us shows items twice, which is harmless; what goes
makes others slip through, which the announced total or one row of overlap tell, and a second pass mends. A
walk ends at the end, at the border of its window or at a cap, and says which.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rowen.core.document import Validators
from rowen.core.run import Counters, StopReason
from rowen.core.web import json_body, urls
from rowen.core.window import Window
from rowen.errors import Unfetchable, Unparseable
from rowen.fetching import credentials
from rowen.kinds.api import items as rest_items
from rowen.kinds.api import rules as rest
from rowen.kinds.api.datasets import Broken
from rowen.kinds.api.items import Listed
from rowen.kinds.api.portal import Asker
from rowen.kinds.api.rules import Api, Order, Paging
from rowen.ports.fetcher import Response

ACCEPT = "application/json"
_BY_NUMBER = (Paging.PAGE, Paging.OFFSET)


@dataclass(frozen=True, slots=True)
class Remembered:
    """The validators of a list that came as one answer, and how many rows it had."""

    validators: Validators
    rows: int


class Walk:
    def __init__(
        self,
        asker: Asker,
        api: Api,
        home: str,
        params: Mapping[str, Any],
        counters: Counters,
        *,
        window: Window | None = None,
        now: datetime,
        remembered: Remembered | None = None,
    ) -> None:
        self.api = api
        self.home = home
        self._asker = asker
        self._params = params
        self._counters = counters
        self._window = window
        self._places = rest.places_of(api, window, now=now)
        self._known = remembered
        self.seen: set[str] = set()
        self.nameless = 0
        """Items without an id: each may be one that seems absent."""
        self.taken = 0
        self.announced: int | None = None
        self.cut: StopReason | None = None
        """The cap that ended it."""
        self.not_modified = False
        self.answered: Remembered | None = None
        """Of a list that came as one answer."""
        self.ended = False
        self.past = False
        """It came to the border of its window."""
        self.passes = 0
        self.pages_read = 0
        """In this pass."""
        self._moved = False
        self._doubtful = False
        """It ended in a way that need not be the end."""
        self._rows = 0
        self._last: list[str] = []
        """The ids of the page before."""
        self._overlaps = False
        """The page to come begins with the last row of this one."""
        self._first = Remembered(Validators(), 0)
        self._visited: set[str] = set()

    def is_complete(self) -> bool:
        """Everything there is was seen: what was not is gone."""
        return self.ended and not self._moved and not self._doubtful and self.cut is None

    @property
    def may_slip(self) -> bool:
        """An item may have been missed without a sign of it: the list came in pieces that are counted off."""
        return self.answered is None and self.api.paging is not Paging.CURSOR

    async def pages(self) -> AsyncGenerator[list[Listed | Broken], None]:
        async for page in self.one_pass():
            yield page
        if self._moved and self.cut is None and not self.not_modified:
            async for page in self.one_pass():
                yield page

    async def one_pass(self) -> AsyncGenerator[list[Listed | Broken], None]:
        self._begin()
        url: str | None = self._first_url()
        while url is not None:
            if self.pages_read >= self._params["max_pages"]:
                self.cut = StopReason.MAX_PAGES
                return
            known, self._known = self._known, None
            response = await self._ask(url, known.validators if known else None)
            if known and response.status == 304:
                if self.api.paging not in _BY_NUMBER or await self._is_nothing_behind(known):
                    self.not_modified = True
                    return
                self.pages_read = 0
                continue
            if response.status == 404 and self.pages_read > 1 and self.api.paging is Paging.PAGE:
                # So some answer for the page behind the last, and others for a page they lost.
                self._doubtful = True
                break
            answer = parsed(response, url, self._params)
            rows = [self._listed(item) for item in rest_items.items_of(self.api, answer)]
            self._look_at(answer, response, rows)
            fresh = self._fresh(rows)
            if fresh:
                yield fresh
            if self.cut is not None or self._is_past(rows):
                return
            url = self._following(answer, response, rows)
            if url is not None and self._is_full():
                self.cut = StopReason.MAX_ITEMS
                return
        self._end()

    def _begin(self) -> None:
        self.passes += 1
        self.pages_read = self.nameless = self._rows = 0
        self.announced = None
        self.ended = self.past = self._moved = self._doubtful = self._overlaps = False
        self._last = []
        self._visited = set()

    def _end(self) -> None:
        self.ended = True
        if self.announced is not None and len(self.seen) + self.nameless < self.announced:
            self._moved = True
        match self.api.paging:
            case Paging.PAGE | Paging.OFFSET:
                one_answer = self._rows == self._first.rows
            case Paging.LINK:
                # A header is no part of what validators speak of.
                one_answer = False
            case _:
                one_answer = self.pages_read == 1
        self.answered = self._first if one_answer else None

    # asking

    async def _ask(self, url: str, validators: Validators | None = None) -> Response:
        self.pages_read += 1
        self._counters.pages += 1
        return await self._asker.ask(url, accept=ACCEPT, validators=validators)

    async def _is_nothing_behind(self, known: Remembered) -> bool:
        """The first page is as it was; is it still the only one?"""
        url = self._url(page=str(self.api.page_first + 1), offset=str(known.rows))
        return not rest_items.items_of(self.api, parsed(await self._ask(url), url, self._params))

    def _first_url(self) -> str:
        match self.api.paging:
            case Paging.PAGE:
                return self._url(page=str(self.api.page_first))
            case Paging.OFFSET:
                return self._url(offset="0")
        return self._url()

    def _url(self, **places: str) -> str:
        return self._bounded(rest.page_url(self.api, self.home, {**self._places, **places}))

    def _bounded(self, url: str) -> str:
        if len(url) > urls.MAX_CHARS:
            raise Unfetchable(
                f"`{self.home}`: the address of a page has more than {urls.MAX_CHARS} characters"
            )
        return url

    # what came

    def _listed(self, item: Any) -> Listed | Broken:
        try:
            return rest_items.listed(self.api, item)
        except Unparseable as exc:
            return Broken("without id", exc)

    def _look_at(self, answer: Any, response: Response, rows: Sequence[Listed | Broken]) -> None:
        if self.pages_read == 1:
            self._first = Remembered(response.validators, len(rows))
        total = rest_items.total_of(self.api, answer)
        if total is not None and self.announced is not None and total < self.announced:
            self._moved = True
        self.announced = total if total is not None else self.announced

    def _fresh(self, rows: Sequence[Listed | Broken]) -> list[Listed | Broken]:
        fresh: list[Listed | Broken] = []
        for one in rows:
            if isinstance(one, Broken):
                self.nameless += 1
                # It cannot be told from itself: it is reported in the first pass only.
                if self.passes == 1:
                    fresh.append(one)
            elif one.id not in self.seen:
                if self._is_full():
                    self.cut = StopReason.MAX_ITEMS
                    break
                self.seen.add(one.id)
                if self._is_inside(one):
                    self.taken += 1
                    fresh.append(one)
                else:
                    self._counters.ignored["outside_window"] += 1
        return fresh

    def _is_inside(self, one: Listed) -> bool:
        window = self._window
        if window is None or one.at is None:
            return True
        return one.at >= window.since and not (window.seeding and one.at >= window.until)

    def _is_full(self) -> bool:
        limit = self._params["max_items"]
        return limit is not None and self.taken >= limit

    def _is_past(self, rows: Sequence[Listed | Broken]) -> bool:
        """Nothing of the window can follow. The last row decides: an old one may be pinned to the top."""
        last = next((one.at for one in reversed(rows) if isinstance(one, Listed) and one.at), None)
        if self._window is None or last is None:
            return False
        match self.api.order:
            case Order.DESC:
                self.past = last < self._window.since
            case Order.ASC:
                self.past = self._window.seeding and last >= self._window.until
        return self.past

    # the next page

    def _following(self, answer: Any, response: Response, rows: Sequence[Listed | Broken]) -> str | None:
        api = self.api
        if api.paging in _BY_NUMBER:
            return self._by_number([one.id if isinstance(one, Listed) else "" for one in rows])
        self._rows += len(rows)
        if api.paging is Paging.CURSOR and api.cursor is not None:
            cursor = rest_items.cursor_of(api.cursor.find(answer), "cursor")
            return self._url(cursor=cursor) if self._leads_on(cursor, rows) and cursor else None
        target = None
        if api.paging is Paging.NEXT and api.next is not None:
            target = rest_items.cursor_of(api.next.find(answer), "next")
        elif api.paging is Paging.LINK:
            target = rest.next_link(response.headers.get("link", ""))
        if target is None:
            return None
        url = rest.absolute(target, response.url)
        if url is None:
            raise Unparseable(f"`{self.home}`: the next page has no http or https address: `{target[:100]}`")
        return self._bounded(url) if self._leads_on(url, rows) else None

    def _leads_on(self, step: str | None, rows: Sequence[object]) -> bool:
        if step is None:
            return False
        if step not in self._visited:
            self._visited.add(step)
            return True
        if rows:
            raise Unparseable(
                f"`{self.home}`: the list leads in circles, `{step[:100]}` came again after"
                f" {self.pages_read} pages",
                hint=f"look at `{self.api.paging}`: does it say where the next page stands?",
            )
        # The same again and nothing with it is how some say that there is no more.
        return False

    def _by_number(self, ids: list[str]) -> str | None:
        before, overlaps = self._last, self._overlaps
        if not ids:
            # The row before was there a moment ago.
            self._moved = self._moved or overlaps
            return None
        if ids == before and len(ids) > overlaps:
            # The same page whatever is asked for: perhaps the last, perhaps the only one it shows.
            self._doubtful = True
            return None
        if overlaps and before[-1] and ids[0] and ids[0] != before[-1]:
            self._moved = True
        self._rows += len(ids) - overlaps
        self._last = ids
        if overlaps and len(ids) == 1:
            return None
        if self.announced is not None and self._rows >= self.announced:
            return None
        if self.api.paging is Paging.PAGE:
            return self._url(page=str(self.api.page_first + self.pages_read))
        # Without a total, a row of overlap shows whether rows have moved.
        self._overlaps = self.announced is None and len(ids) > 1
        return self._url(offset=str(self._rows - self._overlaps))


def parsed(response: Response, url: str, params: Mapping[str, Any]) -> Any:
    """An answer as data. Raises `Unfetchable` or `Unparseable`, by its address in messages."""
    shown = urls.without_credentials(url)
    if response.status != 200:
        hint = credentials.hint(params) if response.status in (401, 403) else None
        raise Unfetchable(
            f"`{shown}`: {response.status} from the API", hint=hint, url=shown, status=response.status
        )
    try:
        return json_body.read(response.body)
    except ValueError as exc:
        what = "a web page" if response.body.lstrip()[:1] == b"<" else "no JSON"
        raise Unparseable(f"`{shown}`: answers with {what}", url=shown) from exc
