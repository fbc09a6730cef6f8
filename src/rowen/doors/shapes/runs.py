"""The shapes of runs: their records, receipts, items, events and handoffs.

Counters are those of `core/run.py`: a counter that is added there is in every shape here that has counters.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from rowen.core.rules.left_out import left_out
from rowen.core.run import Counters, Mode, RunStatus, StopReason
from rowen.doors.shapes.shape import Rounded, Shape, Time, at
from rowen.engine.tasks import Dropped
from rowen.errors import RowenError

if TYPE_CHECKING:  # a command that only reads must not load the modules that fetch
    from rowen.core import run as core
    from rowen.core.handoff import HandoffStatus
    from rowen.core.source import Source
    from rowen.engine.receipt import Receipt as CoreReceipt


UNCHANGED_REASONS = ("not_modified", "same_body", "same_content")
"""Why an item was called unchanged; such items have no row, only these counters."""

RUN_EXAMPLE: dict[str, Any] = {
    "source": "docs",
    "run_id": 12,
    "mode": "incremental",
    "status": "completed",
    "generation": 3,
    "created": 1,
    "updated": 2,
    "unchanged": 524,
    "requests": 527,
    "not_modified": 524,
    "bytes_avoided": 21_400_000,
    "embeddings_computed": 4,
    "stop_reason": "exhausted",
    "outcome": "completed",
    "outcome_text": None,
    "duration_s": 4.2,
    "error": None,
    "left_out": {},
}


def _left_out(run: CoreReceipt | core.Run) -> dict[str, int]:
    counters = run.counters
    return left_out(counters.get("ignored", {})) if isinstance(counters, dict) else counters.left_out


class RunRecord(Shape):
    """One execution of a source; while it runs, its counters are a few seconds old."""

    run_id: int = at("id")
    mode: str
    """`full` or `incremental`"""
    status: str
    """`running`, `completed`, `partial`, `held`, `failed`, `cancelled`, `lost`"""
    generation: int
    """What readers saw when it ended; while it runs, the one it builds"""
    stop_reason: str | None
    outcome: str = at("result.state")
    """`status`, or `capped` for a run that ended at a limit of its settings"""
    outcome_text: str | None = at("result.words")
    """What it did not bring, in words; null when everything came"""
    started_at: Time
    finished_at: Time | None
    duration_s: Annotated[float, Rounded(3)] | None
    counters: Counters
    left_out: dict[str, int] = at(_left_out)
    """What it left out because of a limit, by reason: part of `ignored`"""
    error: str | None
    owner: str
    window: dict[str, Any] | None = None
    """The period it asked for"""


class Run(RunRecord):
    """One execution of a source; while it runs, its counters are a few seconds old."""

    examples = (
        {
            **RUN_EXAMPLE,
            "started_at": "2026-05-01T12:00:00+00:00",
            "finished_at": "2026-05-01T12:00:04.200000+00:00",
            "owner": "host:4711:1",
            "window": None,
        },
    )

    source: str


class Runs(Shape):
    runs: list[Run]


class Receipt(Shape):
    """What a run did and what it avoided."""

    source: str = at("source.label")
    run_id: int
    mode: str
    status: str
    generation: int
    counters: Counters
    left_out: dict[str, int] = at(_left_out)
    """What it left out because of a limit, by reason: part of `ignored`"""
    stop_reason: str | None
    outcome: str = at("result.state")
    """`status`, or `capped` for a run that ended at a limit of its settings"""
    outcome_text: str | None = at("result.words")
    """What it did not bring, in words; null when everything came"""
    held_generation: int | None
    error: str | None
    hint: str | None
    duration_s: Annotated[float, Rounded(3)] | None


class HandoffReceipt(Receipt, schema_name="Receipt"):
    """What a run did, and what became of its handoffs."""

    examples = (
        {
            **RUN_EXAMPLE,
            "held_generation": None,
            "hint": None,
            "scrape_run_id": 12,
            "handoff_queued_count": 3,
            "handoff_completed_count": 3,
            "handoff_failed_count": 0,
            "handoff_skipped_count": 0,
        },
    )

    scrape_run_id: int
    """The same as `run_id`"""
    handoff_queued_count: int
    """Changed items that were handed to ingestion"""
    handoff_completed_count: int
    """Of them: ingested completely"""
    handoff_failed_count: int
    """Of them: failed for good"""
    handoff_skipped_count: int
    """Of them: stored without vectors, which are filled in later"""


class Passed(Shape):
    """A source that was due and did not run."""

    source: str = at("source.label")
    run_id: None = at(lambda one: None)
    status: str = at(lambda one: "passed")
    reason: str
    until: Time | None


class Begun(Shape):
    """A run that was requested and not waited for."""

    source: str
    state: str
    """`running`, or `queued` while other runs are under way"""
    scrape_run_id: int | None
    """Known as soon as it runs"""
    location: str
    """Where to look; also the header `Location`"""


class Cancelled(Shape):
    """What became of a request to cancel."""

    source: str
    outcome: str
    """`cancelled`; `requested` while the run has not ended; `ended` for one that had; `dropped`; `nothing`"""
    run_id: int | None = at(lambda cancelled: cancelled.run.id if cancelled.run else None)
    status: str | None = at(lambda cancelled: cancelled.run.status.value if cancelled.run else None)
    """Of the run"""
    dropped: int
    """Syncs that waited and do not run"""


class Item(Shape):
    reference: str
    outcome: str
    reason: str
    detail: str | None


class Items(Shape):
    run_id: int
    items: list[Item]
    unlisted: dict[str, int]
    """Unchanged items, by reason: they leave no row"""


class EventItem(Shape):
    """What became of one item, as it happens."""

    reference: str | None
    outcome: str | None
    reason: str | None
    deleted: bool
    queued: int
    detail: str | None


class Event(EventItem):
    source: str
    event: str = at("kind")
    counters: dict[str, Any] | None = at(
        lambda one: one.counters.as_dict() if one.counters and one.kind != "item" else None
    )


class Handoff(Shape):
    id: int
    source: str
    reference: str
    payload_hash: str
    run_id: int
    generation: int
    status: str
    reason_code: str
    attempts: int
    last_error: str | None
    retry_at: Time | None
    """When the next attempt is due"""
    created_at: Time
    updated_at: Time


class Handoffs(Shape):
    handoffs: list[Handoff]
    limit: int
    offset: int


def receipt_of(source: Source, ended: CoreReceipt | core.Run) -> dict[str, Any]:
    """A run of this process by its receipt; one that another process made by its record."""
    if hasattr(ended, "hint"):
        return Receipt.show(ended)
    return Receipt.show(
        ended, source=source.label, run_id=ended.id, held_generation=source.held_generation, hint=None
    )


def failed_receipt(source: Source, exc: Exception, *, full: bool) -> dict[str, Any]:
    """The same fields for a source whose run could not begin, or ended without a receipt."""
    dropped = isinstance(exc, Dropped)
    return Receipt.show(
        source,
        source=source.label,
        run_id=None,
        mode=Mode.FULL if full or not source.active_generation else Mode.INCREMENTAL,
        status=RunStatus.CANCELLED if dropped else RunStatus.FAILED,
        generation=source.active_generation,
        counters=Counters(),
        left_out={},
        stop_reason=StopReason.CANCELLED if dropped else StopReason.ERROR,
        outcome="cancelled" if dropped else "failed",
        outcome_text="cancelled" if dropped else "failed",
        error=exc.message if isinstance(exc, RowenError) else f"{type(exc).__name__}: {exc}",
        hint=exc.hint if isinstance(exc, RowenError) else None,
        duration_s=0.0,
    )


def handoff_counts(counts: Mapping[tuple[HandoffStatus, str], int]) -> dict[str, int]:
    """What became of the handoffs of a run, from how many there are by status and reason."""
    done = {"completed": 0, "failed": 0, "skipped": 0}
    for (status, reason), count in counts.items():
        if reason in ("circuit_open", "retry_scheduled"):
            done["skipped"] += count
        elif status.value in done:
            done[status.value] += count
    return {
        "handoff_queued_count": sum(counts.values()),
        **{f"handoff_{name}_count": count for name, count in done.items()},
    }


def unlisted(counters: Mapping[str, Any]) -> dict[str, int]:
    """Items of a run that left no row, by reason: they were unchanged, which costs no write.

    A reason is counted when an answer comes, also of an item that is listed in the end: readers see it only
    now, or it went because no page links to it any more.
    """
    found = {reason: counters.get(reason, 0) for reason in UNCHANGED_REASONS}
    found["not_modified"] -= counters.get("resumed", 0)
    listed = sum(found.values()) - (counters.get("unchanged", 0) - counters.get("metadata_updated", 0))
    for reason in sorted(found, key=lambda one: -found[one]):
        taken = min(max(listed, 0), found[reason])
        found[reason] -= taken
        listed -= taken
    return {reason: number for reason, number in found.items() if number}
