"""What the checks of a page say about how fast it changes, in three sums, and how old evidence fades.

A check compares a page with its copy after some interval: the page changed in it at least once, or not at
all. How often it was checked does not matter for the unchanged stretches, only how long they are together.
Pure; times are in seconds, but any unit does.
"""

from __future__ import annotations

import math

from rowen.records import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """The intervals between checks of one page, with those long past counting less."""

    changes: float = 0.0
    """Intervals in which the page changed."""
    changed_s: float = 0.0
    """How long those were together: the estimate takes each for as long as their mean."""
    unchanged_s: float = 0.0
    """How long the intervals were together in which it did not."""

    def __add__(self, other: Evidence) -> Evidence:
        return Evidence(
            changes=self.changes + other.changes,
            changed_s=self.changed_s + other.changed_s,
            unchanged_s=self.unchanged_s + other.unchanged_s,
        )

    def faded(self, elapsed_s: float, half_life_s: float) -> Evidence:
        """The same evidence that long after: it counts half after each half-life."""
        kept = 0.5 ** (max(elapsed_s, 0.0) / half_life_s)
        return Evidence(
            changes=self.changes * kept, changed_s=self.changed_s * kept, unchanged_s=self.unchanged_s * kept
        )

    def after_change(self, interval_s: float) -> Evidence:
        """With one more interval, in which the page changed."""
        return self + Evidence(changes=1.0, changed_s=max(interval_s, 0.0))

    def after_quiet(self, stretch_s: float, half_life_s: float) -> Evidence:
        """With a stretch in which the page did not change, however often it was checked meanwhile.

        The stretch ends now: what came before it fades, and so do its own early parts.
        """
        stretch_s = max(stretch_s, 0.0)
        lasting = half_life_s / math.log(2.0)
        counted = -lasting * math.expm1(-stretch_s / lasting)
        return self.faded(stretch_s, half_life_s) + Evidence(unchanged_s=counted)


NOTHING = Evidence()
