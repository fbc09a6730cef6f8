"""The durable record that a changed reference must be ingested.

One per (reference, payload hash). `queued → running → completed | failed`; every transition has a
reason code. The functions here decide; the store only writes what they return.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

MAX_ATTEMPTS = 3


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
    created_at: datetime
    updated_at: datetime


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


def attempts_kept(status: HandoffStatus, attempts: int) -> int:
    """Attempts that were started and never ended still count; a handoff that is opened again starts at 0."""
    return attempts if status is HandoffStatus.RUNNING else 0


def is_poison(attempts: int) -> bool:
    """Started as often as is allowed and never ended: its worker died each time."""
    return attempts >= MAX_ATTEMPTS
