"""What doors show, as plain dictionaries: the JSON of every door is made here.

The field names are promises (DESIGN, "What programs may rely on"). Nothing here prints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from rowen.core.run import Counters, Mode, RunStatus, StopReason
from rowen.errors import RowenError

if TYPE_CHECKING:  # a command that only looks must not load the flows that fetch
    from rowen.core.feed import Document, FeedItem
    from rowen.core.generation import Change, Diff, Generation
    from rowen.core.handoff import Handoff, HandoffStatus
    from rowen.core.offers.company import Company
    from rowen.core.offers.offer import Offer
    from rowen.core.run import Event, Run, RunItem
    from rowen.core.search.hit import Answer, Hit, Place
    from rowen.core.source import Source
    from rowen.doors.states import SourceStatus
    from rowen.engine.run import Receipt
    from rowen.managing.sources import Added
    from rowen.service.attempts import NotRun
    from rowen.sinks.announce import Announced
    from rowen.sinks.states import SinkState

UNCHANGED_REASONS = ("not_modified", "same_body", "same_content")
"""Why an item was called unchanged; such items have no row, only these counters."""


def status(one: SourceStatus) -> dict[str, Any]:
    source = one.source
    return {
        "name": source.name,
        "version": source.version,
        "label": source.label,
        "kind": source.kind,
        "location": source.location,
        "status": source.status.value,
        "generation": source.active_generation,
        "held_generation": source.held_generation,
        "held_reason": source.held_reason,
        "documents": one.documents,
        "sections": one.sections,
        "last_run_at": _time(source.last_run_at),
        "last_success_at": _time(source.last_success_at),
        "last_error_at": _time(source.last_error_at),
        "last_error": source.last_error,
        "last_processed_date": _time(source.last_processed_date),
        "watermark": _time(source.watermark),
        "consecutive_failures": source.consecutive_failures,
        "every_s": source.every_s,
        "paused": source.paused,
        "client_paused_until": _time(one.upstream_pause.until) if one.upstream_pause else None,
        "stopped": source.is_broken,
        "running": one.running,
    }


def receipt(one: Receipt) -> dict[str, Any]:
    return {
        "source": one.source.label,
        "run_id": one.run_id,
        "mode": one.mode.value,
        "status": one.status.value,
        "generation": one.generation,
        **one.counters.as_dict(),
        "stop_reason": one.stop_reason,
        "held_generation": one.held_generation,
        "error": one.error,
        "hint": one.hint,
        "duration_s": round(one.duration_s, 3),
    }


def passed(one: NotRun) -> dict[str, Any]:
    """A source that was due and did not run."""
    return {
        "source": one.source.label,
        "run_id": None,
        "status": "passed",
        "reason": one.reason,
        "until": _time(one.until),
    }


def failed_receipt(source: Source, exc: Exception, *, full: bool) -> dict[str, Any]:
    """The same fields for a source whose run could not begin, or broke off without a receipt."""
    mode = Mode.FULL if full or not source.active_generation else Mode.INCREMENTAL
    return {
        "source": source.label,
        "run_id": None,
        "mode": mode.value,
        "status": RunStatus.FAILED.value,
        "generation": source.active_generation,
        **Counters().as_dict(),
        "stop_reason": StopReason.ERROR.value,
        "held_generation": source.held_generation,
        "error": exc.message if isinstance(exc, RowenError) else f"{type(exc).__name__}: {exc}",
        "hint": exc.hint if isinstance(exc, RowenError) else None,
        "duration_s": 0.0,
    }


def receipt_of(source: Source, one: Run) -> dict[str, Any]:
    """The same fields for a run that another process made: its record is all there is."""
    return {
        "source": source.label,
        "run_id": one.id,
        "mode": one.mode.value,
        "status": one.status.value,
        "generation": one.generation,
        **Counters.from_dict(one.counters).as_dict(),
        "stop_reason": one.stop_reason,
        "held_generation": source.held_generation,
        "error": one.error,
        "hint": None,
        "duration_s": _duration(one),
    }


def handoff_counts(counts: Mapping[tuple[HandoffStatus, str], int]) -> dict[str, int]:
    """What became of the handoffs of a run, from how many there are by status and reason."""
    done = {"completed": 0, "failed": 0, "skipped": 0}
    for (status, reason), count in counts.items():
        if status.value == "completed" and reason == "circuit_open":
            done["skipped"] += count
        elif status.value in done:
            done[status.value] += count
    return {
        "handoff_queued_count": sum(counts.values()),
        **{f"handoff_{name}_count": count for name, count in done.items()},
    }


def answer(one: Answer) -> dict[str, Any]:
    return {
        "query": one.query,
        "mode": one.mode.value,
        "degraded": one.degraded,
        "hits": [hit(found) for found in one.hits],
    }


def hit(one: Hit) -> dict[str, Any]:
    return {
        "document_id": one.document_id,
        "source": one.source,
        "version": one.version,
        "url": one.url,
        "title": one.title,
        "heading_path": one.heading_path,
        "snippet": one.snippet,
        "score": round(one.score, 4),
        "generation": one.generation,
        "fetched_at": _time(one.fetched_at),
        "sections": [{**asdict(section), "score": round(section.score, 4)} for section in one.sections],
    }


def run(one: Run) -> dict[str, Any]:
    return {
        "run_id": one.id,
        "mode": one.mode.value,
        "status": one.status.value,
        "generation": one.generation,
        "stop_reason": one.stop_reason,
        "started_at": _time(one.started_at),
        "finished_at": _time(one.finished_at),
        "duration_s": _duration(one),
        **one.counters,
        "error": one.error,
        "owner": one.owner,
        "window": one.window,
    }


def run_of(source: Source, one: Run) -> dict[str, Any]:
    return {"source": source.label, **run(one)}


def item(one: RunItem) -> dict[str, Any]:
    return {
        "reference": one.reference,
        "outcome": one.outcome.value,
        "reason": one.reason,
        "detail": one.detail,
    }


def unlisted(counters: Mapping[str, Any]) -> dict[str, int]:
    """Items of a run that left no row, by reason: they were unchanged, which costs no write."""
    return {reason: counters[reason] for reason in UNCHANGED_REASONS if counters.get(reason)}


def diff(source: Source, one: Diff) -> dict[str, Any]:
    return {
        "source": source.label,
        "from_generation": one.from_generation,
        "to_generation": one.to_generation,
        "changes": [change(found) for found in one.changes],
    }


def change(one: Change) -> dict[str, Any]:
    return {
        "kind": one.kind,
        "reference": one.reference,
        "url": one.url,
        "title": one.title,
        "headings_added": list(one.headings_added),
        "headings_removed": list(one.headings_removed),
    }


def handoff(one: Handoff) -> dict[str, Any]:
    return {
        "id": one.id,
        "source": one.source,
        "reference": one.reference,
        "payload_hash": one.payload_hash.hex(),
        "run_id": one.run_id,
        "generation": one.generation,
        "status": one.status.value,
        "reason_code": one.reason_code,
        "attempts": one.attempts,
        "last_error": one.last_error,
        "created_at": _time(one.created_at),
        "updated_at": _time(one.updated_at),
    }


def sink(one: SinkState) -> dict[str, Any]:
    stored = one.sink
    return {
        "name": stored.name,
        "kind": stored.kind,
        "sources": list(stored.settings.get("sources", ())),
        "cursor": str(stored.cursor),
        "waiting": one.waiting,
        "more": one.more,
        "until": _time(one.until),
        "disabled": one.disabled,
        "last_run_at": _time(stored.last_run_at),
        "last_success_at": _time(stored.last_success_at),
        "last_error": stored.last_error,
        "failures": stored.failures,
    }


def announced(one: Announced) -> dict[str, Any]:
    return {
        "sink": one.sink,
        "kind": one.kind,
        "outcome": one.outcome.value,
        "sent": one.sent,
        "until": _time(one.until),
        "error": one.error.message if one.error else None,
        "hint": one.error.hint if one.error else None,
    }


def company(one: Company) -> dict[str, Any]:
    return {
        "company_id": one.id,
        "name": one.name,
        "website": one.website,
        "open_offers": one.open_offers,
        "offers": one.offers,
        "reposts": one.reposts,
        "posting_rate": one.posting_rate,
        "places": list(one.places),
        "first_seen_at": _time(one.first_seen_at),
        "last_seen_at": _time(one.last_seen_at),
        "resolution": one.resolution,
    }


def offer(one: Offer) -> dict[str, Any]:
    return {
        "offer_id": one.id,
        "provider": one.provider,
        "external_id": one.external_id,
        "title": one.title,
        "place": one.place,
        "url": one.url,
        "posted_at": _time(one.posted_at),
        "updated_at": _time(one.updated_at),
        "first_seen_at": _time(one.first_seen_at),
        "last_seen_at": _time(one.last_seen_at),
        "closed_at": _time(one.closed_at),
        "open": one.is_open,
        "repost_of": one.repost_of,
        "sources": list(one.sources),
    }


def event(one: Event) -> dict[str, Any]:
    return {
        "source": one.source,
        "event": one.kind,
        "reference": one.reference,
        "outcome": one.outcome.value if one.outcome else None,
        "reason": one.reason,
        "deleted": one.deleted,
        "queued": one.queued,
        "detail": one.detail,
        "counters": one.counters.as_dict() if one.counters and one.kind != "item" else None,
    }


def added(one: Added) -> dict[str, Any]:
    source = one.source
    return {
        "source": source.label,
        "kind": source.kind,
        "location": source.location,
        "key": source.key,
        "settings": dict(source.params),
        "findings": list(one.findings),
    }


def generation(one: Generation) -> dict[str, Any]:
    return {
        "generation": one.number,
        "run_id": one.run_id,
        "activated_at": _time(one.activated_at),
        "documents": one.documents,
        "active": one.active,
    }


def document(one: Document) -> dict[str, Any]:
    return {
        "id": one.id,
        "source": one.source,
        "kind": one.kind,
        "reference": one.reference,
        "url": one.url,
        "title": one.title,
        "metadata": dict(one.metadata),
        "content_type": one.content_type,
        "content_hash": one.content_hash.hex(),
        "generation": one.generation,
        "born": one.born,
        "fetched_at": _time(one.fetched_at),
    }


def whole_document(one: Document, places: Sequence[Place]) -> dict[str, Any]:
    return {**document(one), "text": one.text or "", "sections": [section(place) for place in places]}


def section(one: Place) -> dict[str, Any]:
    return {
        "position": one.position,
        "heading_path": one.heading_path,
        "anchor": one.anchor,
        "url": f"{one.url}#{one.anchor}" if one.anchor else one.url,
        "text": one.text,
    }


def touched(one: FeedItem) -> dict[str, Any]:
    return {
        "cursor": str(one.cursor),
        "source": one.source,
        "kind": one.kind,
        "generation": one.generation,
        "reference": one.reference,
        "change": one.change,
        "at": _time(one.at),
        "document": document(one.document) if one.document else None,
    }


def _duration(one: Run) -> float | None:
    return round((one.finished_at - one.started_at).total_seconds(), 3) if one.finished_at else None


def _time(value: date | datetime | None) -> str | None:
    return value.isoformat() if value is not None else None
