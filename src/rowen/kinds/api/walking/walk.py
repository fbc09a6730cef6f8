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
from rowen.core.rules.left_out import SAME_ID
from rowen.core.run import Counters, StopReason
from rowen.core.web import urls
from rowen.core.window import Window
from rowen.errors import Expired, PermanentError, RowenError, TransientError, Unfetchable, Unparseable
from rowen.fetching.client import STOPS
from rowen.kinds.api import items, rules
from rowen.kinds.api.answers import parsed
from rowen.kinds.api.asking import MIN_PAGE, TOO_MUCH, ApiClient, PageSize
from rowen.kinds.api.items import Broken, Listed
from rowen.kinds.api.rules import Definition, Order, Paging
from rowen.kinds.api.walking.checkpoint import Place, said_by
from rowen.kinds.api.walking.following import BY_NUMBER, Following, Page, Step
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

Rows = list[Listed | Broken]


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
        self._limit = api.page_size
        """So many items were asked for last."""
        self._way = Following(api, home)
        self._first = Remembered(Validators(), 0)
        self.restarts = 0
        self._behind = ""
        """The last id of what an earlier run has stored; the first pass begins behind it."""
        self._place: Place | None = None
        """Where an earlier run was in its list; the first pass begins there."""
        self.places: deque[Place] | None = None
        """Where this one is before each page, for a caller who wants to know."""
        self._yielded = 0
        self._first_said = ""

    def is_complete(self) -> bool:
        """Everything there is was seen: what was not is gone."""
        return self._ended and self._way.proves_its_end and self.cut is None

    @property
    def may_slip(self) -> bool:
        """An item may have been missed without a sign of it: the list came in pieces that are counted off."""
        by_key = self.api.paging.place == "cursor"
        return self.answered is None and not by_key

    @property
    def beyond(self) -> int:
        """Items behind the last page that the API answers."""
        return max(0, (self.announced or 0) - len(self.seen) - self.nameless) if self._way.walled else 0

    def go_on_behind(self, ids: Sequence[str]) -> None:
        """Begin behind these, which are the first of the list, in its order."""
        self.seen.update(ids)
        self.taken += len(ids)
        self._behind = ids[-1]

    async def go_on_at(self, place: Place, ids: Sequence[str]) -> bool:
        """Begin at a place in the list, behind these items; False when the list is not that one any more."""
        if self.api.paging in BY_NUMBER:
            self._size.current = place.size
            url = self._url(self._way.first())
            answer = await self._data(await self._ask(url), url)
            said = items.items_of(self.api, answer)
            if (items.total_of(self.api, answer), said_by(said)) != (place.announced, place.first):
                return False
            self._first = Remembered(Validators(), len(said))
            self._first_said = place.first
        self.seen.update(ids)
        self.taken += len(ids)
        self._place = place
        return True

    async def pages(self) -> AsyncGenerator[Rows, None]:
        async for page in self.one_pass():
            yield page
        resumed, self._behind, self._place = bool(self._behind or self._place), "", None
        if (
            resumed
            and self.cut is None
            and self.announced not in (None, len(self.seen), len(self.seen) + self.nameless)
        ):
            # What was stored is not what the list begins with any more.
            async for page in self.one_pass():
                yield page
        if self._way.moved and self.cut is None and not self.not_modified and not self._way.walled:
            async for page in self.one_pass():
                yield page

    async def one_pass(self) -> AsyncGenerator[Rows, None]:
        self._begin()
        step: Step | None = {"cursor": self._behind} if self._behind else self._way.first()
        if self._place is not None:
            step = self._begin_at(self._place)
        while step is not None:
            self._note(step)
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
                step = self._way.first()
                continue
            except (TransientError, PermanentError) as exc:
                if self._is_place_lost(step, exc):
                    self._begin()
                    step = self._way.first()
                    continue
                if not self._way.is_a_branch(step) or isinstance(exc, STOPS):
                    raise
                self._way.doubtful = True
                yield [Broken(urls.without_credentials(str(step)), exc)]
                step = self._way.from_waiting()
                continue
            if known and response.status == 304:
                if self.api.paging not in BY_NUMBER or await self._is_nothing_behind(known):
                    self.not_modified = True
                    return
                self.pages_read = 0
                continue
            if self._way.walled:
                break
            if answer is NO_MORE:
                self._way.doubtful = not self._way.has_all(self.announced)
                break
            at = urls.without_credentials(response.url)
            rows = [
                self._listed(item, page=at if item is answer else "")
                for item in items.items_of(self.api, answer)
            ]
            self._look_at(answer, response, rows)
            if self.places is not None and self.pages_read == 1:
                self._first_said = said_by(items.items_of(self.api, answer))
            fresh = self._fresh(rows)
            if fresh:
                self._yielded += 1
                yield fresh
            if self.cut is not None or self._is_past(rows) or self._is_left_here():
                return
            step = self._way.after(self._arrived(answer, response, rows))
            # Behind all that was announced, the next page is asked for to see that it is empty.
            if step is not None and self._is_full() and not self._way.has_all(self.announced):
                self.cut = StopReason.MAX_ITEMS
                return
        self._end()

    def _is_place_lost(self, step: Step, exc: RowenError) -> bool:
        """The place that an earlier run has left is refused: its address was for that run alone."""
        place, self._place = self._place, None
        return place is not None and step is place.step and isinstance(exc, PermanentError)

    def _begin_at(self, place: Place) -> Step:
        self.pages_read, self.nameless = place.pages, place.nameless
        self.announced = place.announced
        self._way.go_on(place.rows, place.last, overlaps=place.overlaps)
        return place.step

    def _note(self, step: Step) -> None:
        if self.places is None or not self._yielded or self.passes > 1:
            return
        by_number = self.api.paging in BY_NUMBER
        last, overlaps = self._way.before if by_number else ((), False)
        first = self._first_said if by_number else ""
        so_far = (self._yielded, self.pages_read, self._way.rows, len(self.seen), self.announced)
        self.places.append(Place(step, *so_far, self._size.current, first, last, overlaps))

    def _is_left_here(self) -> bool:
        """Is the rest of the list read in another way?"""
        return False

    def _begin(self) -> None:
        self.passes += 1
        self.pages_read = self.nameless = 0
        self.announced = None
        self._ended = False
        self._way.begin()

    def _end(self) -> None:
        self._ended = True
        self._way.note_moved(self.announced is not None and len(self.seen) + self.nameless < self.announced)
        match self.api.paging:
            case Paging.PAGE | Paging.OFFSET:
                one_answer = self._way.rows == self._first.rows
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
                    self._way.walled = True
                    return response, None
                if response.status in (*REFUSED, 404) and self._way.has_all(self.announced):
                    return response, NO_MORE
                if response.status in SIZE_REFUSED and self._is_smaller_asked(step):
                    continue
                answer = await self._data(response, url)
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
        if isinstance(step, str) or self._way.has_all(self.announced) or not self._size.shrink():
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
        return not items.items_of(self.api, await self._data(await self._ask(url), url))

    async def _data(self, response: Response, url: str) -> Any:
        return await parsed(self._client.converter, self.api, response, url, self._params)

    def _url(self, step: Step) -> str:
        url = step
        if not isinstance(url, str):
            limit = self._size.current
            if (left := self._way.left(int(url.get("offset", "0")))) is not None:
                limit = min(limit, left)
            self._limit = limit
            url = rules.page_url(self.api, self.home, {**self._places, "limit": str(limit), **url})
        if len(url) > urls.MAX_CHARS:
            raise Unfetchable(
                f"`{self.home}`: the address of a page has more than {urls.MAX_CHARS} characters"
            )
        return url

    # what came

    def _listed(self, item: Any, *, page: str) -> Listed | Broken:
        try:
            return items.listed(self.api, item, page)
        except Unparseable as exc:
            return Broken("without id", exc)

    def _arrived(self, answer: Any, response: Response, rows: Sequence[Listed | Broken]) -> Page:
        # Of a list that goes on behind what is stored, the number of what was seen proves no end.
        seen = 0 if self._behind else len(self.seen)
        so_far = (self.pages_read, self.announced, seen, self._limit, self._first.rows)
        return Page(answer, response, rows, *so_far)

    def _look_at(self, answer: Any, response: Response, rows: Sequence[Listed | Broken]) -> None:
        if self.pages_read == 1:
            self._first = Remembered(response.validators, len(rows))
        total = items.total_of(self.api, answer)
        self._way.note_moved(total is not None and self.announced is not None and total < self.announced)
        self.announced = total if total is not None else self.announced
        most = self.api.catalogue.most if self.api.catalogue else None
        if most is not None and (total or 0) > most:
            raise Unfetchable(
                f"`{self.home}`: lists {total:,} datasets, which are not those of one portal",
                hint="the site's catalogue has no scope, so that it lists those of all sites: ask its owner"
                " to choose what belongs to it, or add the site of a department",
            )

    def _fresh(self, rows: Sequence[Listed | Broken]) -> Rows:
        fresh: Rows = []
        on_page: dict[str, Listed] = {}
        for one in rows:
            if isinstance(one, Broken):
                self.nameless += 1
                # Without an id it cannot be recognised in a second pass: the first one reports it.
                if self.passes == 1:
                    fresh.append(one)
            elif one.id in self.seen:
                # Between two pages an item may move and change; on one page these are two items.
                first = on_page.get(one.id)
                counts = self.passes == 1 and self.api.catalogue is None
                if counts and first is not None and first.item != one.item:
                    self._counters.ignored[SAME_ID] += 1
            else:
                on_page[one.id] = one
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
