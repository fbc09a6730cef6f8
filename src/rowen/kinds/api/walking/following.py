"""Which page follows the one that came, and what that way says about the list.

A list whose pages are counted off may move while it is read; one that leads in circles, repeats itself or
refuses to go on need not have ended. What is seen of that is kept here, for one pass. Nothing is asked here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

from rowen.errors import Unparseable
from rowen.kinds.api import items, rules
from rowen.kinds.api.items import Broken, Listed
from rowen.kinds.api.rules import Definition, Paging
from rowen.ports.fetcher import Response

BY_NUMBER = (Paging.PAGE, Paging.OFFSET)

Step = str | dict[str, str]
"""The next page: its address, or the places of a request for it."""


class Page(NamedTuple):
    """A page that came, and how far the pass is with it."""

    answer: Any
    response: Response
    rows: Sequence[Listed | Broken]
    number: int
    """It is this page of the pass, from one."""
    announced: int | None
    seen: int
    """How many different items have come, in all passes."""
    asked: int
    """So many rows were asked for."""
    first: int
    """So many came with the first page."""


class Following:
    def __init__(self, api: Definition, home: str) -> None:
        self._api = api
        self._home = home
        self._waiting: deque[str] = deque()
        """Pages of a tree that are not read yet."""
        self.begin()

    def begin(self) -> None:
        """A new pass."""
        self.rows = 0
        self.moved = False
        """Items went while it was read: others may have slipped through."""
        self.doubtful = False
        """It ended in a way that need not be the end."""
        self.walled = False
        """The API has more than it answers."""
        self._last: list[str] = []
        """The ids of the page before."""
        self._overlaps = False
        """The next page begins with the last row of this one."""
        self._visited: set[str] = set()
        self._waiting.clear()

    @property
    def before(self) -> tuple[tuple[str, ...], bool]:
        """The ids of the page before, and whether the next one begins with the last of them."""
        return tuple(self._last), self._overlaps

    def go_on(self, rows: int, last: Sequence[str], *, overlaps: bool) -> None:
        """Behind so many rows, which an earlier run has read."""
        self.rows, self._last, self._overlaps = rows, list(last), overlaps

    @property
    def proves_its_end(self) -> bool:
        return not (self.moved or self.doubtful or self.walled)

    def note_moved(self, moved: bool) -> None:
        # By the last id no page is missed when items in front of it are removed.
        self.moved = self.moved or (moved and self._api.paging is not Paging.LAST_ID)

    def has_all(self, announced: int | None) -> bool:
        """Did as many rows come as were announced? Behind them, a refusal is an end."""
        return announced is not None and self.rows >= announced > 0

    def _is_proven_by(self, page: Page, came: int) -> bool:
        """Did as many items come as were announced, and is this page shorter than one that others follow?"""
        # invariant: a total alone is no end. One that is too small, as of a service that counts what it
        # answers, would have a run claim to be complete, and delete what it did not see.
        if page.announced is None or came < page.announced:
            return False
        catalogue = self._api.catalogue
        if (catalogue is None and page.number == 1) or (catalogue is not None and catalogue.whole_pages):
            return len(page.rows) < page.asked
        # Other portals answer fewer rows than they are asked for: their first page may be a full one.
        return page.number > 1 and len(page.rows) < min(page.first, page.asked)

    def left(self, offset: int) -> int | None:
        """How many items the API answers from an offset on, where it has a bound."""
        end = self._api.catalogue.offset_end if self._api.catalogue else None
        return None if end is None else end - offset

    def is_a_branch(self, step: Step) -> bool:
        """Does a page that fails leave others of its tree to be read?"""
        return self._api.paging is Paging.LINKS and isinstance(step, str)

    def from_waiting(self) -> str | None:
        return self._waiting.popleft() if self._waiting else None

    def first(self) -> dict[str, str]:
        match self._api.paging:
            case Paging.PAGE:
                return {"page": str(self._api.page_first)}
            case Paging.OFFSET:
                return {"offset": "0"}
        first = self._api.catalogue.first_cursor if self._api.catalogue else None
        return {} if first is None else {"cursor": first}

    def after(self, page: Page) -> Step | None:
        """None at the end. Raises `Unparseable` for a list that leads nowhere."""
        api = self._api
        if api.paging in BY_NUMBER:
            return self._by_number([one.id if isinstance(one, Listed) else "" for one in page.rows], page)
        self.rows += len(page.rows)
        if api.paging is Paging.LAST_ID:
            return self._by_last_id(page)
        if api.paging.place == "cursor" and api.cursor is not None:
            cursor = items.cursor_of(api.cursor.find(page.answer), "cursor")
            return {"cursor": cursor} if self._leads_on(cursor, page) and cursor else None
        if api.paging is Paging.LINKS:
            return self._by_links(page)
        target = None
        if api.paging is Paging.NEXT and api.next is not None:
            target = items.cursor_of(api.next.find(page.answer), "next")
        elif api.paging is Paging.LINK:
            target = rules.next_link(page.response.headers.get("link", ""))
        if target is None:
            return None
        url = rules.absolute(target, page.response.url)
        if url is None:
            raise Unparseable(f"`{self._home}`: the next page has no http or https address: `{target[:100]}`")
        return url if self._leads_on(url, page) else None

    def _by_links(self, page: Page) -> Step | None:
        found = self._api.next.find(page.answer) if self._api.next else None
        for target in found if isinstance(found, list) else [found]:
            url = rules.absolute(target, page.response.url) if isinstance(target, str) else None
            if url is not None and url not in self._visited:
                self._visited.add(url)
                self._waiting.append(url)
        return self.from_waiting()

    def _leads_on(self, step: str | None, page: Page) -> bool:
        if step is None:
            return False
        if step not in self._visited:
            self._visited.add(step)
            return True
        if page.rows and self._api.catalogue is not None:
            self.doubtful = True
        elif page.rows:
            raise Unparseable(
                f"`{self._home}`: the list leads in circles, `{step[:100]}` came again after"
                f" {page.number} pages",
                hint=f"look at `{self._api.paging}`: does it say where the next page stands?",
            )
        # Some APIs repeat the last cursor with an empty page to say that there is no more.
        return False

    def _by_last_id(self, page: Page) -> Step | None:
        if self._is_proven_by(page, page.seen):
            return None
        last = next((one.id for one in reversed(page.rows) if isinstance(one, Listed)), "")
        if last and last not in self._visited:
            self._visited.add(last)
            return {"cursor": last}
        # Only an empty page is the end: an API that does not go on from an id sends the same page again.
        self.doubtful = bool(page.rows)
        return None

    def _by_number(self, ids: list[str], page: Page) -> Step | None:
        before, overlaps = self._last, self._overlaps
        if not ids:
            # The row before was there a moment ago.
            self.note_moved(overlaps)
            return None
        if ids == before and len(ids) > overlaps:
            # The same page for every position: perhaps the last, perhaps the only one it shows.
            self.doubtful = True
            return None
        self.note_moved(bool(overlaps and before[-1] and ids[0] and ids[0] != before[-1]))
        self.rows += len(ids) - overlaps
        self._last = ids
        if overlaps and len(ids) == 1:
            return None
        if self._is_proven_by(page, self.rows):
            return None
        if self._api.paging is Paging.PAGE:
            return {"page": str(self._api.page_first + page.number)}
        # Without a total, a row of overlap shows whether rows have moved.
        self._overlaps = page.announced is None and len(ids) > 1
        offset = self.rows - self._overlaps
        left = self.left(offset)
        self.walled = left is not None and left <= 0
        return None if self.walled else {"offset": str(offset)}
