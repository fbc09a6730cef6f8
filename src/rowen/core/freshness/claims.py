"""Signals that say "unchanged", and how far each of them can be believed: learnt for each source.

A sitemap's `lastmod`, an `ETag` or a `Last-Modified` is a claim of the site. Some claims are checked against
the text itself. Each signal has one record in each source: how often it claimed, was checked and lied.

What follows from a record is its standing. A signal is proven when no check since its last lie found another
text, so many checks in at least two runs that the share of lies is below 5 % (the upper end of Wilson's
interval, at 95 %). One lie takes that away; the way back gets twice as long with each fall. Pure.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from enum import StrEnum

from rowen.core.rules.words import count
from rowen.records import NamedTuple, dataclass


class Signal(StrEnum):
    LASTMOD = "lastmod"
    """A sitemap names the date that it named before."""
    ETAG = "etag"
    """The server answers 304 to an `If-None-Match`, or sends the `ETag` that it sent before."""
    LAST_MODIFIED = "last_modified"
    """The same with `If-Modified-Since` and `Last-Modified`."""
    LISTING = "listing"
    """A portal or paged API lists an item with the date that it had, or does not name it as changed."""


NAMES = {
    Signal.LASTMOD: "lastmod of the sitemap",
    Signal.ETAG: "ETag",
    Signal.LAST_MODIFIED: "Last-Modified",
    Signal.LISTING: "dates of the listing",
}


class Standing(StrEnum):
    UNPROVEN = "unproven"
    """Too little was checked yet: validators are used as servers mean them, `lastmod` is not used."""
    TRUSTED = "trusted"
    DISTRUSTED = "distrusted"
    """It lied and has not proven itself again: nothing is left out on its word."""


Z = 1.645
"""One-sided, 95 %."""
MOST_LIES = 0.05
RUNS = 2
LONGEST = 5
"""After so many falls the way back gets no longer."""

SHARE, PROVEN_SHARE = 20, 100
"""One in so many 304s of a run is compared with its text: of unproven validators, and of proven ones."""
FLOOR, PROVEN_FLOOR = 3, 2
"""But at least so many."""
FIRST_BODIES = 30
"""The most of a run while validators are unproven, but for large sites: two such runs prove a signal."""
FEW_BODIES = 10
"""The same when they are proven."""
MOST_ASKED = 80
"""Pages of a run that a trusted `lastmod` would leave out and that are asked all the same."""
WITHIN_RUNS = 3
"""Where the numbers above allow it, every page has its turn within so many runs."""
MOST_HINTS = 20
"""Pages of a run that are fetched because one signal says "changed" and another "unchanged"."""
MOST_HOT = 8
"""References that changed last: what changed lately is the likeliest to change again, so it is checked."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Record:
    """What one signal of one source did so far."""

    claims: int = 0
    """How often it said "unchanged"."""
    checked: int = 0
    """How many of these were compared with the text."""
    lies: int = 0
    """Of the checked: the text was another one, or gone."""
    told: int = 0
    """How often it said "changed", and it had."""
    alarms: int = 0
    """How often it said "changed" of a text that was as before: costs a look, loses nothing."""
    held: int = 0
    """Checks since the last lie."""
    runs: int = 0
    """Runs with such checks."""
    turns: int = 0
    """Runs in which it claimed something: whose turn it is to be checked follows from it."""
    falls: int = 0
    """How often it lied while it was used."""
    lied_at: datetime | None = None
    lied_about: str | None = None
    """The first reference it lied about in the last run in which it lied."""
    checked_at: datetime | None = None

    @property
    def standing(self) -> Standing:
        proven = self.runs >= self.runs_needed and most_lies(self.held) <= MOST_LIES
        if proven:
            return Standing.TRUSTED
        return Standing.UNPROVEN if self.lied_at is None else Standing.DISTRUSTED

    @property
    def runs_needed(self) -> int:
        return int(RUNS * 2 ** min(self.falls, LONGEST))

    @property
    def checks_needed(self) -> int:
        return math.ceil(Z * Z * (1 - MOST_LIES) / MOST_LIES)

    @property
    def why(self) -> str:
        """Why its standing is what it is, in words."""
        if self.standing is Standing.TRUSTED:
            share = most_lies(self.held) * 100
            return (
                f"{count(self.held, 'check')} in {count(self.runs, 'run')} held: at most {share:.1f} % lies"
            )
        so_far = f"{self.held} of {self.checks_needed} checks, {self.runs} of {self.runs_needed} runs"
        if self.lied_at is None:
            return f"not checked enough yet: {so_far}"
        return f"lied on {self.lied_at:%Y-%m-%d} about `{self.lied_about}`; since then {so_far}"


