"""What a run did and what it avoided, as its caller is told."""

from __future__ import annotations

from dataclasses import replace

from rowen.core.rules.schedule import Failure
from rowen.core.run import Counters, Mode, Result, RunStatus
from rowen.core.source import Source
from rowen.core.window import Window
from rowen.records import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Receipt:
    """What a run did and what it avoided."""

    source: Source
    run_id: int
    mode: Mode
    status: RunStatus
    generation: int
    """What readers see now."""
    held_generation: int | None
    counters: Counters
    stop_reason: str
    error: str | None
    hint: str | None
    duration_s: float
    failure: Failure | None
    """What kind of failure stopped it, if one did."""
    retry_after_s: float | None
    """How long the upstream asked to be left alone."""
    window: Window | None = None
    """The stretch of time it asked for, where the source is asked by date."""
    more: bool = False
    """There is more to take in right now: history that one run does not reach."""

    @property
    def good(self) -> bool:
        return self.status.is_good

    @property
    def result(self) -> Result:
        """How it ended and what it did not bring, in the words of every door."""
        return Result.of(self.status, self.stop_reason, self.counters, self.mode)


def joined(first: Receipt, last: Receipt) -> Receipt:
    """Two runs of a source in a row as one receipt: what both did, and how the last one ended."""
    counters = Counters()
    for one in (first.counters, last.counters):
        counters.join(one)
    window = last.window
    if first.window and last.window:
        window = replace(last.window, until=max(first.window.until, last.window.until))
    return replace(
        last,
        mode=Mode.FULL if Mode.FULL in (first.mode, last.mode) else last.mode,
        status=RunStatus.PARTIAL if first.status is RunStatus.PARTIAL and last.good else last.status,
        counters=counters,
        hint=last.hint or first.hint,
        duration_s=first.duration_s + last.duration_s,
        window=window,
    )
