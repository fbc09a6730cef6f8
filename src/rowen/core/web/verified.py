"""When a document was last known to be right, and how: derived from runs, not written per document.

A run that looked at everything readers see verifies all of it, except the documents that failed; those keep
what was known of them before. So each source has one record, however many documents it holds. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime, timedelta

from rowen.records import dataclass

FETCHED = "fetched"
"""Its text came with this version."""
NOT_MODIFIED = "not_modified"
"""The server answered 304."""
LISTING = "listing"
"""A listing names the version that is stored: a size and time, a blob id, a date of change."""
SAME_BODY, SAME_CONTENT = "same_body", "same_content"
WORDS = {
    FETCHED: "fetched",
    NOT_MODIFIED: "not modified (304)",
    LISTING: "unchanged in the listing",
    SAME_BODY: "the same bytes",
    SAME_CONTENT: "the same text",
}
MOST_EXCEPTIONS = 10_000
"""More documents than this that were verified in another way than most: then the way is not kept."""

Way = tuple[datetime, str | None]
"""When, and how; None for a way that was not kept."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Looked:
    """How a run that looked at everything readers see found it."""

    by: str | None
    """How most of the unchanged documents were verified."""
    others: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """References that were verified in another way, by that way."""
    failed: Sequence[str] = ()
    """References about which nothing was learnt."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Verification:
    """What is known of the documents of a source since its last run that looked at all of them."""

    at: datetime
    by: str | None
    exceptions: Mapping[str, Way | None] = field(default_factory=dict)
    """By reference; None for one that was never verified after it was fetched."""

    def of(self, reference: str, fetched_at: datetime) -> Way:
        """When and how one document was verified, whose visible version was fetched then."""
        known = self.exceptions.get(reference, (self.at, self.by))
        return known if known is not None and known[0] > fetched_at else (fetched_at, FETCHED)


def after_run(before: Verification | None, looked: Looked, at: datetime) -> Verification:
    """The record after a run that began at `at`."""
    exceptions: dict[str, Way | None] = {}
    for way, references in looked.others.items():
        exceptions |= dict.fromkeys(references, (at, way))
    for reference in looked.failed:
        previous = (before.at, before.by) if before is not None else None
        exceptions[reference] = before.exceptions.get(reference, previous) if before is not None else None
    return Verification(at=at, by=looked.by, exceptions=exceptions)


def way_of(verification: Verification | None, reference: str, fetched_at: datetime) -> Way:
    return (fetched_at, FETCHED) if verification is None else verification.of(reference, fetched_at)


DAY, WEEK = timedelta(days=1), timedelta(days=7)


@dataclass(frozen=True, kw_only=True, slots=True)
class Freshness:
    """How many documents were verified within a day, within a week (those of the day aside), and before."""

    day: int
    week: int
    older: int

    @property
    def total(self) -> int:
        return self.day + self.week + self.older


def freshness(
    verification: Verification | None,
    now: datetime,
    *,
    documents: int,
    fetched_in_day: int,
    fetched_in_week: int,
) -> Freshness:
    """From how many documents there are, and how many of them were fetched within a day and a week."""
    fetched = (fetched_in_day, fetched_in_week)
    within: list[int] = []
    for span, fetched_in in zip((DAY, WEEK), fetched, strict=True):
        if verification is None or now - verification.at > span:
            within.append(fetched_in)
            continue
        late = sum(way is None or now - way[0] > span for way in verification.exceptions.values())
        within.append(max(documents - late, fetched_in))
    day, week = (min(number, documents) for number in within)
    return Freshness(day=day, week=max(week - day, 0), older=documents - max(day, week))
