"""Which pages of a site to ask for next, and what the answers mean for the whole.

The frontier decides; it fetches nothing and stores nothing. Pages are numbers here: the store's reference
ids, and numbers below zero for addresses met for the first time in this run.

Known pages are all asked first, so that a refresh need not wait for one answer to learn the next question.
Then the frontier walks the site in its order (`order.py`), place by place: pages that answered take their
seats, new pages are asked for while there are seats, and the links of a place are looked at when all of it
has answered. When the walk is over, `settle` looks at the whole: what redirects came to, and which known
pages nothing leads to any more. A verdict that depends on other pages waits until then, so that no error
elsewhere turns into a deletion here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from rowen.core.document import Known
from rowen.core.rules.left_out import OVER_MAX_PAGES, TOO_DEEP
from rowen.kinds.crawl.endless import Endless, Rank
from rowen.kinds.crawl.order import Answer, Key, Order, Place, Seats, key_of
from rowen.kinds.crawl.visits import Move, Settlement, Visit, end_of, start_of


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
        listed_all: bool = True,
    ) -> None:
        """`closed` says which known pages robots.txt forbids; `strict_depth` measures depths anew.

        Without `listed_all` the listing was cut short: no known page makes room for a new one.
        """
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
        self._listed_all = listed_all

        # what answered
        self._claimed: set[int] = set()
        self._in_flight: set[int] = set()
        self._links: dict[int, Sequence[int]] = {}
        """Of every page that has answered, one way or another."""
        self._documents: set[int] = set()
        self._moved: dict[int, int] = {}
        self._same: dict[int, int] = {}
        """Pages that turned out in this run to be other names of pages."""
        self._gone: set[int] = set()
        self._failed: set[int] = set()
        self._for_now: set[int] = set()
        """Of those that failed: new ones that may answer next time."""
        self._logins: set[int] = set()
        self._new: set[int] = set()

        # the walk
        self._order = Order()
        self._seats = Seats(max_pages)
        self._endless = Endless()
        self._depth: dict[int, int] = {}
        """What `max_depth` is compared with: of a known page the stored depth, unless it is measured anew."""
        self._placed: set[int] = set()
        """Pages that no further link can bring nearer: the hot path of the walk."""
        self._ranks: dict[int, Rank] = {}
        """By the first page that leads to an address."""
        self._too_deep: set[int] = set()
        self._refused: set[int] = set()
        self._place = Place(0, 0, 0)
        self._line: list[int] = []
        self._at = 0
        self._seated: set[int] = set()
        self._looked_at: set[int] = set()
        """Pages whose links were looked at."""
        self._displaced: dict[int, str] = {}
        self._left_out: dict[int, str] = {}
        self._too_long: list[int] = []
        self._judged = False
        self._unasked = 0
        self.queued_known = 0
        """Pages to ask for that readers see a version of."""
        self.ignored: Counter[str] = Counter()
        self.released: list[str] = []
        """Other names that stand for nothing any more."""

        first = self.number(root)
        self._aliases.pop(first, None)
        self._forbidden = tuple(page for page in self._known.values() if closed(page.reference))
        for page in self._forbidden:
            self._end(page.reference_id, ())
            self._gone.add(page.reference_id)
        self._put(first, Place(0, 0, 0), 0)
        ahead = [page for page in self._known.values() if page.reference_id not in self._gone]
        ahead.sort(key=lambda page: page.depth)
        self._ahead = [page.reference_id for page in ahead if page.reference_id != first]
        if first in self._order and first not in self._gone:
            self._ahead.insert(0, first)
        self._ahead.reverse()
        self.queued_known = sum(number in self._known for number in self._ahead)
        self._unasked = 0  # the root comes first
        self._listed = tuple(dict.fromkeys(self.number(url) for url in listed))
        self._walking = False

    # asking

    def next(self) -> Visit | None:
        """The next page to ask for, or None while there is none (answers under way may bring more)."""
        while self._ahead:
            number = self._ahead.pop()
            self.queued_known -= number in self._known
            if number not in self._claimed:
                return self._claim(number, 0 if number not in self._known else self._known[number].depth)
        if not self._walking:
            if self._in_flight:
                return None
            self._walking = True
            for number in self._listed:
                self._put(number, Place(0, 1, 0), 1)
        return self._walk()

    def claim(self, url: str, depth: int) -> Visit | None:
        """This page next, before all others; None when it was asked for already or may not be.

        It is the canonical address of a page under way, whose seat it takes if it is a page.
        """
        number = self.number(url)
        if number in self._claimed or number in self._links or number in self._left_out:
            return None
        self._unasked -= number in self._order
        return self._claim(number, depth)

    @property
    def queued(self) -> int:
        return len(self._ahead) + self.queued_new

    @property
    def queued_new(self) -> int:
        """Pages to ask for that no reader sees a version of, as far as there are seats."""
        return max(0, min(self._unasked, self._seats.free))

    def number(self, url: str) -> int:
        number = self._ids.get(url)
        if number is None:
            number = self._ids[url] = -len(self._ids) - 1
            self._urls[number] = url
        return number

    def is_met(self, url: str) -> bool:
        """Readers see it, or a page that was looked at links to it."""
        number = self._ids.get(url)
        return number is not None and (number in self._known or number in self._order)

    def is_under_way(self, url: str) -> bool:
        return self.number(url) in self._in_flight

    def is_document(self, url: str) -> bool:
        """It answered in this run, with a document or with 304 for the known one."""
        return self.number(url) in self._documents

    # answers: each visit ends in exactly one of these

    def unchanged(self, visit: Visit) -> None:
        """Its stored links are as good as fresh ones."""
        self._is_document(visit, visit.known.links if visit.known else ())

    def document(self, visit: Visit, links: Iterable[str]) -> None:
        """It answered with a document that has these links."""
        self._is_document(visit, [self.number(url) for url in links])

    def duplicate(self, visit: Visit, of: str) -> None:
        """It is another name of a page that answered in this run."""
        walked = self._seats.is_asked(visit.id)
        self._same[visit.id] = self._aliases[visit.id] = self.number(of)
        self._not_a_document(visit)
        if walked:
            self._seat_other_name(visit.id)

    def is_also(self, visit: Visit, url: str) -> bool:
        """Another name of this page; False when that name is a page of its own."""
        number = self.number(url)
        if number in self._known or number in self._claimed:
            return False
        self._aliases[number] = visit.id
        return True

    def moved(self, visit: Visit, to: str) -> None:
        """It redirects; what becomes of it is known when its target has answered."""
        self._moved[visit.id] = self.number(to)
        self._not_a_document(visit)
        self._release(visit.id)

    def gone(self, visit: Visit) -> None:
        self._not_a_document(visit)
        self._release(visit.id)

    def asks_to_log_in(self, visit: Visit) -> None:
        """No document; and a page that redirects here is not gone, but behind the login."""
        self._logins.add(visit.id)
        self._not_a_document(visit)

    def failed(self, visit: Visit, *, for_now: bool = True) -> None:
        """A known page counts with what is stored, a new one leaves a gap in the graph.

        `for_now` says that the next run may find a page there.
        """
        self._failed.add(visit.id)
        known = self._known.get(visit.id)
        self._end(visit.id, known.links if known else ())
        if known is None and for_now:
            self._for_now.add(visit.id)
        if self._seats.is_asked(visit.id):
            self._seats.end(visit.id)
            self._miss(visit.id)

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
                elif not any(number in some for some in (self._failed, self._aliases, self._logins)):
                    done[self._urls[number]] = None
        return done

    def settle(self, *, complete: bool, keep_orphans: bool) -> Settlement:
        """`complete` is False when a listing was cut short: then nothing is an orphan."""
        # New pages that did not answer may lead anywhere: then a missing link proves nothing.
        gaps = not complete or any(number not in self._known for number in self._failed)
        moved, astray = self._judge_moves(gaps=gaps or keep_orphans)
        alive = [page for number, page in self._known.items() if number not in self._gone]
        unlinked = [
            page
            for page in alive
            if page.reference_id not in self._order and page.reference_id not in self._failed
        ]
        orphaned = [] if keep_orphans or gaps else unlinked
        kept = len(unlinked) if gaps and not keep_orphans else 0
        if self._too_deep:
            self.ignored[TOO_DEEP] = len(self._too_deep)
        self.ignored.update(self._left_out.values())
        self.ignored.update(self._displaced.values() if complete else ())
        loops = [n for n in self._moved if n not in self._known and self._end_of(n) in self._moved]
        if len(loops) > len(self._too_long):
            self.ignored["redirect_loop"] = len(loops) - len(self._too_long)
        displaced = dict(self._displaced)
        if complete and not orphaned:
            # What is kept without a link comes after everything that has one.
            unlinked.sort(key=lambda page: (page.depth, key_of(page.reference)))
            excess = len(alive) - len(displaced) + len(self._new) - self._max_pages
            last = unlinked[-excess:] if excess > 0 else ()
            displaced |= dict.fromkeys((page.reference_id for page in last), OVER_MAX_PAGES)
        return Settlement(
            tuple(orphaned),
            tuple((self._known[number], why) for number, why in displaced.items()) if complete else (),
            tuple(moved),
            tuple(astray),
            self._forbidden,
            kept,
            tuple((self._urls[start_of(n, self._moved)], self._urls[n]) for n in self._too_long),
        )

    # the walk

    def _walk(self) -> Visit | None:
        while True:
            while self._at < len(self._line):
                number = self._line[self._at]
                if number in self._in_flight or self._seat(number) is Answer.WAIT:
                    return None
                self._at += 1
                if number not in self._links and number not in self._left_out:
                    self._seats.ask(number, endless=self._place.rank >= Rank.ENDLESS)
                    return self._claim(number, self._place.depth)
            if self._in_flight:
                return None
            for number in self._line:
                self._look_at_links(self._same.get(number, number))
            opened = self._order.open() or self._open_after_moves()
            if opened is None:
                self._line, self._at = [], 0
                return None
            self._place, self._at = opened[0], 0
            self._line = [number for number in opened[1] if not self._comes_later(number)]

    def _seat(self, number: int) -> Answer:
        """Give a page its seat, or say why there is none; a new page is asked for next."""
        if number not in self._links:
            verdict = self._seats.for_new(self._place.rank)
            if verdict == Answer.YES and not self._listed_all and not self._has_room():
                verdict = OVER_MAX_PAGES
            if verdict == Answer.WAIT:
                return Answer.WAIT
            self._unasked -= 1
            if verdict != Answer.YES:
                self._left_out[number] = verdict
        elif number in self._same:
            self._seats.miss()
            self._seat_other_name(number)
        elif number in self._documents or (number in self._known and number in self._failed):
            return self._seat_answered(number)
        else:
            self._miss(number)
        return Answer.YES

    def _seat_answered(self, number: int) -> Answer:
        if number in self._seated:
            return Answer.YES
        verdict = self._seats.for_known(self._place.rank)
        if verdict == Answer.WAIT:
            return Answer.WAIT
        if verdict == Answer.YES or number in self._new:
            self._seated.add(number)
            self._seats.take(endless=self._place.rank >= Rank.ENDLESS)
        elif number not in self._failed:
            self._displaced[number] = verdict
        return Answer.YES

    def _seat_other_name(self, number: int) -> None:
        """The page that an address is another name of stands where the address stands."""
        page = self._same[number]
        if page in self._documents and page not in self._seated:
            self._order.put(page, self._place, self._order.key(number))
            self._depth.setdefault(page, self._depth[number])
            self._seated.add(page)
            self._seats.take(endless=self._place.rank >= Rank.ENDLESS)

    def _miss(self, number: int) -> None:
        if number in self._for_now:
            self._seats.reserve()
        else:
            self._seats.miss()

    def _comes_later(self, number: int) -> bool:
        """Has it turned out since it was met that an address looks endless?"""
        if self._place.rank >= Rank.AGAIN or not self._endless.is_respelled(self._urls[number]):
            return False
        self._order.put_back(number, self._place._replace(rank=Rank.AGAIN))
        return True

    def _look_at_links(self, number: int) -> None:
        if number in self._looked_at:
            return
        self._looked_at.add(number)
        place, depth = self._order.place_of(number), self._depth.get(number, 0)
        if number in self._moved:
            target, further = self._moved[number], place.redirected()
            if further is not None:
                self._put(self._aliases.get(target, target), further, depth)
            elif target not in self._order and number not in self._known:
                self._too_long.append(number)
            return
        links = self._links.get(number, ())
        if number in self._displaced:
            # Where there is no seat left, only pages that have one to lose are looked for.
            links = [link for link in links if link in self._known]
        found = [link for link in links if link not in self._placed]
        if not found:
            return
        unmet = [link for link in found if link not in self._order and link not in self._ranks]
        ranks = self._endless.ranks(self._urls[number], [self._urls[link] for link in unmet])
        self._ranks.update(zip(unmet, ranks, strict=True))
        for link in found:
            page = self._aliases.get(link, link)
            rank = self._ranks.get(link, Rank.PLAIN)
            self._put(page, place.linked(rank), depth + 1, key_of(self._urls[link]))
            if page == link and page in self._order:
                self._placed.add(page)

    def _put(self, number: int, place: Place, depth: int, key: Key | None = None) -> None:
        """A way to a page was found: a link, a listing or a redirect."""
        known = self._known.get(number)
        if number not in self._order:
            if known is None and number not in self._refused:
                reason = self._why_not(self._urls[number])
                if reason is not None:
                    self._refused.add(number)
                    self._placed.add(number)
                    self.ignored[reason] += 1
            if number in self._refused:
                return
            if known is not None and not self._strict_depth:
                depth = min(depth, known.depth)
            if self._max_depth is not None and depth > self._max_depth:
                self._too_deep.add(number)
                return
            self._too_deep.discard(number)
            self._depth[number] = depth
            self._unasked += number not in self._links and number not in self._claimed
        self._order.put(number, place, key or key_of(self._urls[number]))

    def _open_after_moves(self) -> tuple[Place, list[int]] | None:
        """Known pages that redirect to nothing certain stay, and with them what they link to."""
        if self._judged:
            return None
        self._judged = True
        for page, _, _ in self._judge_moves(gaps=False)[1]:
            number = page.reference_id
            place = self._order.place_of(number)
            if number not in self._seated:
                self._seated.add(number)
                self._seats.take(endless=False)
            for link in page.links:
                self._put(self._aliases.get(link, link), place.linked(place.rank), place.depth + 1)
        return self._order.open()

    # inside

    def _claim(self, number: int, depth: int) -> Visit:
        self._claimed.add(number)
        self._in_flight.add(number)
        known = self._known.get(number) or self._leftovers.get(number)
        return Visit(number, self._urls[number], depth, known)

    def _end(self, number: int, links: Sequence[int]) -> None:
        self._in_flight.discard(number)
        self._links[number] = links

    def _is_document(self, visit: Visit, links: Sequence[int]) -> None:
        self._end(visit.id, links)
        self._documents.add(visit.id)
        if visit.id not in self._known:
            self._new.add(visit.id)
        if self._seats.is_asked(visit.id):
            self._seated.add(visit.id)
            self._seats.take(endless=self._seats.end(visit.id))
        elif visit.id in self._new and not self._walking:
            # It stands for a known page, wherever that page comes: no page of the walk may have its seat.
            self._seated.add(visit.id)
            self._seats.take(endless=False)

    def _not_a_document(self, visit: Visit) -> None:
        self._end(visit.id, ())
        if visit.id in self._known:
            self._gone.add(visit.id)
        if self._seats.is_asked(visit.id):
            self._seats.end(visit.id)
            self._seats.miss()

    def _release(self, number: int) -> None:
        """A page is not there any more: its other names have to speak for themselves."""
        for alias in [alias for alias, of in self._aliases.items() if of == number]:
            del self._aliases[alias]
            self.released.append(self._urls[alias])

    def _has_room(self) -> bool:
        return len(self._known) - len(self._gone) + len(self._new) + len(self._in_flight) < self._max_pages

    def _end_of(self, number: int) -> int:
        return end_of(number, self._moved, self._aliases)

    def _judge_moves(self, *, gaps: bool) -> tuple[list[Move], list[Move]]:
        """What redirects of known pages came to. Those that came to nothing certain are not gone."""
        moved: list[Move] = []
        astray: list[Move] = []
        inherited: set[int] = set()
        self._failed -= self._moved.keys()
        self._gone |= self._moved.keys() & self._known.keys()
        for number in self._moved:
            page = self._known.get(number)
            if page is None:
                continue
            end = self._end_of(number)
            target = self._urls[self._moved[number]]
            if end in self._documents:
                # A text moves once: to a page that is new, and that no other page moved to.
                lost = end not in self._new or end in inherited
                inherited.add(end)
                moved.append(Move(page, target, lost))
            elif self._is_certainly_nothing(end) or (not gaps and number not in self._order):
                # Where nothing links to a page, nobody asked what it redirects to.
                moved.append(Move(page, target, lost=True))
            else:
                self._gone.discard(number)
                self._failed.add(number)
                astray.append(Move(page, target, lost=False))
        return moved, astray

    def _is_certainly_nothing(self, number: int) -> bool:
        """It was asked, and answered that there is no document."""
        answered = number in self._links and number not in self._refused
        return answered and not any(number in some for some in (self._failed, self._moved, self._logins))
