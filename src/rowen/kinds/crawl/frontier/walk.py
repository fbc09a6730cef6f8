"""Walking a site in its order, place by place: which page gets a seat, and which is asked for next.

Pages that answered take their seats, new pages are asked for while there are seats, and the links of a place
are looked at when all of it has answered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from rowen.core.rules.left_out import OVER_MAX_PAGES
from rowen.kinds.crawl.frontier.answers import Answers
from rowen.kinds.crawl.frontier.endless import Endless, Rank
from rowen.kinds.crawl.frontier.order import Answer, Key, Order, Place, Seats, key_of
from rowen.kinds.crawl.visits import Visit

ROOT = Place(0, 0, 0)
LISTED = Place(0, 1, 0)


class Walk:
    def __init__(
        self,
        answers: Answers,
        *,
        why_not: Callable[[str], str | None],
        max_depth: int | None,
        max_pages: int,
        max_endless: int | None,
        strict_depth: bool,
        listed_all: bool,
    ) -> None:
        """See `Frontier` for the arguments."""
        self._answers = answers
        # The same values, with shorter ways to them: this is the hot path of a refresh.
        self._known, self._urls, self._aliases = answers.known, answers.urls, answers.aliases
        self._links, self._documents, self._new = answers.links, answers.documents, answers.new
        self._same, self._moved, self._failed = answers.same, answers.moved, answers.failed
        self._refused, self._in_flight = answers.refused, answers.in_flight
        self._why_not = why_not
        self._max_depth = max_depth
        self._max_pages = max_pages
        self._strict_depth = strict_depth
        self._listed_all = listed_all

        self.begun = False
        self.order = Order()
        self._seats = Seats(max_pages, max_endless)
        self._endless = Endless()
        self._depth: dict[int, int] = {}
        """What `max_depth` is compared with: of a known page the stored depth, unless it is measured anew."""
        self._placed: set[int] = set()
        """Pages that no further link can bring nearer."""
        self._ranks: dict[int, Rank] = {}
        """By the first page that leads to an address."""
        self.too_deep: set[int] = set()
        self._place = ROOT
        self._line: list[int] = []
        self._at = 0
        self._seated: set[int] = set()
        self._looked_at: set[int] = set()
        """Pages whose links were looked at."""
        self.displaced: dict[int, str] = {}
        """Known pages that are over a limit now, and which."""
        self.left_out: dict[int, str] = {}
        """New pages that are not asked for, and why."""
        self.too_long: list[int] = []
        """Where chains of redirects were given up."""
        self._judged = False
        self.unasked = 0
        self.ignored: Counter[str] = Counter()

    def begin(self, listed: Iterable[int]) -> None:
        """Known pages have answered; `listed` are the pages that sitemaps name."""
        self.begun = True
        for number in listed:
            self.put(self._aliases.get(number, number), LISTED, 1, key_of(self._urls[number]))

    @property
    def queued(self) -> int:
        """Pages to ask for that no reader sees a version of, as far as there are seats."""
        return max(0, min(self.unasked, self._seats.free)) if self.unasked else 0

    # answers

    def is_document(self, number: int) -> None:
        if self._seats.is_asked(number):
            self._seated.add(number)
            self._seats.take(endless=self._seats.end(number))
        elif number in self._new and not self.begun:
            # It stands for a known page, wherever that page comes: no page of the walk may have its seat.
            self._seated.add(number)
            self._seats.take(endless=False)

    def is_nothing(self, number: int) -> bool:
        """Was its seat asked for in the walk?"""
        if not self._seats.is_asked(number):
            return False
        self._seats.end(number)
        self._seats.miss()
        return True

    def has_failed(self, number: int) -> None:
        if self._seats.is_asked(number):
            self._seats.end(number)
            self._miss(number)

    # the walk

    def next(self) -> Visit | None:
        while True:
            while self._at < len(self._line):
                number = self._line[self._at]
                if number in self._in_flight or self._seat(number) is Answer.WAIT:
                    return None
                self._at += 1
                if number not in self._links and number not in self.left_out:
                    self._seats.ask(number, endless=self._place.rank >= Rank.ENDLESS)
                    return self._answers.claim(number, self._place.depth)
            if self._in_flight:
                return None
            for number in self._line:
                self._look_at_links(self._same.get(number, number))
            opened = self.order.open() or self._open_after_moves()
            if opened is None:
                self._line, self._at = [], 0
                return None
            self._place, self._at = opened[0], 0
            self._line = [number for number in opened[1] if not self._comes_later(number)]

    def _seat(self, number: int) -> Answer:
        """Give a page its seat, or say why there is none; a new page is asked for next."""
        if number not in self._links:
            verdict = self._seats.for_new(self._place.rank)
            if verdict == Answer.YES and not self._listed_all and self._answers.count >= self._max_pages:
                verdict = OVER_MAX_PAGES
            if verdict == Answer.WAIT:
                return Answer.WAIT
            self.unasked -= 1
            if verdict != Answer.YES:
                self.left_out[number] = verdict
        elif number in self._same:
            self._seats.miss()
            self.seat_other_name(number)
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
            self.displaced[number] = verdict
        return Answer.YES

    def seat_other_name(self, number: int) -> None:
        """The page that an address is another name of stands where the address stands."""
        page = self._same[number]
        if page not in self._documents:
            return
        self.order.put(page, self._place, self.order.key(number))
        self._depth.setdefault(page, self._depth[number])
        if page not in self._seated:
            self._seated.add(page)
            self._seats.take(endless=self._place.rank >= Rank.ENDLESS)

    def _miss(self, number: int) -> None:
        if number in self._answers.for_now:
            self._seats.reserve()
        else:
            self._seats.miss()

    def _comes_later(self, number: int) -> bool:
        """Has it turned out since it was met that an address looks endless?"""
        if self._place.rank >= Rank.AGAIN or not self._endless.is_respelled(self._urls[number]):
            return False
        self.order.put_back(number, self._place._replace(rank=Rank.AGAIN))
        return True

    def _look_at_links(self, number: int) -> None:
        if number in self._looked_at:
            return
        self._looked_at.add(number)
        place, depth = self.order.place_of(number), self._depth.get(number, 0)
        if number in self._moved:
            target, further = self._moved[number], place.redirected()
            if further is not None:
                self.put(self._aliases.get(target, target), further, depth)
            elif target not in self.order and number not in self._known:
                self.too_long.append(number)
            return
        links = self._links.get(number, ())
        if number in self.displaced:
            # Where there is no seat left, only pages that have one to lose are looked for.
            links = [link for link in links if link in self._known]
        found = [link for link in links if link not in self._placed]
        if not found:
            return
        unmet = [link for link in found if link not in self.order and link not in self._ranks]
        if unmet:
            ranks = self._endless.ranks(self._urls[number], [self._urls[link] for link in unmet])
            self._ranks.update(zip(unmet, ranks, strict=True))
        for link in found:
            page = self._aliases.get(link, link)
            rank = self._ranks.get(link, Rank.PLAIN)
            self.put(page, place.linked(rank), depth + 1, key_of(self._urls[link]))
            if page == link and page in self.order:
                self._placed.add(page)

    def put(self, number: int, place: Place, depth: int, key: Key | None = None) -> None:
        """A way to a page was found: a link, a listing or a redirect."""
        known = self._known.get(number)
        if number not in self.order:
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
                self.too_deep.add(number)
                return
            self.too_deep.discard(number)
            self._depth[number] = depth
            self.unasked += number not in self._links and number not in self._answers.claimed
        self.order.put(number, place, key or key_of(self._urls[number]))

    def _open_after_moves(self) -> tuple[Place, list[int]] | None:
        """Known pages that redirect to nothing certain stay, and with them what they link to."""
        if self._judged:
            return None
        self._judged = True
        for page, _, _ in self._answers.judge_moves(self.order, gaps=False)[1]:
            number = page.reference_id
            place = self.order.place_of(number)
            if number not in self._seated:
                self._seated.add(number)
                self._seats.take(endless=False)
            for link in page.links:
                self.put(self._aliases.get(link, link), place.linked(place.rank), place.depth + 1)
        return self.order.open()
