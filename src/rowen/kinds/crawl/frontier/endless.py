"""Which addresses look like part of an endless space: calendars, sessions, paths that repeat themselves.

A pure rule over addresses, in the order in which a crawl comes to its pages; the same pages in the same order
give the same verdicts. An address that looks endless is not refused: it comes after all others (`Rank`), and
gets a bounded share of a generation. Only what names another session for a page that was met gets none.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from enum import IntEnum

from rowen.patterns import pattern

REPEATED = 3
"""So often one segment stands in a path that repeats itself: `/a/b/a/b/a/b`."""
BARREN = 12
"""So many pages of one shape in a row, each found by the one before it, none with another shape."""
LONG = 50
"""So many pages of one shape in a row, also when they lead to others."""
FRESH = 5
"""So many pages, each with a value of its own for a parameter on its links: the parameter names a session."""

_VARIABLE = pattern(r"[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{16,}|\d+", re.IGNORECASE)


class Rank(IntEnum):
    """Which addresses come first."""

    PLAIN = 0
    FAR = 1
    """Far along a row of like pages that do lead to others."""
    ENDLESS = 2
    AGAIN = 3
    """An address that was met before, with the name of another session: it gets nothing."""


def shape(url: str) -> str:
    """What like addresses have in common: numbers and the values of parameters left out."""
    page, _, query = url.partition("?")
    names = "&".join(pair.partition("=")[0] for pair in query.split("&")) if query else ""
    return f"{_VARIABLE.sub('#', page)}?{names}"


def repeats_itself(url: str) -> bool:
    segments = url.partition("?")[0].split("/")[3:]
    if len(segments) - len({*segments}) < REPEATED - 1:
        return False
    return max(Counter(segment for segment in segments if segment).values(), default=0) >= REPEATED


class Endless:
    def __init__(self) -> None:
        self._in_a_row: dict[str, tuple[int, int]] = {}
        """Of an address: how many of its shape led to it, and how many of them led to nothing else."""
        self._values: defaultdict[str, set[str]] = defaultdict(set)
        self._fresh: Counter[str] = Counter()
        self._carriers: Counter[str] = Counter()
        """Pages that have a parameter on links to several pages, by its name; `_fresh` are some of them."""
        self._first: dict[tuple[str, str], str] = {}
        """The first address met for what is left of it without one of its parameters."""
        self._sessions: set[str] = set()

    def ranks(self, page: str, found: Sequence[str]) -> list[Rank]:
        """Judge the addresses that a page is the first to lead to."""
        own, shapes = shape(page), [shape(url) for url in found]
        row, barren = self._in_a_row.get(page, (0, 0))
        barren = 0 if any(one != own for one in shapes) else barren + 1
        for url, one in zip(found, shapes, strict=True):
            if one == own:
                self._in_a_row[url] = (row + 1, barren)
        if asking := [url for url in found if "?" in url]:
            self._look_for_sessions(asking)
        return [self._rank(url) for url in found]

    def is_respelled(self, url: str) -> bool:
        """Does it differ from an address that was met before only in the name of a session?"""
        if not self._sessions or "?" not in url:
            return False
        return any(
            name in self._sessions and self._first.get((name, rest), url) != url
            for name, _, rest in _parameters(url)
        )

    def _rank(self, url: str) -> Rank:
        row, barren = self._in_a_row.get(url, (0, 0))
        if self.is_respelled(url):
            return Rank.AGAIN
        if barren >= BARREN or repeats_itself(url):
            return Rank.ENDLESS
        return Rank.FAR if row >= LONG else Rank.PLAIN

    def _look_for_sessions(self, found: Sequence[str]) -> None:
        values: defaultdict[str, set[str]] = defaultdict(set)
        paths: defaultdict[str, set[str]] = defaultdict(set)
        for url in found:
            for name, value, rest in _parameters(url):
                values[name].add(value)
                paths[name].add(url.partition("?")[0])
                self._first.setdefault((name, rest), url)
        for name, here in values.items():
            if len(paths[name]) > 1:
                # One value that no page had before, on links to several pages.
                self._carriers[name] += 1
                self._fresh[name] += len(here) == 1 and not here & self._values[name]
            self._values[name] |= here
            if self._fresh[name] >= FRESH and 10 * self._fresh[name] >= 9 * self._carriers[name]:
                self._sessions.add(name)


def _parameters(url: str) -> list[tuple[str, str, str]]:
    """Name, value, and the address without it, of each parameter."""
    page, _, query = url.partition("?")
    pairs = query.split("&")
    return [
        (*_named(pair), f"{page}?{'&'.join(pairs[:at] + pairs[at + 1 :])}") for at, pair in enumerate(pairs)
    ]


def _named(pair: str) -> tuple[str, str]:
    name, _, value = pair.partition("=")
    return name, value
