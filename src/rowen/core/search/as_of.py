"""What readers saw at an earlier time: which moment is meant, and which generation of each source was shown.

A source answers from the generation that was visible then, or from nothing, and says why. It never answers
from another generation in place of one that is not kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from rowen.core.rules import duration
from rowen.core.rules.words import minute
from rowen.errors import UserError
from rowen.records import dataclass

if TYPE_CHECKING:
    from rowen.core.generation import Shown


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceThen:
    source: str
    generation: int | None
    """The one that answers; None when there is none."""
    since: datetime | None = None
    """When readers began to see it, the last time if more than once."""
    until: datetime | None = None
    """When another took its place; None while they still see it."""
    missing: str | None = None
    """Why nothing of this source can be answered, in words."""

    @property
    def says(self) -> str:
        """`docs: generation 3, shown from 2026-11-01 08:00 UTC to 2026-11-02 08:00 UTC`."""
        if self.missing:
            return f"{self.source}: {self.missing}"
        shown = f", shown since {_time(self.since)}" if self.since else ""
        if self.since and self.until:
            shown = f", shown from {_time(self.since)} to {_time(self.until)}"
        return f"{self.source}: generation {self.generation}{shown}"


@dataclass(frozen=True, kw_only=True, slots=True)
class AsOf:
    """From what a question about an earlier time is answered."""

    at: datetime | None
    """The moment that was asked for; None when a generation was."""
    sources: tuple[SourceThen, ...]
    """Of those that were asked."""
    generations: Mapping[int, int] = field(default_factory=dict)
    """What was visible, by the number of each source; one that is not here had nothing."""

    @property
    def says(self) -> str:
        """`as of 2026-11-01 00:00 UTC`, or `as of generation 3`."""
        if self.at is None:
            return f"as of generation {', '.join(str(one.generation) for one in self.sources)}"
        return f"as of {_time(self.at)}"


def moment(text: str, now: datetime) -> datetime:
    """The moment meant by a date (its beginning), an instant, or how long ago; UTC if nothing is said."""
    asked = text.strip()
    try:
        at = _moment(asked, now)
    except (ValueError, OverflowError):
        raise UserError(
            f"as of `{text}`: neither a date, nor an instant, nor how long ago",
            hint="give a date such as `2026-11-01`, an instant such as `2026-11-01T08:00Z`, or `2d`",
            as_of=text,
        ) from None
    if at > now:
        raise UserError(
            f"as of `{text}`: in the future",
            hint=f"it is {_time(now)}; omit it to search what readers see now",
            as_of=text,
        )
    return at


def then(label: str, shown: Shown, at: datetime) -> SourceThen:
    """What a source answers from, as of a moment."""
    if shown.generation and shown.kept:
        return SourceThen(source=label, generation=shown.generation, since=shown.at, until=shown.until)
    if not shown.generation:
        when = f"first shown {minute(shown.first_at)}" if shown.first_at else "nothing was shown yet"
        return SourceThen(source=label, generation=None, missing=when)
    if shown.kept_since is None:
        return SourceThen(source=label, generation=None, missing="nothing is kept")
    if at < shown.kept_since:
        missing = f"kept since {minute(shown.kept_since)}; nothing older"
        return SourceThen(source=label, generation=None, missing=missing)
    # A run that follows a rollback discards what was rolled back.
    missing = f"generation {shown.generation}, shown then, was rolled back and is not kept"
    return SourceThen(source=label, generation=None, missing=missing)


def removed(label: str, at: datetime) -> SourceThen:
    missing = f"removed {_time(at)}; nothing of it is kept"
    return SourceThen(source=label, generation=None, missing=missing)


def _moment(asked: str, now: datetime) -> datetime:
    ago = duration.seconds(asked)
    if ago is not None:
        return now - timedelta(seconds=ago)
    at = datetime.fromisoformat(asked)
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)


def _time(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC" if not at.second else f"{at:%Y-%m-%d %H:%M:%S} UTC"
