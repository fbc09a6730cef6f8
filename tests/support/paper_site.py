"""A site on paper, and a source that crawls it several times: the frontier without a server or a store."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

from rowen.core.document import Known, Validators
from rowen.kinds.crawl.frontier.frontier import Frontier, Visit

ROOT = "http://site/"


@dataclass
class PaperSite:
    links: dict[str, list[str]]
    """Of the pages there are; all other addresses are dead."""
    redirects: dict[str, str] = field(default_factory=dict)
    listed: list[str] = field(default_factory=list)
    failing: set[str] = field(default_factory=set)
    canonical: dict[str, str] = field(default_factory=dict)
    """Pages that name another page as the one to keep."""


@dataclass
class Reader:
    """A source over several runs: what readers see, and every address ever met."""

    max_pages: int
    max_depth: int | None = None
    max_endless: int | None = None
    ids: dict[str, int] = field(default_factory=dict)
    pages: dict[str, list[str]] = field(default_factory=dict)
    depths: dict[str, int] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    requests: int = 0

    def run(self, site: PaperSite, order: list[int] | None = None, at_a_time: int = 3) -> Frontier:
        known = {
            url: Known(
                self._id(url),
                self._id(url),
                url,
                b"",
                None,
                b"",
                Validators(),
                self.depths[url],
                array("q", map(self._id, links)),
            )
            for url, links in self.pages.items()
        }
        frontier = Frontier(
            root=ROOT,
            listed=site.listed,
            known=known,
            leftovers={},
            ids=dict(self.ids),
            aliases=self.aliases,
            why_not=lambda url: None,
            max_depth=self.max_depth,
            max_pages=self.max_pages,
            max_endless=self.max_endless,
        )
        self.requests = self._ask_for_all(frontier, site, list(order or ()), at_a_time)
        settled = frontier.settle(complete=True, keep_orphans=False)
        lost = [*settled.orphaned, *(page for page, _ in settled.displaced)]
        for name in frontier.released:
            del self.aliases[name]
        for url in [page.reference for page in lost] + [move.page.reference for move in settled.moved]:
            del self.pages[url]
        return frontier

    def _ask_for_all(self, frontier: Frontier, site: PaperSite, order: list[int], at_a_time: int) -> int:
        requests, under_way = 0, list[Visit]()
        while True:
            while len(under_way) < at_a_time and (visit := frontier.next()):
                under_way.append(visit)
            if not under_way:
                return requests
            visit = under_way.pop((order.pop() if order else 0) % len(under_way))
            canonical = site.canonical.get(visit.url)
            if (
                canonical
                and visit.url in site.links
                and visit.url not in {ROOT, *site.failing, *site.redirects}
            ):
                waited_for = [one for one in under_way if one.url == canonical]
                under_way = [one for one in under_way if one.url != canonical]
                if claimed := frontier.claim(canonical, visit.depth):
                    waited_for = [claimed]
                for one in waited_for:
                    requests += self._answer(frontier, site, one)
            requests += self._answer(frontier, site, visit, canonical)

    def _answer(self, frontier: Frontier, site: PaperSite, visit: Visit, canonical: str | None = None) -> int:
        url = visit.url
        if url in site.failing:
            frontier.failed(visit)
        elif url in site.redirects:
            frontier.moved(visit, site.redirects[url])
        elif url not in site.links:
            frontier.gone(visit)
            self.pages.pop(url, None)
        elif canonical and url != ROOT and frontier.is_document(canonical):
            frontier.duplicate(visit, canonical)
            self.pages.pop(url, None)
            self.aliases[url] = canonical
            self._id(url), self._id(canonical)
        else:
            frontier.document(visit, site.links[url])
            self.pages[url] = site.links[url]
            self.depths[url] = visit.depth
        return 1

    def _id(self, url: str) -> int:
        return self.ids.setdefault(url, len(self.ids) + 1)
