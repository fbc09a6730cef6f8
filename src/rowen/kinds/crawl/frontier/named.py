"""The frontier of a run that names pages: those, and the new pages they link to; nothing else is asked for.

What a named page answers counts as in any crawl; other pages are not asked, so no page is an orphan here, and
none is displaced.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence

from rowen.core.document import Known
from rowen.core.rules.left_out import OVER_MAX_PAGES, TOO_DEEP
from rowen.core.web.urls import normalise
from rowen.fetching.redirects import MAX_REDIRECTS
from rowen.kinds.crawl.visits import Move, Settlement, Visit, end_of, start_of

NOT_AN_ADDRESS = "not_an_address"


def pages_in_scope(
    named: Sequence[str],
    *,
    base: str,
    aliases: Mapping[str, str],
    why_not: Callable[[str], str | None],
    ignored: Counter[str],
) -> list[str]:
    """The pages to ask for; another name of a page stands for it. Addresses out of scope are counted."""
    pages: dict[str, None] = {}
    for text in named:
        url = normalise(text, base)
        if url is None:
            ignored[NOT_AN_ADDRESS] += 1
            continue
        url = aliases.get(url, url)
        reason = why_not(url)
        if reason is None:
            pages[url] = None
        else:
            ignored[reason] += 1
    return list(pages)


class NamedFrontier:
    def __init__(
        self,
        *,
        root: str,
        named: Sequence[str],
        known: Mapping[str, Known],
        leftovers: Mapping[str, Known],
        urls: Mapping[int, str],
        aliases: Mapping[str, str],
        why_not: Callable[[str], str | None],
        max_depth: int | None,
        max_pages: int,
        follows: bool = True,
        far: bool = False,
    ) -> None:
        """`urls` are the addresses behind the numbers of stored links.

        Without `follows` new links of named pages are left for the next crawl; with `far` those of new pages
        are asked for, too.
        """
        self._follows, self._far = follows, far
        self._known = known
        self._leftovers = leftovers
        self._urls = urls
        self._aliases = dict(aliases)
        self._why_not = why_not
        self._max_depth = max_depth
        self._room = max_pages - len(known)
        self._queue: deque[tuple[str, int]] = deque()
        self._met: set[str] = set()
        self._in_flight: set[str] = set()
        self._documents: set[str] = set()
        self._gone: set[str] = set()
        self._moved: dict[str, str] = {}
        self._redirects: dict[str, int] = {}
        """On the way to a page."""
        self._too_long: list[tuple[str, str]] = []
        self.ignored: Counter[str] = Counter()
        self.released: list[str] = []
        """Other names that stand for nothing any more: a complete crawl finds those."""
        self._named = frozenset(named)
        for url in named:
            page = known.get(url)
            if page is None:
                self._discover(url, int(url != root))
            else:
                self._meet(url, page.depth)

    # asking

    def next(self) -> Visit | None:
        while self._queue:
            visit = self._claim(*self._queue.popleft())
            if visit is not None:
                return visit
        return None

    def claim(self, url: str, depth: int) -> Visit | None:
        """This page next; None when it was met already, or readers see it."""
        if url in self._met or url in self._known:
            return None
        self._met.add(url)
        return self._claim(url, depth)

    @property
    def queued(self) -> int:
        return len(self._queue)

    def is_met(self, url: str) -> bool:
        return url in self._met or url in self._known

    def is_under_way(self, url: str) -> bool:
        return url in self._in_flight

    def is_document(self, url: str) -> bool:
        """It answered with a document, or it is one and was not to be asked for."""
        return url in self._documents or (url in self._known and url not in self._met)

    # answers: each visit ends in exactly one of these

    def unchanged(self, visit: Visit) -> None:
        self._answered(visit)

    def document(self, visit: Visit, links: Iterable[str]) -> None:
        self._answered(visit)
        if not self._follows or (visit.url not in self._named and not self._far):
            return
        # What the page linked to before and is no document was asked for then; a complete crawl asks again.
        before = {self._urls[number] for number in visit.known.links} if visit.known else set()
        for url in links:
            url = self._aliases.get(url, url)
            if url not in self._known and url not in before:
                self._discover(url, visit.depth + 1)

    def duplicate(self, visit: Visit, of: str) -> None:
        self._ended(visit)
        self._aliases[visit.url] = of

    def is_also(self, visit: Visit, url: str) -> bool:
        if url in self._known or url in self._met:
            return False
        self._aliases[url] = visit.url
        return True

    def moved(self, visit: Visit, to: str) -> None:
        self._ended(visit)
        self._moved[visit.url] = to
        redirects = self._redirects.get(visit.url, 0) + 1
        if to in self._known or to in self._met:
            return
        if redirects <= MAX_REDIRECTS:
            self._redirects[to] = redirects
            self._discover(to, visit.depth)
            return
        start = start_of(visit.url, self._moved)
        if start not in self._known:
            self._too_long.append((start, visit.url))

    def gone(self, visit: Visit) -> None:
        self._ended(visit)
        self._gone.add(visit.url)

    def asks_to_log_in(self, visit: Visit) -> None:
        """What redirects here is not gone."""
        self.failed(visit)

    def failed(self, visit: Visit, *, for_now: bool = True) -> None:
        self._ended(visit)

    # the end

    def settle(self, *, complete: bool, keep_orphans: bool) -> Settlement:
        moved: list[Move] = []
        astray: list[Move] = []
        inherited: set[str] = set()
        for url, target in self._moved.items():
            page = self._known.get(url)
            if page is None:
                continue
            end = end_of(url, self._moved, self._aliases)
            if self.is_document(end):
                # A text moves once: to a page that is new, and that no other page moved to.
                moved.append(Move(page, target, lost=end in self._known or end in inherited))
                inherited.add(end)
            elif end in self._gone:
                moved.append(Move(page, target, lost=True))
            else:
                astray.append(Move(page, target, lost=False))
        return Settlement((), (), tuple(moved), tuple(astray), (), 0, endless=tuple(self._too_long))

    # inside

    def _discover(self, url: str, depth: int) -> None:
        if url in self._met:
            return
        reason = self._why_not(url)
        if reason is None and self._max_depth is not None and depth > self._max_depth:
            reason = TOO_DEEP
        if reason is None:
            self._meet(url, depth)
        else:
            self._met.add(url)
            self.ignored[reason] += 1

    def _meet(self, url: str, depth: int) -> None:
        self._met.add(url)
        self._queue.append((url, depth))

    def _claim(self, url: str, depth: int) -> Visit | None:
        known = self._known.get(url)
        if known is None:
            if self._room <= 0:
                self.ignored[OVER_MAX_PAGES] += 1
                return None
            self._room -= 1
        self._in_flight.add(url)
        known = known or self._leftovers.get(url)
        # Links are addresses here, so a page that has no number needs none.
        return Visit(known.reference_id if known else 0, url, depth, known)

    def _answered(self, visit: Visit) -> None:
        self._in_flight.discard(visit.url)
        self._documents.add(visit.url)

    def _ended(self, visit: Visit) -> None:
        self._in_flight.discard(visit.url)
        # A new address that is no document takes no place.
        self._room += visit.url not in self._known
