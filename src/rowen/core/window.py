"""Which stretch of time a run asks for: forward from what was taken in, then backwards into the past.

A source that can be asked by date is read in windows. The newest one comes first, from the watermark (with
some overlap, for items that turn up late) to now; then, while history is wanted, one day after the other
going back. How far back seeding has come is the source's `last_processed_date`: every day from there on is
in. Pure: times come in, windows go out.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

from rowen.records import dataclass

DAY = timedelta(days=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    since: datetime
    until: datetime
    seeding: bool = False
    """It goes back into the past: it moves `last_processed_date`, never the watermark."""

    def as_dict(self) -> dict[str, str | bool]:
        return {
            "since": self.since.isoformat(),
            "until": self.until.isoformat(),
            "seeding": self.seeding,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Windows:
    """How a source is read by date."""

    overlap: timedelta = DAY
    first: timedelta = DAY
    """How much the very first run takes in before seeding goes on from there."""
    seed_days: int = 0
    """How many days of history are wanted, counted from the first run; 0 for none."""
    seed_windows: int = 7
    """How many days of history one sync takes in at most."""
    seed_window_days: int = 1


def forward(windows: Windows, *, watermark: datetime | None, now: datetime) -> Window:
    """From what was taken in to now."""
    since = now - windows.first if watermark is None else watermark - windows.overlap
    return Window(since=min(since, now), until=now)


def backward(
    windows: Windows, *, reached: date | None, began: datetime, watermark: datetime | None
) -> Window | None:
    """The next stretch of history, or None when there is no more to take in.

    `began` is when the source was added: history is counted from there, so that it has an end.
    """
    if not windows.seed_days or watermark is None or reached is None:
        return None
    oldest = began.astimezone(UTC).date() - timedelta(days=windows.seed_days)
    if reached <= oldest:
        return None
    since = max(reached - timedelta(days=windows.seed_window_days), oldest)
    return Window(since=_midnight(since), until=_midnight(reached), seeding=True)


def reached_by(window: Window, *, before: date | None) -> date | None:
    """How far back the source has come once this window is in.

    The very first window sets where seeding starts: the first midnight inside it, for its own first day is
    in only from that hour on.
    """
    if window.seeding:
        return window.since.astimezone(UTC).date()
    if before is not None:
        return before
    start = window.since.astimezone(UTC)
    return start.date() if start == _midnight(start.date()) else start.date() + DAY


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
