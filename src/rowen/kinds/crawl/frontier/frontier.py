"""Which pages of a site to ask for next, and what the answers mean for the whole.

The frontier decides; it fetches nothing and stores nothing. Known pages are all asked first, so that a
refresh need not wait for one answer to learn the next question. Then the frontier walks the site in its order
(`walk.py`). When the walk is over, `settle` looks at the whole: what redirects came to, and which known pages
nothing leads to any more. A verdict that depends on other pages waits until then, so that no error
elsewhere turns into a deletion here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from rowen.core.document import Known
from rowen.core.rules.left_out import OVER_MAX_PAGES, TOO_DEEP
from rowen.kinds.crawl.frontier.answers import Answers
from rowen.kinds.crawl.frontier.order import key_of
from rowen.kinds.crawl.frontier.walk import ROOT, Walk
from rowen.kinds.crawl.visits import Settlement, Visit, start_of


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
        max_endless: int | None = None,
        strict_depth: bool = False,
        listed_all: bool = True,
        sooner: Sequence[str] = (),
    ) -> None:
        """`closed` says which known pages robots.txt forbids; `strict_depth` measures depths anew.

        Without `listed_all` the listing was cut short: no known page makes room for a new one. The known
        pages of `sooner` come first, in their order.
        """
        self._answers = answers = Answers(known=known, leftovers=leftovers, ids=ids, aliases=aliases)
        self._known = answers.known
        self._walk = Walk(
            answers,
            why_not=why_not,
            max_depth=max_depth,
            max_pages=max_pages,
            max_endless=max_endless,
            strict_depth=strict_depth,
            listed_all=listed_all,
        )
        self._max_pages = max_pages
        self.ignored = self._walk.ignored
        self.released = answers.released

        first = self.number(root)
        answers.aliases.pop(first, None)
        self._forbidden = tuple(page for page in self._known.values() if closed(page.reference))
        for page in self._forbidden:
            answers.is_nothing(page.reference_id)
        self._walk.put(first, ROOT, 0)
        ahead = [page for page in self._known.values() if page.reference_id not in answers.gone]
        ahead.sort(key=lambda page: page.depth)
        if sooner:
            order = {url: place for place, url in enumerate(sooner)}
            ahead.sort(key=lambda page: order.get(page.reference, len(order)))
        self._sooner = {known[url].reference_id for url in sooner if url in known}
        self._ahead = [page.reference_id for page in ahead if page.reference_id != first]
        if first in self._walk.order and first not in answers.gone:
            self._ahead.insert(0, first)
        self._ahead.reverse()
        self.queued_known = sum(number in self._known for number in self._ahead)
        """Pages to ask for that readers see a version of."""
        self._walk.unasked = 0  # the root comes first
        self._listed = tuple(dict.fromkeys(self.number(url) for url in listed))

    # asking

    def next(self) -> Visit | None:
        """The next page to ask for, or None while there is none (answers under way may bring more)."""
        while self._ahead:
            if (visit := self._next_ahead()) is not None:
                return visit
        if not self._walk.begun:
            if self._answers.in_flight:
                return None
            self._walk.begin(self._listed)
        return self._walk.next()

    def next_sooner(self) -> Visit | None:
        """The next of the pages that come before all others; None when there is no more of them."""
        while self._ahead and self._ahead[-1] in self._sooner:
            if (visit := self._next_ahead()) is not None:
                return visit
        return None

    def _next_ahead(self) -> Visit | None:
        number = self._ahead.pop()
        self.queued_known -= number in self._known
        if number in self._answers.claimed:
            return None
        known = self._known.get(number)
        return self._answers.claim(number, known.depth if known else 0)

    def claim(self, url: str, depth: int) -> Visit | None:
        """This page next, before all others; None when it was asked for already or may not be.

        It is the canonical address of a page under way, whose seat it takes if it is a page.
        """
        number, answers = self.number(url), self._answers
        if number in answers.claimed or number in answers.links or number in self._walk.left_out:
            return None
        self._walk.unasked -= number in self._walk.order
        return answers.claim(number, depth)

    @property
    def queued(self) -> int:
        return len(self._ahead) + self._walk.queued

    @property
    def queued_new(self) -> int:
        """Pages to ask for that no reader sees a version of, as far as there are seats."""
        return self._walk.queued

    def number(self, url: str) -> int:
        return self._answers.number(url)

    def is_met(self, url: str) -> bool:
        """Readers see it, or a page that was looked at links to it."""
        number = self._answers.met(url)
        return number is not None and (number in self._known or number in self._walk.order)

    def is_under_way(self, url: str) -> bool:
        return self.number(url) in self._answers.in_flight

    def is_document(self, url: str) -> bool:
        """It answered in this run, with a document or with 304 for the known one."""
        return self.number(url) in self._answers.documents

    # answers: each visit ends in exactly one of these

    def unchanged(self, visit: Visit) -> None:
        """Its stored links are as good as fresh ones."""
        self._is_document(visit, visit.known.links if visit.known else ())

    def document(self, visit: Visit, links: Iterable[str]) -> None:
        """It answered with a document that has these links."""
        self._is_document(visit, [self.number(url) for url in links])

    def duplicate(self, visit: Visit, of: str) -> None:
        """It is another name of a page that answered in this run."""
        self._answers.same[visit.id] = self._answers.aliases[visit.id] = self.number(of)
        if self._not_a_document(visit):
            self._walk.seat_other_name(visit.id)

    def is_also(self, visit: Visit, url: str) -> bool:
        """Another name of this page; False when that name is a page of its own."""
        number = self.number(url)
        if number in self._known or number in self._answers.claimed:
            return False
        self._answers.aliases[number] = visit.id
        return True

    def moved(self, visit: Visit, to: str) -> None:
        """It redirects; what becomes of it is known when its target has answered."""
        self._answers.moved[visit.id] = self.number(to)
        self.gone(visit)

    def gone(self, visit: Visit) -> None:
        self._not_a_document(visit)
        self._answers.release(visit.id)

    def asks_to_log_in(self, visit: Visit) -> None:
        """No document; and a page that redirects here is not gone, but behind the login."""
        self._answers.logins.add(visit.id)
        self._not_a_document(visit)

    def failed(self, visit: Visit, *, for_now: bool = True) -> None:
        """A known page counts with what is stored, a new one leaves a gap in the graph.

        `for_now` says that the next run may find a page there.
        """
        self._answers.has_failed(visit.id, for_now=for_now)
        self._walk.has_failed(visit.id)

    def _is_document(self, visit: Visit, links: Sequence[int]) -> None:
        self._answers.is_document(visit.id, links)
        self._walk.is_document(visit.id)

    def _not_a_document(self, visit: Visit) -> bool:
        """Was it asked for in the walk?"""
        self._answers.is_nothing(visit.id)
        return self._walk.is_nothing(visit.id)

    # the end

    def progress(self) -> dict[str, str | None]:
        """What the next run need not ask if this one is cut off."""
        return self._answers.progress()

    def settle(self, *, complete: bool, keep_orphans: bool) -> Settlement:
        """`complete` is False when a listing was cut short: then nothing is an orphan."""
        answers, walk = self._answers, self._walk
        # New pages that did not answer may lead anywhere: then a missing link proves nothing.
        gaps = not complete or any(number not in self._known for number in answers.failed)
        moved, astray = answers.judge_moves(walk.order, gaps=gaps or keep_orphans)
        alive = [page for number, page in self._known.items() if number not in answers.gone]
        unlinked = [
            page
            for page in alive
            if page.reference_id not in walk.order and page.reference_id not in answers.failed
        ]
        orphaned = [] if keep_orphans or gaps else unlinked
        kept = len(unlinked) if gaps and not keep_orphans else 0
        if walk.too_deep:
            self.ignored[TOO_DEEP] = len(walk.too_deep)
        self.ignored.update(walk.left_out.values())
        self.ignored.update(walk.displaced.values() if complete else ())
        loops = [n for n in answers.moved if n not in self._known and answers.end_of(n) in answers.moved]
        if len(loops) > len(walk.too_long):
            self.ignored["redirect_loop"] = len(loops) - len(walk.too_long)
        displaced = dict(walk.displaced)
        if complete and not orphaned:
            # What is kept without a link comes after everything that has one.
            unlinked.sort(key=lambda page: (page.depth, key_of(page.reference)))
            excess = len(alive) - len(displaced) + len(answers.new) - self._max_pages
            last = unlinked[-excess:] if excess > 0 else ()
            displaced |= dict.fromkeys((page.reference_id for page in last), OVER_MAX_PAGES)
        return Settlement(
            tuple(orphaned),
            tuple((self._known[number], why) for number, why in displaced.items()) if complete else (),
            tuple(moved),
            tuple(astray),
            self._forbidden,
            kept,
            not complete,
            tuple((answers.urls[start_of(n, answers.moved)], answers.urls[n]) for n in walk.too_long),
        )
