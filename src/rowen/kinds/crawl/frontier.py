"""Which pages of a site to ask for next, and what the answers mean for the whole.

The frontier decides; it fetches nothing and stores nothing. Pages are numbers here: the store's reference
ids, and numbers below zero for addresses met for the first time in this run.

Known pages are all asked, from their stored depth, so that a refresh need not wait for one answer to learn
the next question. New pages are asked when a page links to them. When everything has been answered, `settle`
looks at the whole: what redirects came to, and which known pages nothing leads to any more. A verdict that
depends on other pages waits until then, so that no error elsewhere turns into a deletion here.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from rowen.core.document import Known
from rowen.kinds.crawl.visits import Move, Settlement, Visit, end_of


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
        closed: Callable[[str], bool] = lambda url: False,
        max_depth: int | None,
        max_pages: int,
        strict_depth: bool = False,
    ) -> None:
        """`closed` says which known pages robots.txt forbids; `strict_depth` measures depths anew."""
        self._ids = dict(ids)
        self._urls = {number: url for url, number in ids.items()}
        self._known = {page.reference_id: page for page in known.values()}
        self._leftovers = {
            page.reference_id: page for page in leftovers.values() if page.reference_id not in self._known
        }
        # Another name stands for a page only while that page is there.
        self._aliases = {
            self._ids[alias]: self._ids[of] for alias, of in aliases.items() if self._ids[of] in self._known
        }
        self._why_not = why_not
        self._max_depth = max_depth
        self._max_pages = max_pages
        self._strict_depth = strict_depth

        self._depth: dict[int, int] = {}
        self._links: dict[int, Sequence[int]] = {}
        self._too_deep: set[int] = set()
        self._queue: list[tuple[int, int, int]] = []
        self._deferred: list[tuple[int, int, int]] = []
        self._pushed = 0
        self._claimed: set[int] = set()
        self._in_flight: set[int] = set()
        self._documents: set[int] = set()
        self._moved: dict[int, int] = {}
        self._gone: set[int] = set()
        self._refused: set[int] = set()
        self._failed: set[int] = set()
        self._new: set[int] = set()
        self._new_claimed = 0
        self.queued_new = 0
        """Pages to ask for that no reader sees a version of."""
        self.queued_known = 0
        """The others."""
        self._diverted: set[int] = set()
        self.ignored: Counter[str] = Counter()
        self.released: list[str] = []
        """Other names that stand for nothing any more."""

        # Addresses earlier runs met that are no documents: only these can be new on an unchanged page.
        self._unmet = set(self._urls).difference(self._known)
        # The root and what a sitemap lists can be reached without a link.
        self._roots = tuple(dict.fromkeys(self.number(url) for url in (root, *listed)))
        self._aliases.pop(self._roots[0], None)
        self._cut_before: frozenset[int] = frozenset()
        if len(self._known) >= max_pages:
            # Addresses that were linked before and are no documents: at the limit they do not come first.
            linked = frozenset[int]().union(*(page.links for page in self._known.values()))
            self._cut_before = linked.difference(self._known, self._roots[:1])
        self._forbidden = tuple(page for page in self._known.values() if closed(page.reference))
        for page in self._forbidden:
            self._depth[page.reference_id] = page.depth
            self._end(page.reference_id, ())
            self._gone.add(page.reference_id)
        for page in self._known.values():
            if page.reference_id not in self._gone:
                self._admit(page.reference_id, page.depth)
        for number in self._roots:
            self.discover(number, 0 if number == self._roots[0] else 1)

    # asking

    def next(self) -> Visit | None:
        """The next page to ask for, or None while there is none (answers under way may bring more)."""
        while self._queue:
            number = heapq.heappop(self._queue)[2]
            if number in self._claimed:
                continue
            if number not in self._known and self._new_claimed >= self._max_pages:
                self._push(self._deferred, number)
                continue
            return self._claim(number)
        while self._deferred and not self._in_flight and self._room() > 0:
            number = heapq.heappop(self._deferred)[2]
            if number not in self._claimed:
                return self._claim(number)
        return None

    def claim(self, url: str, depth: int) -> Visit | None:
        """This page next, before all others; None when it was asked for already or may not be."""
        number = self.number(url)
        self.discover(number, depth, by_name=True)
        if number in self._claimed or number not in self._depth or number in self._links:
            return None
        if number not in self._known and self._new_claimed >= self._max_pages:
            return None
        return self._claim(number)

    @property
    def queued(self) -> int:
        return len(self._queue)

    def number(self, url: str) -> int:
        number = self._ids.get(url)
        if number is None:
            number = self._ids[url] = -len(self._ids) - 1
            self._urls[number] = url
        return number

    def is_under_way(self, url: str) -> bool:
        return self.number(url) in self._in_flight

    def is_document(self, url: str) -> bool:
        """It answered in this run, with a document or with 304 for the known one."""
        return self.number(url) in self._documents

    def discover(self, number: int, depth: int, *, by_name: bool = False) -> None:
        """A page links to this address, or a listing names it; `by_name` means this very spelling."""
        if number in self._aliases and not by_name:
            self._diverted.add(number)
            number = self._aliases[number]
        met = self._depth.get(number)
        if met is not None:
            if depth < met:
                self._shorten(number, depth)
            return
        self._unmet.discard(number)
        reason = self._why_not(self._urls[number])
        if reason is not None:
            self._depth[number] = depth
            self._end(number, ())
            self._refused.add(number)
            self.ignored[reason] += 1
        elif self._max_depth is not None and depth > self._max_depth:
            self._too_deep.add(number)
        else:
            self._too_deep.discard(number)
            self._admit(number, depth)

    # answers: each visit ends in exactly one of these

    def unchanged(self, visit: Visit) -> None:
        """Its stored links are as good as fresh ones."""
        self._is_document(visit)
        self._follow(visit, visit.known.links if visit.known else ())

    def document(self, visit: Visit, links: Iterable[str]) -> None:
        """It answered with a document that has these links."""
        self._is_document(visit)
        self._follow(visit, [self.number(url) for url in links])

    def duplicate(self, visit: Visit, of: str) -> None:
        """It is another name of a page that answered in this run."""
        number = self.number(of)
        self._not_a_document(visit, (number,))
        self._aliases[visit.id] = number

    def is_also(self, visit: Visit, url: str) -> bool:
        """Another name of this page; False when that name is a page of its own."""
        number = self.number(url)
        if number in self._known or number in self._claimed:
            return False
        self._unmet.discard(number)
        self._aliases[number] = visit.id
        return True

    def moved(self, visit: Visit, to: str) -> None:
        """It redirects; what becomes of it is known when its target has answered."""
        number = self.number(to)
        self._not_a_document(visit, (number,))
        self._moved[visit.id] = number
        self._release(visit.id)
        self.discover(number, visit.depth)

    def gone(self, visit: Visit) -> None:
        self._not_a_document(visit, ())
        self._release(visit.id)

    def failed(self, visit: Visit) -> None:
        """A known page counts with what is stored, a new one leaves a gap in the graph."""
        self._failed.add(visit.id)
        if visit.id in self._known:
            self._follow(visit, self._known[visit.id].links)
        else:
            self._new_claimed -= 1
            self._end(visit.id, ())

    # the end

    def progress(self) -> dict[str, str | None]:
        """What the next run need not ask if this one is cut off: "" is a document, None nothing, or a target.

        Of known pages only documents: the others are asked for again before they go.
        """
        done: dict[str, str | None] = {self._urls[number]: "" for number in self._documents}
        for number in self._links:
            if not (number in self._known or number in self._documents or number in self._refused):
                if number in self._moved:
                    done[self._urls[number]] = self._urls[self._moved[number]]
                elif number not in self._failed and number not in self._aliases:
                    done[self._urls[number]] = None
        return done

    def settle(self, *, complete: bool, keep_orphans: bool) -> Settlement:
        """`complete` is False when a listing was cut short: then nothing is an orphan."""
        moved, astray = self._judge_moves()
        order = self._reachable()
        alive = [page for number, page in self._known.items() if number not in self._gone]
        unlinked = [
            page
            for page in alive
            if not self._is_reached(page.reference_id, order) and page.reference_id not in self._failed
        ]
        # Pages that did not answer may lead anywhere: then a missing link proves nothing.
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
        return Settlement(
            orphaned, displaced, tuple(moved), tuple(astray), self._forbidden, kept, len(self._deferred)
        )

    # inside

    def _admit(self, number: int, depth: int) -> None:
        self._depth[number] = depth
        self.queued_new += number not in self._known
        self.queued_known += number in self._known
        self._push(self._deferred if number in self._cut_before else self._queue, number)

    def _push(self, heap: list[tuple[int, int, int]], number: int) -> None:
        self._pushed += 1
        heapq.heappush(heap, (self._depth[number], self._pushed, number))

    def _claim(self, number: int) -> Visit:
        self._claimed.add(number)
        self._in_flight.add(number)
        if number not in self._known:
            self._new_claimed += 1
            self.queued_new -= 1
        else:
            self.queued_known -= 1
        known = self._known.get(number) or self._leftovers.get(number)
        return Visit(number, self._urls[number], self._depth[number], known)

    def _end(self, number: int, links: Sequence[int]) -> None:
        self._in_flight.discard(number)
        self._links[number] = links

    def _is_document(self, visit: Visit) -> None:
        self._documents.add(visit.id)
        if visit.id not in self._known:
            self._new.add(visit.id)

    def _not_a_document(self, visit: Visit, links: Sequence[int]) -> None:
        self._end(visit.id, links)
        if visit.id in self._known:
            self._gone.add(visit.id)
        else:
            self._new_claimed -= 1

    def _release(self, number: int) -> None:
        """A page is not there any more: its other names have to speak for themselves."""
        for alias in [alias for alias, of in self._aliases.items() if of == number]:
            del self._aliases[alias]
            self.released.append(self._urls[alias])
            if alias in self._diverted:
                self.discover(alias, self._depth[number])

    def _follow(self, visit: Visit, links: Sequence[int]) -> None:
        self._end(visit.id, links)
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

    def _judge_moves(self) -> tuple[list[Move], list[Move]]:
        """What redirects of known pages came to. Those that came to nothing certain are not gone."""
        moved: list[Move] = []
        astray: list[Move] = []
        inherited: set[int] = set()
        for number in self._moved:
            page = self._known.get(number)
            if page is None:
                continue
            end = end_of(number, self._moved, self._aliases)
            target = self._urls[self._moved[number]]
            if end in self._documents:
                # A text moves once: to a page that is new, and that no other page moved to.
                lost = end not in self._new or end in inherited
                inherited.add(end)
                moved.append(Move(page, target, lost))
            elif self._is_certainly_nothing(end):
                moved.append(Move(page, target, lost=True))
            else:
                self._gone.discard(number)
                self._failed.add(number)
                self._links[number] = (self._moved[number], *page.links)
                astray.append(Move(page, target, lost=False))
        return moved, astray

    def _is_certainly_nothing(self, number: int) -> bool:
        """It was asked, and answered that there is no document."""
        answered = number in self._links and number not in self._refused
        return answered and number not in self._failed and number not in self._moved

    def _reachable(self) -> dict[int, tuple[int | None, int]]:
        """Every page that roots lead to, nearest first: the page it was reached from, and how far it is."""
        order: dict[int, tuple[int | None, int]] = dict.fromkeys(self._roots, (None, 0))
        level: list[int] = list(self._roots)
        distance = 0
        while level:
            distance += 1
            below: list[int] = []
            for page in level:
                for link in self._links.get(page, ()):
                    number = self._aliases.get(link, link) if self._aliases else link
                    if number not in order:
                        order[number] = (page, distance)
                        below.append(number)
            level = below
        return order

    def _is_reached(self, number: int, order: Mapping[int, tuple[int | None, int]]) -> bool:
        found = order.get(number)
        if found is None:
            return False
        return not self._strict_depth or self._max_depth is None or found[1] <= self._max_depth

    def _least_needed(
        self, pages: Sequence[Known], order: Mapping[int, tuple[int | None, int]], excess: int
    ) -> tuple[Known, ...]:
        """The deepest known pages, but none that leads to a page found in this run."""
        needed: set[int | None] = set()
        for number in self._new:
            step: int | None = number
            while step is not None and step not in needed:
                needed.add(step)
                step = order[step][0] if step in order else None
        rank = {number: position for position, number in enumerate(order)}
        free = [page for page in pages if page.reference_id not in needed]
        free.sort(key=lambda page: rank.get(page.reference_id, len(rank)))
        return tuple(free[-excess:])
