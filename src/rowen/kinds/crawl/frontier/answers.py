"""What a crawl keeps of addresses: which number each has, and what each answered in this run.

Pages are numbers here: the store's reference ids, and numbers below zero for addresses met for the first time
in this run. What an answer means for the order of the walk is decided in `walk.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rowen.core.document import Known
from rowen.kinds.crawl.frontier.order import Order
from rowen.kinds.crawl.visits import Move, Visit, end_of


class Answers:
    def __init__(
        self,
        *,
        known: Mapping[str, Known],
        leftovers: Mapping[str, Known],
        ids: Mapping[str, int],
        aliases: Mapping[str, str],
    ) -> None:
        self._ids = dict(ids)
        self.urls = {number: url for url, number in ids.items()}
        self.known = {page.reference_id: page for page in known.values()}
        self._leftovers = {
            page.reference_id: page for page in leftovers.values() if page.reference_id not in self.known
        }
        # Another name stands for a page only while that page is there.
        self.aliases = {
            self._ids[alias]: self._ids[of] for alias, of in aliases.items() if self._ids[of] in self.known
        }
        self.claimed: set[int] = set()
        self.in_flight: set[int] = set()
        self.links: dict[int, Sequence[int]] = {}
        """Of every page that has answered, one way or another."""
        self.documents: set[int] = set()
        self.moved: dict[int, int] = {}
        self.same: dict[int, int] = {}
        """Pages that turned out in this run to be other names of pages."""
        self.gone: set[int] = set()
        self.failed: set[int] = set()
        self.for_now: set[int] = set()
        """Of those that failed: new ones that may answer next time."""
        self.logins: set[int] = set()
        self.new: set[int] = set()
        self.refused: set[int] = set()
        """New addresses that may not be asked for."""
        self.released: list[str] = []
        """Other names that stand for nothing any more."""

    def number(self, url: str) -> int:
        number = self._ids.get(url)
        if number is None:
            number = self._ids[url] = -len(self._ids) - 1
            self.urls[number] = url
        return number

    def met(self, url: str) -> int | None:
        """Its number, if it has one."""
        return self._ids.get(url)

    def claim(self, number: int, depth: int) -> Visit:
        self.claimed.add(number)
        self.in_flight.add(number)
        known = self.known.get(number) or self._leftovers.get(number)
        return Visit(number, self.urls[number], depth, known)

    def end(self, number: int, links: Sequence[int]) -> None:
        self.in_flight.discard(number)
        self.links[number] = links

    def is_document(self, number: int, links: Sequence[int]) -> None:
        self.end(number, links)
        self.documents.add(number)
        if number not in self.known:
            self.new.add(number)

    def is_nothing(self, number: int) -> None:
        """No document is there."""
        self.end(number, ())
        if number in self.known:
            self.gone.add(number)

    def has_failed(self, number: int, *, for_now: bool) -> None:
        self.failed.add(number)
        known = self.known.get(number)
        self.end(number, known.links if known else ())
        if known is None and for_now:
            self.for_now.add(number)

    def release(self, number: int) -> None:
        """A page is not there any more: its other names have to speak for themselves."""
        for alias in [alias for alias, of in self.aliases.items() if of == number]:
            del self.aliases[alias]
            self.released.append(self.urls[alias])

    @property
    def count(self) -> int:
        """Pages that a generation would have, with those under way."""
        return len(self.known) - len(self.gone) + len(self.new) + len(self.in_flight)

    def progress(self) -> dict[str, str | None]:
        """What the next run need not ask if this one is cut off: "" is a document, None nothing, or a target.

        Of known pages only documents: the others are asked for again before they go.
        """
        done: dict[str, str | None] = {self.urls[number]: "" for number in self.documents}
        for number in self.links:
            if not (number in self.known or number in self.documents or number in self.refused):
                if number in self.moved:
                    done[self.urls[number]] = self.urls[self.moved[number]]
                elif not any(number in some for some in (self.failed, self.aliases, self.logins)):
                    done[self.urls[number]] = None
        return done

    def end_of(self, number: int) -> int:
        return end_of(number, self.moved, self.aliases)

    def judge_moves(self, reached: Order, *, gaps: bool) -> tuple[list[Move], list[Move]]:
        """What redirects of known pages came to. Those that came to nothing certain are not gone.

        `reached` has the pages that something leads to.
        """
        moved: list[Move] = []
        astray: list[Move] = []
        inherited: set[int] = set()
        self.failed -= self.moved.keys()
        self.gone |= self.moved.keys() & self.known.keys()
        for number in self.moved:
            page = self.known.get(number)
            if page is None:
                continue
            end = self.end_of(number)
            target = self.urls[self.moved[number]]
            if end in self.documents:
                # A text moves once: to a page that is new, and that no other page moved to.
                lost = end not in self.new or end in inherited
                inherited.add(end)
                moved.append(Move(page, target, lost))
            elif self._is_certainly_nothing(end) or (not gaps and number not in reached):
                # What a page redirects to was not asked where nothing links to it.
                moved.append(Move(page, target, lost=True))
            else:
                self.gone.discard(number)
                self.failed.add(number)
                astray.append(Move(page, target, lost=False))
        return moved, astray

    def _is_certainly_nothing(self, number: int) -> bool:
        """It was asked, and answered that there is no document."""
        answered = number in self.links and number not in self.refused
        return answered and not any(number in some for some in (self.failed, self.moved, self.logins))
