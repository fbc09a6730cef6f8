"""The hours in which something may be done, every night, by the clocks of one place.

    NightWindow(time(3), time(6), ZoneInfo("Europe/Madrid")).at(now)

A window opens when the clock shows its beginning for the first time that night, and closes when it shows its
end for the first time. In the night that has no such hour, the hour counts as the one after it: no night goes
without its window. Pure: times come in as instants, and go out as such, in UTC.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from rowen.records import dataclass

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class NightWindow:
    start: time
    end: time
    """Before or at `start`: on the next day. The same time is a whole day."""
    zone: ZoneInfo

    def at(self, now: datetime) -> tuple[datetime, datetime] | None:
        """When the window that is open now opened, and when it closes."""
        return next((span for span in self._around(now) if span[0] <= now < span[1]), None)

    def next_opening(self, now: datetime) -> datetime:
        """The first one after now; while a window is open, that of the next night."""
        return min(opening for opening, _ in self._around(now) if opening > now)

    def _around(self, now: datetime) -> list[tuple[datetime, datetime]]:
        today = now.astimezone(self.zone).date()
        # Two days to each side: windows reach over midnight, and places have left out whole days.
        return [self._span(today + DAY * days) for days in range(-2, 4)]

    def _span(self, day: date) -> tuple[datetime, datetime]:
        over_midnight = self.end <= self.start
        opening = self._instant(day, self.start)
        closing = self._instant(day + DAY if over_midnight else day, self.end)
        if closing <= opening:
            # The clock jumped over the end while the beginning was moved: the length is kept instead.
            closing = opening + (datetime.combine(day, self.end) - datetime.combine(day, self.start)) % DAY
        return opening, closing

    def _instant(self, day: date, at: time) -> datetime:
        # With fold=0 an hour that is there twice is the first one, and a skipped one is as long after the
        # jump as it would have been after its beginning.
        return datetime.combine(day, at, self.zone).astimezone(UTC)