NOTHING = Record()


class Heard(NamedTuple):
    """A signal of a source with its record, for people."""

    signal: Signal
    record: Record

    @property
    def name(self) -> str:
        return NAMES[self.signal]


def heard(records: Mapping[Signal, Record]) -> tuple[Heard, ...]:
    """The records of a source, in the order of signals."""
    return tuple(Heard(signal, records[signal]) for signal in Signal if signal in records)


def most_lies(held: int) -> float:
    """The upper end of Wilson's interval for the share of lies, when none of so many checks found one."""
    return Z * Z / (held + Z * Z)


@dataclass(slots=True)
class Seen:
    """What one run saw of a signal."""

    claims: int = 0
    checked: int = 0
    lies: int = 0
    told: int = 0
    alarms: int = 0
    lied_about: str | None = None

    def check(self, reference: str, *, held: bool) -> None:
        self.checked += 1
        if not held:
            self.lies += 1
            self.lied_about = self.lied_about or reference


def after_run(before: Record, seen: Seen, at: datetime) -> Record:
    """The record after a run that began at `at`."""
    record = replace(
        before,
        claims=before.claims + seen.claims,
        checked=before.checked + seen.checked,
        lies=before.lies + seen.lies,
        told=before.told + seen.told,
        alarms=before.alarms + seen.alarms,
        turns=before.turns + bool(seen.claims),
        checked_at=at if seen.checked else before.checked_at,
    )
    if seen.lies:
        fell = before.standing is not Standing.DISTRUSTED
        return replace(
            record, held=0, runs=0, falls=before.falls + fell, lied_at=at, lied_about=seen.lied_about
        )
    return replace(record, held=before.held + seen.checked, runs=before.runs + bool(seen.checked))


# which claims are checked


def bodies(pages: int, *, proven: bool, pays: bool = False, shared: bool = False) -> int:
    """How many pages of a run are compared by their text and not by their validators: a small share.

    More where a verdict `pays`: dates of a sitemap save the requests themselves once they are proven. More,
    too, where pages have a `shared` validator, which cannot have been made from their texts.
    """
    most = max(FEW_BODIES, math.isqrt(pages) // 4) if proven else max(FIRST_BODIES, math.isqrt(pages))
    if shared or (pays and not proven):
        return min(_within_runs(pages) if proven else pages, most)
    share, floor = (PROVEN_SHARE, PROVEN_FLOOR) if proven else (SHARE, FLOOR)
    return min(pages, max(floor, min(-(-pages // share), most)))


def are_shared(values: Sequence[str]) -> bool:
    """Are these validators of pages with different texts mostly the same?"""
    return len(values) > FLOOR and 2 * len(set(values)) <= len(values)


def asked(pages: int) -> int:
    """How many pages of a run are asked for though a trusted `lastmod` says that they are as they were."""
    return min(_within_runs(pages), max(MOST_ASKED, math.isqrt(pages)))


def _within_runs(pages: int) -> int:
    return -(-pages // WITHIN_RUNS)


def whose_turn(references: Sequence[str], number: int, turn: int) -> list[str]:
    """So many of the references: in as many runs as that takes, each of them has its turn once.

    They come in an order of their own, so that neighbours (pages of one chapter) do not come together.
    """
    if not number:
        return []
    rounds = -(-len(references) // number)
    if rounds <= 1:
        return list(references)
    start = turn % rounds * number
    return sorted(references, key=lambda one: (zlib.crc32(one.encode()), one))[start : start + number]


def hint(before: Mapping[Signal, Record], after: Mapping[Signal, Record], at: datetime) -> str | None:
    """What a person should know of the signals after the run that began at `at`."""
    said = []
    for signal, record in after.items():
        lied = record.lied_at == at
        if record.standing is not Standing.DISTRUSTED:
            continue
        if signal is Signal.LISTING:
            then = "every item is compared until they have proven themselves again"
        elif signal is not Signal.LASTMOD:
            then = "pages are fetched whole until it has proven itself again"
        elif lied and before.get(signal, NOTHING).standing is Standing.TRUSTED:
            then = "every page is asked for until it has proven itself again"
        else:
            # It was not used: nothing is different for a reader of the receipt.
            continue
        lie = f"said that `{record.lied_about}` was unchanged, and it was not"
        said.append(f"{NAMES[signal]} {lie if lied else f'lied on {record.lied_at:%Y-%m-%d}'}: {then}")
    return "; ".join(said) or None
