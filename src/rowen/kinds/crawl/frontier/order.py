"""In which order the pages of a site come, and how many of them a generation takes.

Both are functions of the site alone: of which page leads to which, and of the addresses. Neither the order in
which answers arrive nor what an earlier run stored changes them, so that an unchanged site gives the same
pages in every run, at every limit (ADR 16).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from enum import StrEnum

from rowen.core.rules.left_out import ENDLESS, OVER_MAX_PAGES, TOO_MANY_MISSES
from rowen.fetching.redirects import MAX_REDIRECTS
from rowen.kinds.crawl.frontier.endless import Rank
from rowen.records import NamedTuple

MISSES = 1_000
MISSES_PER_PAGE = 3
"""A crawl asks for at most `MISSES` addresses that are no page, and so many more for each of `max_pages`."""
ENDLESS_PAGES = 500
ENDLESS_SHARE = 4
"""Pages that look endless, where `max_endless` is not set: at most so many, and at most this part (a quarter)
of `max_pages`.
"""


class Place(NamedTuple):
    """Places come in the order of these fields; inside a place pages come in the order of `key_of`."""

    rank: int
    """`endless.Rank`."""
    depth: int
    """Links away from the root; a sitemap's pages are one away."""
    redirects: int
    """Redirects on the way to it from a link or a listing."""

    def linked(self, rank: int) -> Place:
        """Of a page that a page here links to."""
        return Place(max(rank, self.rank), self.depth + 1, 0)

    def redirected(self) -> Place | None:
        """Of a page that a page here redirects to; None when the chain is too long."""
        return self._replace(redirects=self.redirects + 1) if self.redirects < MAX_REDIRECTS else None


Key = tuple[int, int, str]


def key_of(url: str) -> Key:
    """Few segments and parameters come first, then short addresses: `/9` before `/10` before `/a/b`."""
    return url.count("/") + url.count("?") + url.count("&"), len(url), url


class Order:
    """Pages by their places, one place after the other."""

    def __init__(self) -> None:
        self._places: dict[int, Place] = {}
        self._keys: dict[int, Key] = {}
        self._waiting: dict[Place, list[int]] = {}
        self._heap: list[Place] = []

    def __contains__(self, page: int) -> bool:
        return page in self._places

    def put(self, page: int, place: Place, key: Key) -> None:
        """A way to a page was found; the nearest place counts, and there the first of its names."""
        before = self._places.get(page)
        if before is not None and before <= place:
            if before == place:
                self._keys[page] = min(key, self._keys[page])
            return
        self._places[page], self._keys[page] = place, key
        if place not in self._waiting:
            self._waiting[place] = []
            heapq.heappush(self._heap, place)
        self._waiting[place].append(page)

    def put_back(self, page: int, place: Place) -> None:
        """A page comes later than it was put."""
        key = self._keys[page]
        del self._places[page]
        self.put(page, place, key)

    def open(self) -> tuple[Place, list[int]] | None:
        """The next place and its pages, in their order."""
        if not self._heap:
            return None
        place = heapq.heappop(self._heap)
        pages = {page for page in self._waiting.pop(place) if self._places[page] == place}
        return place, sorted(pages, key=self._keys.__getitem__)

    def place_of(self, page: int) -> Place:
        return self._places[page]

    def key(self, page: int) -> Key:
        return self._keys[page]


class Answer(StrEnum):
    YES = "yes"
    WAIT = "wait"
    """It depends on a page that was asked and has not answered."""


class Seats:
    """How many pages were taken; what is not taken has a reason."""

    def __init__(self, max_pages: int, max_endless: int | None) -> None:
        self._max_pages = max_pages
        self._max_misses = MISSES + MISSES_PER_PAGE * max_pages
        share = max(1, min(ENDLESS_PAGES, max_pages // ENDLESS_SHARE))
        self._max_endless = share if max_endless is None else max_endless
        self._taken = 0
        self._reserved = 0
        """New pages that failed for now: their seats are not given away, and the next run finds them free."""
        self._missed = 0
        self._endless = 0
        self._asked: dict[int, bool] = {}
        """Pages under way, and whether they look endless."""

    @property
    def free(self) -> int:
        return self._max_pages - self._taken - self._reserved - len(self._asked)

    def for_new(self, rank: int) -> str:
        """May a new page be asked for? `Answer`, or the reason why not."""
        under_way = len(self._asked)
        limits = [
            (self._taken + self._reserved, under_way, self._max_pages, OVER_MAX_PAGES),
            (self._missed, under_way, self._max_misses, TOO_MANY_MISSES),
        ]
        return _verdict([*limits, self._endless_limit(rank)])

    def for_known(self, rank: int) -> str:
        """May a page that answered stay? A page that failed takes no seat from it."""
        limits = [(self._taken, len(self._asked), self._max_pages, OVER_MAX_PAGES)]
        return _verdict([*limits, self._endless_limit(rank)])

    def ask(self, page: int, *, endless: bool) -> None:
        self._asked[page] = endless

    def is_asked(self, page: int) -> bool:
        return page in self._asked

    def end(self, page: int) -> bool:
        """A page that was asked has answered; was it one that looks endless?"""
        return self._asked.pop(page)

    def take(self, *, endless: bool) -> None:
        self._taken += 1
        self._endless += endless

    def reserve(self) -> None:
        self._reserved += 1

    def miss(self) -> None:
        self._missed += 1

    def _endless_limit(self, rank: int) -> tuple[int, int, int, str]:
        limit = 0 if rank == Rank.AGAIN else self._max_endless if rank == Rank.ENDLESS else self._max_pages
        return self._endless, sum(self._asked.values()), limit, ENDLESS


def _verdict(limits: Iterable[tuple[int, int, int, str]]) -> str:
    for used, under_way, limit, reason in limits:
        if used >= limit:
            return reason
        if used + under_way >= limit:
            return Answer.WAIT
    return Answer.YES
