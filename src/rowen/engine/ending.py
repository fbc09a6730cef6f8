"""How a run ends: which generation is shown or held, how far the watermark moves, what the source remembers.

Decides only: the run writes the `RunEnd` down, in one transaction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rowen.core.generation import Replacement
from rowen.core.rules.guard import reason_to_hold
from rowen.core.rules.left_out import sentences
from rowen.core.rules.schedule import Failure
from rowen.core.run import Mode, RunStatus, StopReason
from rowen.core.source import EDITED, FATAL, LEFT_OUT, UNFINISHED, WHOLE_RUN_AT, Source, Status
from rowen.core.state import Step, after, cancelled
from rowen.core.web.verified import Looked, LookedAtSome
from rowen.core.window import reached_by
from rowen.engine.intake import Intake
from rowen.engine.kind import Harvested
from rowen.errors import RateLimited, RowenError, UserError
from rowen.ports.store.runs import RunEnd

_NOT_ALL = (StopReason.SERVICE_WINDOW, StopReason.LISTING_CUT)
"""The server has more than it showed."""


def harvested_end(
    source: Source,
    intake: Intake,
    harvested: Harvested,
    *,
    before: int,
    max_deleted_share: float,
    replaced: Sequence[Replacement] = (),
) -> RunEnd:
    """The end of a run whose harvest came to its end; `before` is the number of documents readers see.

    `replaced` are the new versions beside the old ones, where there are so many that the guard looks.
    """
    run, counters = intake.run, intake.counters
    staged = intake.staged
    # "Nothing has changed since" is an answer too.
    nothing_new = harvested.mode is Mode.INCREMENTAL and harvested.error is None
    if not counters.unchanged and not staged and not nothing_new:
        problem = harvested.error.message if harvested.error else _why_nothing(source, intake)
        if intake.out_of_time:
            problem = f"{intake.out_of_time} before anything was taken in"
        return broken_end(
            source, intake, RunStatus.FAILED, harvested.stop_reason, harvested.error, problem=problem
        )
    documents = before + intake.added - counters.deleted
    # A run that was asked for named references may have asked for everything all the same.
    whole = intake.only is None or harvested.complete
    everything = harvested.complete or not intake.asks_some
    hold = reason_to_hold(
        before=before - intake.dropped,
        deleted=intake.lost,
        max_deleted_share=max_deleted_share,
        root_answered=harvested.root_answered,
        replaced=replaced,
    )
    if hold is not None:
        return RunEnd(
            status=RunStatus.HELD,
            mode=harvested.mode or run.mode,
            stop_reason=StopReason.DELETION_GUARD,
            counters=counters,
            error=f"generation {run.generation} not shown: {hold}",
            items=intake.items,
            hold=run.generation,
            hold_reason=hold,
            documents=documents,
            source_status=after(Status.RUNNING, Step.FAIL),
            window=harvested.window,
            metadata=_metadata(source, {}, whole=whole),
        )
    # Without vectors the text is stored all the same: the source shows that only a person can change it.
    trouble = harvested.error or intake.refused
    came = harvested.stop_reason not in _NOT_ALL and intake.out_of_time is None
    clean = not counters.failed and trouble is None and came
    went_on = bool(staged or harvested.progress)
    settled = counters.failed <= harvested.given_up and harvested.error is None
    advances = settled and harvested.complete
    window = harvested.window
    covers = harvested.complete and harvested.error is None and not intake.asks_some
    looked: Looked | LookedAtSome | None = None
    if covers and not intake.out_of_time:
        looked = intake.looked(before)
    elif intake.asks_some:
        looked = intake.looked_at_some()
    # What a kind learnt is kept after a settled run; what it wants forgotten (None) after any.
    learnt = {key: value for key, value in harvested.metadata.items() if settled or value is None}
    return RunEnd(
        status=RunStatus.COMPLETED if clean else RunStatus.PARTIAL,
        mode=harvested.mode or run.mode,
        stop_reason=harvested.stop_reason,
        counters=counters,
        error=trouble.message if trouble else _cut_off(intake, went_on),
        items=intake.items,
        activate=run.generation if staged else None,
        documents=documents,
        source_status=after(Status.RUNNING, Step.SUCCEED if trouble is None else Step.FAIL),
        # invariant: the watermark is the start of the last run that took in all of its window without
        # failures, never past them; what failed again and again is given up, and the source says so. The
        # items carry times of the server's clock: where ours is ahead of it, the server's counts.
        watermark=min(run.started_at, harvested.server_time or run.started_at)
        if advances and not (window and window.seeding)
        else None,
        last_processed_date=reached_by(window, before=source.last_processed_date)
        if advances and window
        else None,
        window=window,
        looked=looked,
        metadata=_metadata(
            source,
            {
                FATAL: False,
                # A run that got nowhere is not followed by another at once.
                UNFINISHED: bool(intake.out_of_time and went_on)
                if intake.within_s is None
                else source.metadata.get(UNFINISHED),
                EDITED: None if advances and whole and intake.out_of_time is None else source.edited,
                **learnt,
                **harvested.remember,
                **_left_out(intake, whole=everything),
            },
            whole=whole,
        ),
        answered=source.upstream if harvested.error is None else None,
    )


def broken_end(
    source: Source,
    intake: Intake,
    status: RunStatus,
    stop_reason: StopReason,
    exc: RowenError | None,
    *,
    problem: str | None = None,
) -> RunEnd:
    """The end of a run that failed or was cancelled: readers see what they saw."""
    # A cancelled run says nothing about the source: its state, errors and streak stay as they were.
    is_cancelled = status is RunStatus.CANCELLED
    fatal = source.is_broken if is_cancelled else exc is not None and classify(exc) is Failure.FATAL
    return RunEnd(
        status=status,
        mode=intake.run.mode,
        stop_reason=stop_reason,
        counters=intake.counters,
        error=problem or (exc.message if exc else None),
        items=intake.items,
        source_status=cancelled(source.status) if is_cancelled else after(Status.RUNNING, Step.FAIL),
        metadata=_metadata(source, {FATAL: fatal}, whole=intake.only is None),
    )


def classify(exc: RowenError | None) -> Failure:
    if isinstance(exc, RateLimited):
        return Failure.RATE_LIMIT
    if isinstance(exc, UserError) or (exc is not None and exc.facts.get("status") in (401, 403)):
        return Failure.FATAL
    return Failure.TRANSIENT


def _cut_off(intake: Intake, went_on: bool) -> str | None:
    if intake.out_of_time is None:
        return None
    then = "the next run goes on from there" if went_on else "it got no further than the run before: raise it"
    return f"{intake.out_of_time}; {then}"


def _why_nothing(source: Source, intake: Intake) -> str:
    if intake.first_failure is not None:
        return intake.first_failure.detail or intake.first_failure.reason
    counters = intake.counters
    said = [*filter(None, [counters.why_ignored, counters.kept]), *sentences(counters.left_out)]
    return f"`{source.location}`: nothing to index" + (f" ({'; '.join(said)})" if said else "")


def _left_out(intake: Intake, *, whole: bool) -> dict[str, Any]:
    """A run for named references knows nothing of what the others leave out."""
    return {LEFT_OUT: intake.counters.left_out} if whole else {}


def _metadata(source: Source, learnt: Mapping[str, Any], *, whole: bool) -> dict[str, Any] | None:
    """What the source remembers from here on; None when that is what it remembers already."""
    metadata = {**source.metadata, **learnt}
    if whole:
        metadata.pop(WHOLE_RUN_AT, None)
    elif source.whole_run_at is not None:
        # A source whose runs name references all day is still asked for everything when that is due.
        metadata[WHOLE_RUN_AT] = source.whole_run_at.isoformat()
    for flag in (EDITED, FATAL, LEFT_OUT, UNFINISHED):
        if not metadata.get(flag):
            metadata.pop(flag, None)
    return metadata if metadata != source.metadata else None
