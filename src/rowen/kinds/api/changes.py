"""A portal that can be asked what changed: between two complete lists, only that is asked for.

What the portal itself calls deleted goes at once; what is merely not named stays until a complete list proves
that it is gone. A portal that refuses the question is listed whole.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from rowen.core.params import how
from rowen.core.rules.clocks import is_ahead
from rowen.core.run import Mode, StopReason
from rowen.core.window import Window
from rowen.engine.kind import Harvested
from rowen.errors import PermanentError, RowenError, TransientError, Unfetchable
from rowen.fetching.client import stop_reason
from rowen.kinds.api.harvest import WholeList
from rowen.kinds.api.settings import duration_s
from rowen.kinds.api.walking.walk import REFUSED

LISTED_AT = "listed_at"
"""In a source's metadata: when everything was last listed."""
WEEK_S, HOUR_S = 604_800.0, 3_600.0
PARAMS = (
    how("full_sync_every", WEEK_S, "How often to list everything to find what is gone: 7d, 12h", duration_s),
    how("overlap", HOUR_S, "How much further back to ask than the last run began: 1h", duration_s),
)
_NOT_TAKEN = (*REFUSED, 404, 405, 501)
"""Statuses with which a portal refuses the question what changed."""


class ChangesOrAll(WholeList):
    async def run(self) -> Harvested:
        refusal = ""
        if self._may_ask_for_changes():
            found = await self._changes()
            if isinstance(found, Harvested):
                return found
            refusal = f"the portal refuses the question what changed ({found.message}): everything was listed"
            self._intake.counters.ignored["changes_filter"] += 1
        if self._source.watermark is not None:
            # What changed after that would have been asked for: of everything else the dates claim that it
            # did not.
            self._receiver.unchanged_since = self._source.watermark - self._overlap
        harvested = await super().run()
        hint = "; ".join(filter(None, (harvested.hint, refusal))) or None
        # What changed in the part that a killed run has read is met by listing everything once more.
        if harvested.complete and harvested.mode is Mode.FULL and not self.resumed:
            listed = {LISTED_AT: self._intake.run.started_at.isoformat()}
            return replace(harvested, hint=hint, metadata={**harvested.metadata, **listed})
        return replace(harvested, hint=hint)

    def _may_ask_for_changes(self) -> bool:
        source, now = self._source, self._intake.run.started_at
        # After a rollback readers see less than the watermark promises.
        shown = source.active_generation and source.active_generation == source.last_generation
        if not self._claims.may_skip:
            return False
        last = source.metadata.get(LISTED_AT)
        if not shown or source.watermark is None or self._intake.unconditional or not isinstance(last, str):
            return False
        listed = datetime.fromisoformat(last)
        return now - listed < timedelta(seconds=self._params["full_sync_every"]) and not is_ahead(listed, now)

    @property
    def _overlap(self) -> timedelta:
        return timedelta(seconds=self._params["overlap"])

    async def _changes(self) -> Harvested | RowenError:
        """The run, or the refusal of a portal that does not take the question."""
        watermark = self._source.watermark
        assert watermark is not None
        since = watermark - self._overlap
        walk = self._walk(window=Window(since=since, until=self._intake.run.started_at), changes=True)
        try:
            await self._take(walk, walk.pages())
        except (TransientError, PermanentError) as exc:
            if isinstance(exc, Unfetchable) and not walk.seen and exc.facts.get("status") in _NOT_TAKEN:
                return exc
            return Harvested(stop_reason=stop_reason(exc), error=exc, complete=False, mode=Mode.INCREMENTAL)
        whole = walk.is_complete()
        return Harvested(
            stop_reason=walk.cut or (StopReason.EXHAUSTED if whole else StopReason.LISTING_CUT),
            mode=Mode.INCREMENTAL,
            complete=whole,
            hint=None if whole else "the list of changes was not complete: it is asked for again",
        )
