"""The durable record that a changed reference must be ingested.

One per (reference, payload hash). `queued → running → completed | failed`; every transition has a
reason code. The functions here decide; the store only writes what they return.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum

from rowen.core.rules.schedule import LONGEST_PAUSE_S
from rowen.records import NamedTuple, dataclass

MAX_ATTEMPTS = 3
RETRY_BASE_S = 30.0
"""From the first failed attempt to the second; each wait is twice the one before."""


class HandoffStatus(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"


class Reason(StrEnum):
    QUEUED_FROM_SCRAPE = "queued_from_scrape"
    INGESTION_JOB_QUEUED = "ingestion_job_queued"
    INGESTION_JOB_ALREADY_ACTIVE = "ingestion_job_already_active"
    INGESTED = "ingested"
    CIRCUIT_OPEN = "circuit_open"
    RETRY_SCHEDULED = "retry_scheduled"
    RETRY_EXHAUSTED = "retry_exhausted"
    PERMANENT_ERROR = "permanent_error"
    WORKER_LOST = "worker_lost"
    SUPERSEDED = "superseded"
    REOPENED_AFTER_REVERT = "reopened_after_revert"
    REOPENED_AFTER_FAILURE = "reopened_after_failure"
    REOPENED_AFTER_DISCARD = "reopened_after_discard"
    RETRIED_WITH_FEW = "retried_with_few"
    """It was in work when a process ended, so it is ingested with a few others of which the same is true."""
    RETRIED_ALONE = "retried_alone"
    """It was in work with a few others when a process ended once more, so it is ingested by itself."""
    CANCELLED = "cancelled"
    """By a person, before it was ingested."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Handoff:
    id: int
    source: str
    reference: str
    payload_hash: bytes
    run_id: int
    generation: int
    status: HandoffStatus
    reason_code: str
    attempts: int
    last_error: str | None
    retry_at: datetime | None
    """When the next attempt is due, of one that waits for it. Its text is stored and found by its words."""
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Ending:
    """How an attempt ended."""

    status: HandoffStatus
    reason: Reason
    error: str | None = None
    retry_at: datetime | None = None


INGESTED = Ending(HandoffStatus.COMPLETED, Reason.INGESTED)
CIRCUIT_OPEN = Ending(HandoffStatus.COMPLETED, Reason.CIRCUIT_OPEN)
"""The provider was not asked: the text is stored, and a later run fills in its vectors."""

WITHOUT_VECTORS = frozenset((Reason.CIRCUIT_OPEN, Reason.RETRY_SCHEDULED, Reason.PERMANENT_ERROR))
"""Reasons of items that are stored and found by their words alone."""


def after_transient_failure(
    attempts: int, now: datetime, error: str, *, asked_s: float | None = None
) -> Ending:
    """`attempts` have been started; `asked_s` is how long the provider wants to be left alone."""
    if attempts >= MAX_ATTEMPTS:
        return Ending(HandoffStatus.FAILED, Reason.RETRY_EXHAUSTED, error)
    wait_s = max(RETRY_BASE_S * 2 ** (attempts - 1), min(asked_s or 0.0, LONGEST_PAUSE_S))
    return Ending(HandoffStatus.QUEUED, Reason.RETRY_SCHEDULED, error, now + timedelta(seconds=wait_s))


def reopen_reason(status: HandoffStatus) -> Reason:
    """Why a handoff that exists already is queued again by a run that met its payload.

    The caller has established that the payload is not what readers see: had it been, the run would have
    called the item unchanged and not come here.
    """
    match status:
        case HandoffStatus.COMPLETED:
            return Reason.REOPENED_AFTER_REVERT
        case HandoffStatus.FAILED:
            return Reason.REOPENED_AFTER_FAILURE
        case HandoffStatus.QUEUED | HandoffStatus.RUNNING:
            return Reason.INGESTION_JOB_ALREADY_ACTIVE


class Again(NamedTuple):
    """How a handoff that exists already is ingested by a run that met its payload."""

    reason: Reason
    attempts: int
    """Starts by itself that never ended: no other start is held against it."""

    @property
    def suspect(self) -> Reason | None:
        """It was in work when a process ended, and may have been the cause; None for one that was not."""
        return self.reason if self.reason in (Reason.RETRIED_WITH_FEW, Reason.RETRIED_ALONE) else None


def again(status: HandoffStatus, reason: str, attempts: int, *, full: bool = False) -> Again:
    """`full` gives another chance to what was given up."""
    was_alone = reason in (Reason.RETRIED_ALONE, Reason.WORKER_LOST)
    was_with_few = reason == Reason.RETRIED_WITH_FEW
    if was_alone:
        counts = not (full and status is HandoffStatus.FAILED)
        return Again(Reason.RETRIED_ALONE, attempts if counts else 0)
    if status is HandoffStatus.RUNNING:
        # Any item of a batch may have been the cause: of a large one, of one with a few.
        return Again(Reason.RETRIED_ALONE if was_with_few else Reason.RETRIED_WITH_FEW, 0)
    return Again(Reason.RETRIED_WITH_FEW if was_with_few else reopen_reason(status), 0)


def is_poison(attempts: int) -> bool:
    """Started by itself as often as is allowed and never ended: the process ended each time."""
    return attempts >= MAX_ATTEMPTS
