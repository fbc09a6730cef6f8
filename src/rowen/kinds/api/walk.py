"""Once through the pages of an API, each item once.

A list moves while it is read. Items that are added in front show others twice, which is harmless; items that
are removed let others slip through, which the announced total or one row of overlap shows, and a second pass
meets them. A walk ends at the end, at the border of its window or at a cap, and says which.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Mapping, Sequence
from datetime import datetime
from typing import Any

from rowen.core.document import Validators
from rowen.core.run import Counters, StopReason
from rowen.core.web import urls
from rowen.core.window import Window
from rowen.errors import Expired, PermanentError, TransientError, Unfetchable, Unparseable
from rowen.fetching import credentials
from rowen.fetching.client import STOPS
from rowen.kinds.api import items, rules
from rowen.kinds.api.asking import MIN_PAGE, TOO_MUCH, ApiClient, PageSize
from rowen.kinds.api.items import Broken, Listed
from rowen.kinds.api.rules import Definition, Order, Paging
from rowen.ports.fetcher import Response
from rowen.records import dataclass

REFUSED = (400, 403, 413, 416, 422)
"""Statuses with which a service refuses a page behind those that it answers, or a filter."""
SIZE_REFUSED = (400, 413, 422)
"""Statuses with which a service refuses a page that is too long for it."""
WALL_PAGES = 10
"""A refusal before so many pages is one of the whole list."""
NO_MORE = object()
"""In place of the data of a page that the API refuses as one behind the last."""
RESTARTS = 3
"""So often a listing whose token expired is begun anew."""
_BY_NUMBER = (Paging.PAGE, Paging.OFFSET)

Rows = list[Listed | Broken]
Step = str | dict[str, str]
"""The next page: its address, or the places of a request for it."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """The validators of a list that came as one answer, and how many rows it had."""

    validators: Validators
    rows: int


class Walk:
    def __init__(
        self,
        client: ApiClient,
        api: Definition,
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
        self._client = client
        self._params = params
        self._counters = counters
        self._window = window
        self._places = rules.places_of(api, window, now=now)
        self._known = remembered
        shrinks = api.catalogue is not None and api.asks_for("limit")
        self._size = PageSize(api.page_size, smallest=MIN_PAGE if shrinks else api.page_size)
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
        self._ended = False
        self.passes = 0
        self.pages_read = 0
        """In this pass."""
        self._moved = False
        self._doubtful = False
        """It ended in a way that need not be the end."""
        self._walled = False
        """The API has more than it answers."""
        self._rows = 0
        self._last: list[str] = []
        """The ids of the page before."""
        self._overlaps = False
        """The next page begins with the last row of this one."""
        self._first = Remembered(Validators(), 0)
        self._visited: set[str] = set()
        self._waiting: deque[str] = deque()
        """Pages of a tree that are not read yet."""
        self.restarts = 0

    def is_complete(self) -> bool:
        """Everything there is was seen: what was not is gone."""
        return self._ended and not (self._moved or self._doubtful or self._walled) and self.cut is None

    @property
    def may_slip(self) -> bool:
        """An item may have been missed without a sign of it: the list came in pieces that are counted off."""
        by_key = self.api.paging.place == "cursor"
        return self.answered is None and not by_key

    @property
    def beyond(self) -> int:
        """Items behind the last page that the API answers."""
        return max(0, (self.announced or 0) - len(self.seen) - self.nameless) if self._walled else 0

    async def pages(self) -> AsyncGenerator[Rows, None]:
        async for page in self.one_pass():
            yield page
        if self._moved and self.cut is None and not self.not_modified and not self._walled:
            async for page in self.one_pass():
                yield page

    async def one_pass(self) -> AsyncGenerator[Rows, None]:
        self._begin()
        step: Step | None = self._first_step()
        while step is not None:
            if self.pages_read >= self._params["max_pages"]:
                self.cut = StopReason.MAX_PAGES
                return
            known, self._known = self._known, None
            try:
                response, answer = await self._page(step, known)
            except Expired:
                if self.restarts >= RESTARTS:
                    raise
                # What was seen stays seen: nothing is taken in twice, and nothing counts as absent for it.
                self.restarts += 1
                self._begin()
                step = self._first_step()
                continue
            except (TransientError, PermanentError) as exc:
                if not self._is_a_branch(step) or isinstance(exc, STOPS):
                    raise
                self._doubtful = True
                yield [Broken(urls.without_credentials(str(step)), exc)]
                step = self._from_waiting()
                continue
            if known and response.status == 304:
                if self.api.paging not in _BY_NUMBER or await self._is_nothing_behind(known):
                    self.not_modified = True
                    return
                self.pages_read = 0
                continue
            if self._walled:
                break
            if answer is NO_MORE:
                self._doubtful = not self._has_all()
                break
            rows = [self._listed(item) for item in items.items_of(self.api, answer)]
            self._look_at(answer, response, rows)
            fresh = self._fresh(rows)
            if fresh:
                yield fresh
            if self.cut is not None or self._is_past(rows):
                return
            if self._is_left_here():
                return
            step = self._following(answer, response, rows)
            if step is not None and self._is_full():
                self.cut = StopReason.MAX_ITEMS
                return
        self._end()

    def _has_all(self) -> bool:
        """Did as many rows come as were announced? Behind them, a refusal is an end."""
        return self.announced is not None and self._rows >= self.announced > 0

    def _is_left_here(self) -> bool:
        """Is the rest of the list read in another way?"""
        return False

    def _begin(self) -> None:
        self.passes += 1
        self.pages_read = self.nameless = self._rows = 0
        self.announced = None
        self._ended = self._moved = self._doubtful = self._overlaps = self._walled = False
        self._last = []
        self._visited = set()
        self._waiting.clear()

    def _is_a_branch(self, step: Step) -> bool:
        """Does a page that fails leave others of its tree to be read?"""
        return self.api.paging is Paging.LINKS and isinstance(step, str)

    def _from_waiting(self) -> str | None:
        return self._waiting.popleft() if self._waiting else None

    def _end(self) -> None:
        self._ended = True
        self._note_moved(self.announced is not None and len(self.seen) + self.nameless < self.announced)
        match self.api.paging:
            case Paging.PAGE | Paging.OFFSET:
                one_answer = self._rows == self._first.rows
            case Paging.LINK:
                # Validators do not cover a header.
                one_answer = False
            case _:
                one_answer = self.pages_read == 1
        self.answered = self._first if one_answer else None

    # asking

    async def _page(self, step: Step, known: Remembered | None) -> tuple[Response, Any]:
        """A page and its data; None for a 304 that was asked for, `NO_MORE` for the end by a refusal."""
        while True:
            url = self._url(step)
            try:
                response = await self._ask(url, known.validators if known else None)
                if known and response.status == 304:
                    return response, None
                if response.status == 404 and self.pages_read > 1 and self.api.paging is Paging.PAGE:
                    # Some APIs answer so for the page behind the last, others for a page they lost.
                    return response, NO_MORE
                if self._is_wall(response):
                    self._walled = True
                    return response, None
                if response.status in (*REFUSED, 404) and self._has_all():
                    return response, NO_MORE
                if response.status in SIZE_REFUSED and self._is_smaller_asked(step):
                    continue
                answer = parsed(self.api, response, url, self._params)
            except TOO_MUCH:
                if not self._is_smaller_asked(step):
                    raise
                continue
            if self.api.paging is Paging.PAGE:
                self._size.settle()
            self._size.went_well()
            return response, answer

    def _is_smaller_asked(self, step: Step) -> bool:
        """Can the same page be asked for with fewer items?"""
        if isinstance(step, str) or not self._size.shrink():
            return False
        self.pages_read -= 1
        return True

    def _is_wall(self, response: Response) -> bool:
        """A refusal after very many items, with more announced: the service pages no further."""
        behind = self.announced is not None and len(self.seen) < self.announced
        many = self.api.catalogue is not None and len(self.seen) >= self.api.page_size * WALL_PAGES
        return response.status in REFUSED and behind and many

    async def _ask(self, url: str, validators: Validators | None = None) -> Response:
        self.pages_read += 1
        self._counters.pages += 1
        return await self._client.ask(url, accept=self.api.accept, validators=validators)

    async def _is_nothing_behind(self, known: Remembered) -> bool:
        """The first page is as it was; is it still the only one?"""
        url = self._url({"page": str(self.api.page_first + 1), "offset": str(known.rows)})
        return not items.items_of(self.api, parsed(self.api, await self._ask(url), url, self._params))

    def _first_step(self) -> dict[str, str]:
        match self.api.paging:
            case Paging.PAGE:
                return {"page": str(self.api.page_first)}
            case Paging.OFFSET:
                return {"offset": "0"}
        first = self.api.catalogue.first_cursor if self.api.catalogue else None
        return {} if first is None else {"cursor": first}

    def _url(self, step: Step) -> str:
        url = step
        if not isinstance(url, str):
            limit = self._size.current
            if (left := self._left(int(url.get("offset", "0")))) is not None:
                limit = min(limit, left)
            url = rules.page_url(self.api, self.home, {**self._places, "limit": str(limit), **url})
        if len(url) > urls.MAX_CHARS:
            raise Unfetchable(
                f"`{self.home}`: the address of a page has more than {urls.MAX_CHARS} characters"
            )
        return url

    def _left(self, offset: int) -> int | None:
        """How many items the API answers from an offset on, where it has a bound."""
        end = self.api.catalogue.offset_end if self.api.catalogue else None
        return None if end is None else end - offset

    # what came

    def _listed(self, item: Any) -> Listed | Broken:
        try:
            return items.listed(self.api, item)
        except Unparseable as exc:
            return Broken("without id", exc)

    def _look_at(self, answer: Any, response: Response, rows: Sequence[Listed | Broken]) -> None:
        if self.pages_read == 1:
            self._first = Remembered(response.validators, len(rows))
        total = items.total_of(self.api, answer)
        self._note_moved(total is not None and self.announced is not None and total < self.announced)
        self.announced = total if total is not None else self.announced
        most = self.api.catalogue.most if self.api.catalogue else None
        if most is not None and (total or 0) > most:
            raise Unfetchable(
                f"`{self.home}`: lists {total:,} datasets, which are not those of one portal",
                hint="the site's catalogue has no scope, so that it lists those of all sites: ask its owner"
                " to choose what belongs to it, or add the site of a department",
            )

    def _note_moved(self, moved: bool) -> None:
        # By the last id no page is missed when items in front of it are removed.
        self._moved = self._moved or (moved and self.api.paging is not Paging.LAST_ID)

    def _fresh(self, rows: Sequence[Listed | Broken]) -> Rows:
        fresh: Rows = []
        for one in rows:
            if isinstance(one, Broken):
                self.nameless += 1
                # Without an id it cannot be recognised in a second pass: the first one reports it.
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
                return last < self._window.since
            case Order.ASC:
                return self._window.seeding and last >= self._window.until
        return False

    # the next page

    def _following(self, answer: Any, response: Response, rows: Sequence[Listed | Broken]) -> Step | None:
        api = self.api
        if api.paging in _BY_NUMBER:
            return self._by_number([one.id if isinstance(one, Listed) else "" for one in rows])
        self._rows += len(rows)
        if api.paging is Paging.LAST_ID:
            return self._by_last_id(rows)
        if api.paging.place == "cursor" and api.cursor is not None:
            cursor = items.cursor_of(api.cursor.find(answer), "cursor")
            return {"cursor": cursor} if self._leads_on(cursor, rows) and cursor else None
        if api.paging is Paging.LINKS:
            return self._by_links(answer, response)
        target = None
        if api.paging is Paging.NEXT and api.next is not None:
            target = items.cursor_of(api.next.find(answer), "next")
        elif api.paging is Paging.LINK:
            target = rules.next_link(response.headers.get("link", ""))
        if target is None:
            return None
        url = rules.absolute(target, response.url)
        if url is None:
            raise Unparseable(f"`{self.home}`: the next page has no http or https address: `{target[:100]}`")
        return url if self._leads_on(url, rows) else None

    def _by_links(self, answer: Any, response: Response) -> Step | None:
        found = self.api.next.find(answer) if self.api.next else None
        for target in found if isinstance(found, list) else [found]:
            url = rules.absolute(target, response.url) if isinstance(target, str) else None
            if url is not None and url not in self._visited:
                self._visited.add(url)
                self._waiting.append(url)
        return self._from_waiting()

    def _leads_on(self, step: str | None, rows: Sequence[object]) -> bool:
        if step is None:
            return False
        if step not in self._visited:
            self._visited.add(step)
            return True
        if rows and self.api.catalogue is not None:
            self._doubtful = True
        elif rows:
            raise Unparseable(
                f"`{self.home}`: the list leads in circles, `{step[:100]}` came again after"
                f" {self.pages_read} pages",
                hint=f"look at `{self.api.paging}`: does it say where the next page stands?",
            )
        # Some APIs repeat the last cursor with an empty page to say that there is no more.
        return False

    def _by_last_id(self, rows: Sequence[Listed | Broken]) -> Step | None:
        if self.announced is not None and len(self.seen) >= self.announced:
            return None
        last = next((one.id for one in reversed(rows) if isinstance(one, Listed)), "")
        if last and last not in self._visited:
            self._visited.add(last)
            return {"cursor": last}
        # Only an empty page is the end: an API that does not go on from an id sends the same page again.
        self._doubtful = bool(rows)
        return None

    def _by_number(self, ids: list[str]) -> Step | None:
        before, overlaps = self._last, self._overlaps
        if not ids:
            # The row before was there a moment ago.
            self._note_moved(overlaps)
            return None
        if ids == before and len(ids) > overlaps:
            # The same page for every position: perhaps the last, perhaps the only one it shows.
            self._doubtful = True
            return None
        self._note_moved(bool(overlaps and before[-1] and ids[0] and ids[0] != before[-1]))
        self._rows += len(ids) - overlaps
        self._last = ids
        if overlaps and len(ids) == 1:
            return None
        if self._has_all() and not self._may_go_on(ids):
            return None
        if self.api.paging is Paging.PAGE:
            return {"page": str(self.api.page_first + self.pages_read)}
        # Without a total, a row of overlap shows whether rows have moved.
        self._overlaps = self.announced is None and len(ids) > 1
        offset = self._rows - self._overlaps
        left = self._left(offset)
        self._walled = left is not None and left <= 0
        return None if self._walled else {"offset": str(offset)}

    def _may_go_on(self, ids: Sequence[str]) -> bool:
        """Is the last page that was announced as long as the others? The total of a portal may be wrong."""
        if self.api.catalogue is None:
            return False
        return len(ids) >= (self._first.rows if self.pages_read > 1 else self._size.current)


def parsed(api: Definition, response: Response, url: str, params: Mapping[str, Any]) -> Any:
    """An answer as data. Raises `Unfetchable` or `Unparseable`, by its address in messages."""
    shown = urls.without_credentials(url)
    if response.status != 200:
        hint = credentials.hint(params) if response.status in (401, 403) else None
        raise Unfetchable(
            f"`{shown}`: {response.status} from the API", hint=hint, url=shown, status=response.status
        )
    return api.decode(response.body, content_type=response.headers.get("content-type", ""), url=shown)
