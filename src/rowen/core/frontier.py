"""Which pages of a site to ask for next, and what the answers mean for the whole.

The frontier decides; it fetches nothing and stores nothing. Pages are numbers here: the store's reference
ids, and numbers below zero for addresses met for the first time in this run.

Known pages are all asked, from their stored depth, so that a refresh need not wait for one answer to learn
the next question. New pages are asked when a page links to them. When everything has been answered, `settle`
looks at the link graph as it now is and says which known pages nothing leads to any more.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rowen.core.document import Known


@dataclass(frozen=True, slots=True)
class Visit:
    id: int
    url: str
    depth: int
    known: Known | None


@dataclass(frozen=True, slots=True)
class Settlement:
    orphaned: tuple[Known, ...]
    """Nothing that can be reached links to these any more."""
    displaced: tuple[Known, ...]
    """The deepest of the known pages, for which newly linked ones left no room under `max_pages`."""
    unlinked_but_kept: int
    """Would be orphans, had every new page been asked and answered: one that was not may lead to them."""
    left_out: int
    """New addresses that `max_pages` kept us from asking for."""


class Frontier:
    def __init__(
        self,
        *,
        root: str,
        listed: Iterable[str] = (),
        known: Mapping[str, Known],
        leftovers: Mapping[str, Known],
        ids: Mapping[str, int],
        aliases: Mapping[str, str],
        why_not: Callable[[str], str | None],
        max_depth: int | None,
        max_pages: int,
    ) -> None:
        self._ids = dict(ids)
        self._urls = {number: url for url, number in ids.items()}
        self._aliases = {self._ids[alias]: self._ids[of] for alias, of in aliases.items()}
        self._known = {page.reference_id: page for page in known.values()}
        self._leftovers = {
            page.reference_id: page for page in leftovers.values() if page.reference_id not in self._known
        }
        self._why_not = why_not
        self._max_depth = max_depth
        self._max_pages = max_pages

        self._depth: dict[int, int] = {}
        self._links: dict[int, Sequence[int]] = {}
        self._too_deep: set[int] = set()
        self._queue: list[tuple[int, int, int]] = []
        self._deferred: list[tuple[int, int, int]] = []
        self._pushed = 0
        self._in_flight = 0
        self._gone: set[int] = set()
        self._failed: set[int] = set()
        self._new: set[int] = set()
        self._new_claimed = 0
        self.ignored: Counter[str] = Counter()

        # Addresses earlier runs met that are no documents: only these can be news on an unchanged page.
        self._unmet = set(self._urls).difference(self._known, self._aliases)
        # The root and what a sitemap lists can be reached without a link.
        self._roots = tuple(dict.fromkeys(self.number(url) for url in (root, *listed)))
        self._cut_before: frozenset[int] = frozenset()
        if len(self._known) >= max_pages:
            self._cut_before = self._linked_already().difference(self._roots[:1])
        for page in self._known.values():
            self._admit(page.reference_id, page.depth)
        for number in self._roots:
            self.discover(number, 0 if number == self._roots[0] else 1)

    # asking

    def next(self) -> Visit | None:
        """The next page to ask for, or None while there is none (answers under way may bring more)."""
        while self._queue:
            _, _, number = heapq.heappop(self._queue)
            is_new = number not in self._known
            if is_new and self._new_claimed >= self._max_pages:
                self._push(self._deferred, number)
                continue
            return self._claim(number, is_new=is_new)
        if self._deferred and not self._in_flight and self._room() > 0:
            return self._claim(heapq.heappop(self._deferred)[2], is_new=True)
        return None

    @property
    def idle(self) -> bool:
        """Nothing is under way; with `next()` None, the crawl is over."""
        return self._in_flight == 0

    @property
    def queued(self) -> int:
        return len(self._queue)

    def number(self, url: str) -> int:
        number = self._ids.get(url)
        if number is None:
            number = self._ids[url] = -len(self._ids) - 1
            self._urls[number] = url
        return number

    def discover(self, number: int, depth: int) -> None:
        """A page links to this address, or a listing names it."""
        number = self._aliases.get(number, number)
        met = self._depth.get(number)
        if met is not None:
            if depth < met:
                self._shorten(number, depth)
            return
        self._unmet.discard(number)
        reason = self._why_not(self._urls[number])
        if reason is not None:
            self._depth[number] = depth
            self._links[number] = ()
            self.ignored[reason] += 1
        elif self._max_depth is not None and depth > self._max_depth:
            self._too_deep.add(number)
        else:
            self._too_deep.discard(number)
            self._admit(number, depth)

    # answers: each visit ends in exactly one of these

    def unchanged(self, visit: Visit) -> None:
        """Its stored links are as good as fresh ones."""
        self._in_flight -= 1
        known = visit.known
        if visit.id not in self._known:
            self._new.add(visit.id)
        self._follow(visit, known.links if known else ())

    def document(self, visit: Visit, links: Iterable[str]) -> None:
        """It answered with a document that has these links."""
        self._in_flight -= 1
        if visit.id not in self._known:
            self._new.add(visit.id)
        self._follow(visit, [self.number(url) for url in links])

    def moved(self, visit: Visit, to: str, *, alias: bool = False) -> bool:
        """It is another name of `to`. True when `to` was not asked for in this run and is not queued."""
        self._not_a_document(visit)
        number = self.number(to)
        fresh = number not in self._depth
        self._links[visit.id] = (number,)
        if alias:
            self._aliases[visit.id] = number
        else:
            self.discover(number, visit.depth)
        return fresh

    def adopt(self, url: str, depth: int) -> Visit:
        """Take an address as visited whose body came under another name (a canonical link)."""
        number = self.number(url)
        self._unmet.discard(number)
        self._depth[number] = depth
        return self._claim(number, is_new=number not in self._known)

    def gone(self, visit: Visit) -> None:
        self._not_a_document(visit)
        self._links[visit.id] = ()

    def failed(self, visit: Visit) -> None:
        """No word on it: a known page counts with what is stored, a new one leaves a gap in the graph."""
        self._in_flight -= 1
        self._failed.add(visit.id)
        if visit.known is not None and visit.known.document_id:
            self._follow(visit, visit.known.links)
        elif visit.id not in self._known:
            self._new_claimed -= 1

    # the end

    def settle(self, *, complete: bool, keep_orphans: bool) -> Settlement:
        """`complete` is False when a listing was cut short: then nothing is an orphan."""
        order = self._reachable()
        alive = [page for number, page in self._known.items() if number not in self._gone]
        unlinked = [
            page for page in alive if page.reference_id not in order and page.reference_id not in self._failed
        ]
        # Pages we have no word of may lead anywhere: then a missing link proves nothing.
        gaps = not complete or bool(self._deferred) or any(n not in self._known for n in self._failed)
        orphaned = () if keep_orphans or gaps else tuple(unlinked)
        kept = len(unlinked) if gaps and not keep_orphans else 0
        if self._too_deep:
            self.ignored["too_deep"] = len(self._too_deep)
        displaced: tuple[Known, ...] = ()
        excess = len(alive) - len(orphaned) + len(self._new) - self._max_pages
        if excess > 0 and complete:
            dropped = {page.reference_id for page in orphaned}
            displaced = self._least_needed([p for p in alive if p.reference_id not in dropped], order, excess)
        return Settlement(orphaned, displaced, kept, len(self._deferred))

    # inside

    def _admit(self, number: int, depth: int) -> None:
        self._depth[number] = depth
        self._push(self._deferred if number in self._cut_before else self._queue, number)

    def _push(self, heap: list[tuple[int, int, int]], number: int) -> None:
        self._pushed += 1
        heapq.heappush(heap, (self._depth[number], self._pushed, number))

    def _claim(self, number: int, *, is_new: bool) -> Visit:
        self._in_flight += 1
        if is_new:
            self._new_claimed += 1
        known = self._known.get(number) or self._leftovers.get(number)
        return Visit(number, self._urls[number], self._depth[number], known)

    def _not_a_document(self, visit: Visit) -> None:
        self._in_flight -= 1
        if visit.id in self._known:
            self._gone.add(visit.id)
        else:
            self._new_claimed -= 1

    def _follow(self, visit: Visit, links: Sequence[int]) -> None:
        self._links[visit.id] = links
        depth = self._depth[visit.id] + 1
        if visit.known is not None and links is visit.known.links and self._max_depth is None:
            # The hot path of a refresh: all but the unmet addresses are queued already.
            if self._unmet:
                for number in [n for n in links if n in self._unmet]:
                    self.discover(number, depth)
            return
        for number in links:
            self.discover(number, depth)

    def _shorten(self, number: int, depth: int) -> None:
        """A shorter way to a page was found after a longer one; its own links come nearer too."""
        self._depth[number] = depth
        for link in self._links.get(number, ()):
            self.discover(link, depth + 1)

    def _room(self) -> int:
        return self._max_pages - (len(self._known) - len(self._gone)) - self._new_claimed

    def _linked_already(self) -> frozenset[int]:
        """Addresses that were linked before and are no documents: at the limit they do not come first."""
        linked: set[int] = set()
        for page in self._known.values():
            linked.update(page.links)
        return frozenset(linked.difference(self._known))

    def _reachable(self) -> dict[int, int | None]:
        """Every page that roots lead to, in breadth-first order, with the page it was reached from."""
        order: dict[int, int | None] = dict.fromkeys(self._roots)
        level: list[int] = list(self._roots)
        while level:
            below: list[int] = []
            for page in level:
                for link in self._links.get(page, ()):
                    number = self._aliases.get(link, link) if self._aliases else link
                    if number not in order:
                        order[number] = page
                        below.append(number)
            level = below
        return order

    def _least_needed(
        self, pages: Sequence[Known], order: Mapping[int, int | None], excess: int
    ) -> tuple[Known, ...]:
        """The deepest known pages, but none that leads to a page found in this run."""
        needed: set[int | None] = set()
        for number in self._new:
            step: int | None = number
            while step is not None and step not in needed:
                needed.add(step)
                step = order.get(step)
        rank = {number: position for position, number in enumerate(order)}
        free = [page for page in pages if page.reference_id not in needed]
        free.sort(key=lambda page: rank.get(page.reference_id, len(rank)))
        return tuple(free[-excess:])
