"""One run of an API by dates: what changed since the last run first, then history, one day after the other.

Absence proves nothing here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from rowen.core.rules.words import count
from rowen.core.run import Mode, StopReason
from rowen.core.window import Window, Windows, backward, forward, reached_by
from rowen.engine.kind import Harvested
from rowen.errors import PermanentError, TransientError, Vanished
from rowen.fetching.client import stop_reason
from rowen.kinds.api import give_up
from rowen.kinds.api.harvest import Harvest
from rowen.kinds.api.items import Listed
from rowen.kinds.listing.claims import in_turn

INCOMPLETE_DAYS = "incomplete_days"
"""In a source's metadata: days that a cap cut short, and days with an item that was given up (`DAY: ID`)."""
MAX_INCOMPLETE_DAYS = 100
FAILING = "failing"
"""In a source's metadata: items that failed when they were last asked for, with how many runs in a row."""
RECHECKED = "rechecked"
"""In a source's metadata: the last known item that was asked for again."""


class ByDate(Harvest):
    """Forward first, then back into the past."""

    async def run(self) -> Harvested:
        window = self._window()
        if window is None:
            return Harvested(stop_reason=StopReason.WINDOW_EXHAUSTED, mode=Mode.INCREMENTAL)
        walk = self._walk(window=window)
        learnt: dict[str, Any] = {}
        failing = _counts(self._source.metadata.get(FAILING))
        self._receiver.watched = failing.keys()
        try:
            await self._take(walk, walk.pages())
            if not self._intake.part and self._params["recheck"]:
                learnt[RECHECKED] = await self._recheck(walk.seen)
            await self._settle_vanished(walk.seen)
        except (TransientError, PermanentError) as exc:
            return Harvested(
                stop_reason=stop_reason(exc), error=exc, complete=False, window=window, mode=Mode.INCREMENTAL
            )
        failures = self._receiver.failures
        failing = give_up.counted(failing, failed=failures, met=self._receiver.met)
        given_up = lasting = give_up.lasting(failing, failures)
        if not give_up.are_few(lasting, asked=walk.taken + self._params["recheck"]):
            given_up = []
        hints = [_about(lasting, given_up=bool(given_up))] if lasting else []
        settled = len(given_up) == len(failures)
        complete = walk.cut is None
        incomplete = [f"{_day(failures[one], window)}: {one}" for one in given_up]
        if walk.cut is not None:
            hint = self._cut_short(walk)
            if window.seeding and settled:
                # A day that is always too much would keep all days before it from ever being reached.
                day = window.since.date().isoformat()
                incomplete.append(day)
                hint = f"{day} is not complete: {hint}"
                complete = True
            hints.append(hint)
        return Harvested(
            stop_reason=walk.cut or StopReason.WINDOW_EXHAUSTED,
            mode=Mode.INCREMENTAL,
            window=window,
            complete=complete,
            more=complete and settled and self._is_more(window),
            hint="; ".join(hints) or None,
            metadata=learnt,
            remember=self._news({FAILING: failing, INCOMPLETE_DAYS: self._incomplete_days(incomplete)}),
            given_up=len(given_up),
        )

    def _window(self) -> Window | None:
        source, windows = self._source, windows_of(self._params)
        if not self._intake.part:
            return forward(windows, watermark=source.watermark, now=self._intake.run.started_at)
        return backward(
            windows,
            reached=source.last_processed_date,
            began=source.created_at,
            watermark=source.watermark,
        )

    def _is_more(self, window: Window) -> bool:
        """Is there history left, and may this sync still take it in?"""
        windows = windows_of(self._params)
        reached = reached_by(window, before=self._source.last_processed_date)
        left = backward(
            windows, reached=reached, began=self._source.created_at, watermark=self._intake.run.started_at
        )
        return left is not None and self._intake.part < windows.seed_windows

    def _incomplete_days(self, added: list[str]) -> list[str]:
        days = self._source.metadata.get(INCOMPLETE_DAYS)
        # An item that was asked for again has either come in or is among those that are added.
        met = self._receiver.met
        known = [one for one in days if one.partition(": ")[2] not in met] if isinstance(days, list) else []
        return [*(one for one in known if one not in added), *added][-MAX_INCOMPLETE_DAYS:]

    def _news(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """What differs from what is remembered; None for nothing."""
        before = self._source.metadata
        return {
            name: value or None
            for name, value in values.items()
            if value != (before.get(name) or type(value)())
        }

    async def _recheck(self, listed: set[str]) -> str:
        """Ask for known items, a few in each run, round and round; returns the last one."""
        number = self._params["recheck"]
        last = self._source.metadata.get(RECHECKED)
        asked = await in_turn(self._ports.store, self._source.id, last, number)
        # An item that was listed a moment ago is there.
        waiting = [one for one in asked if one not in listed]
        _, gone = await self._receiver.look_for(waiting, self._still_there)
        self._receiver.vanished.update(dict.fromkeys(gone))
        return asked[-1] if asked else ""

    async def _still_there(self, id: str) -> Listed | None:  # noqa: A002
        try:
            return Listed(id, await self._detail(id))
        except Vanished:
            return None


def windows_of(params: Mapping[str, Any]) -> Windows:
    return Windows(
        overlap=timedelta(seconds=params["overlap"]),
        seed_days=params["seed_days"],
        seed_windows=params["seed_windows"],
    )


def _counts(remembered: Any) -> dict[str, int]:
    return dict(remembered) if isinstance(remembered, dict) else {}


def _day(at: datetime | None, window: Window) -> str:
    """The day an item is missing from, as well as it is known."""
    return (at or (window.since if window.seeding else window.until)).date().isoformat()


def _about(failed: Sequence[str], *, given_up: bool) -> str:
    """The hint about items that failed again and again."""
    shown = ", ".join(f"`{one}`" for one in failed[:3]) + (", ..." if len(failed) > 3 else "")
    number = count(len(failed), "item")
    said = f"{number} failed in {give_up.RUNS} runs in a row or more ({shown})"
    if not given_up:
        return f"{said}: too many to go on without them, so the same time is asked for again"
    return f"{said}: their days count without them (`incomplete_days`) until a run meets them again"
