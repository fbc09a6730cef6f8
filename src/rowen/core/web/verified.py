"""When a document was last known to be right, and how: derived from runs, not written per document.

A run that looked at everything readers see verifies all of it, except the documents that failed; those keep
what was known of them before. So each source has one record, however many documents it holds. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import UTC, datetime, timedelta

from rowen.core.web.looks import NO_LOOKS, Looks
from rowen.records import dataclass

FETCHED = "fetched"
"""Its text came with this version."""
NOT_MODIFIED = "not_modified"
"""The server answered 304."""
LISTING = "listing"
"""A listing names the version that is stored: a size and time, a blob id, a date of change."""
SAME_BODY, SAME_CONTENT = "same_body", "same_content"
HOOK = "hook"
"""A web hook named it, and it was asked for because of that."""
HOOK_FETCHED = "hook_fetched"
"""In the record only: the same, and another version came. Of that version it is `HOOK`, of others nothing."""
WORDS = {
    FETCHED: "fetched",
    NOT_MODIFIED: "not modified (304)",
    LISTING: "unchanged in the listing",
    SAME_BODY: "the same bytes",
    SAME_CONTENT: "the same text",
    HOOK: "asked for because a web hook named it",
}
MOST_EXCEPTIONS = 10_000
"""More documents than this that were verified in another way than most: then the way is not kept."""

BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)

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
    looks: Looks = NO_LOOKS
    """What runs that asked for some pages only have verified since."""

    @property
    def newest(self) -> datetime:
        """The last look at any page, by a run that looked at all or at some of them."""
        return max(self.at, self.looks.newest or self.at)

    def of(self, reference: str, fetched_at: datetime) -> Way:
        """When and how one document was verified, whose visible version was fetched then."""
        known = self.last(reference)
        if known is not None and known[1] == HOOK_FETCHED:
            # After a rollback readers see a version from before that look.
            return fetched_at, HOOK if known[0] <= fetched_at else FETCHED
        return known if known is not None and known[0] > fetched_at else (fetched_at, FETCHED)

    def last(self, reference: str) -> Way | None:
        """The last look at a reference, whichever version it had."""
        known = self.exceptions.get(reference, (self.at, self.by))
        later = self.looks.of(reference)
        if later is None or (known is not None and known[0] >= later[0]):
            return known
        return later


def after_run(before: Verification | None, looked: Looked, at: datetime) -> Verification:
    """The record after a run that began at `at`."""
    exceptions: dict[str, Way | None] = {}
    for way, references in looked.others.items():
        exceptions |= dict.fromkeys(references, (at, way))
    for reference in looked.failed:
        exceptions[reference] = before.last(reference) if before is not None else None
    return Verification(at=at, by=looked.by, exceptions=exceptions)


@dataclass(frozen=True, kw_only=True, slots=True)
class LookedAtSome:
    """How a run that asked for some pages only found them: of the others it says nothing."""

    unchanged: Mapping[str, Sequence[str]]
    """References by the way in which each was verified."""
    changed: Sequence[str] = ()
    """References with a new version, or gone."""
    hooked: Sequence[str] = ()
    """References with a new version that a web hook had named."""


def after_some(before: Verification | None, looked: LookedAtSome, at: datetime) -> Verification:
    """The record after a run that began at `at` and asked for some pages only."""
    # Before the first look at everything only what was asked for is known.
    known = before or Verification(at=BEGINNING, by=None)
    ways = {**looked.unchanged, HOOK_FETCHED: looked.hooked}
    looks = known.looks.after(at, ways, changed=looked.changed)
    return Verification(at=known.at, by=known.by, exceptions=known.exceptions, looks=looks)


def way_of(verification: Verification | None, reference: str, fetched_at: datetime) -> Way:
    return (fetched_at, FETCHED) if verification is None else verification.of(reference, fetched_at)


DAY, WEEK = timedelta(days=1), timedelta(days=7)


@dataclass(frozen=True, kw_only=True, slots=True)
class Freshness:
    """How many documents were verified within a day, within a week (those of the day aside), and before."""

    day: int
    week: int
    older: int
    last: datetime | None = None
    """When one of them was last verified: the newest time that a hit or a document of the source can say."""

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
    fetched_last: datetime | None = None,
) -> Freshness:
    """From how many documents there are, how many came within a day and a week, and when the last came."""
    fetched = (fetched_in_day, fetched_in_week)
    within: list[int] = []
    for span, fetched_in in zip((DAY, WEEK), fetched, strict=True):
        if verification is None or now - verification.at > span:
            # A page that changed is not in the looks any more: none is counted twice.
            looked = verification.looks.since(now - span) if verification is not None else 0
            within.append(fetched_in + looked)
            continue
        late = sum(
            (last := verification.last(name)) is None or now - last[0] > span
            for name in verification.exceptions
        )
        within.append(max(documents - late, fetched_in))
    day, week = (min(number, documents) for number in within)
    looked_last = verification.newest if verification is not None else BEGINNING
    newest = max(looked_last, fetched_last) if documents and fetched_last is not None else None
    return Freshness(day=day, week=max(week - day, 0), older=documents - max(day, week), last=newest)
