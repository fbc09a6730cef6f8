"""What doors show: every JSON shape that more than one door sends, declared once.

The names of fields are promises (DESIGN, "What programs may rely on"). Counters are those of `core/run.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from rowen.core.run import Counters, Mode, RunStatus, StopReason
from rowen.doors.shape import Day, Rounded, Shape, Time, at
from rowen.errors import RowenError

if TYPE_CHECKING:  # a command that only looks must not load the modules that fetch
    from rowen.core import run as core
    from rowen.core.handoff import HandoffStatus
    from rowen.core.source import Source as CoreSource
    from rowen.doors.states import SourceStatus
    from rowen.engine.run import Receipt as CoreReceipt

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
    "embeddings_computed": 4,
    "stop_reason": "exhausted",
    "duration_s": 4.2,
    "error": None,
}


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
    started_at: Time
    finished_at: Time | None
    duration_s: Annotated[float, Rounded(3)] | None
    counters: Counters
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
    stop_reason: str | None
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
    created_at: Time
    updated_at: Time


class Handoffs(Shape):
    handoffs: list[Handoff]
    limit: int
    offset: int


class Source(Shape):
    """A source, how much of it readers see, and the state it is in."""

    name: str
    version: str
    label: str
    """`name`, or `name@version`: what the paths of this API take"""
    kind: str
    location: str
    status: str
    """`IDLE`, `RUNNING`, `SUCCESS` or `ERROR`"""
    generation: int = at("active_generation")
    """What readers see; 0 before the first harvest"""
    held_generation: int | None
    held_reason: str | None
    documents: int
    sections: int
    last_run_at: Time | None
    last_success_at: Time | None
    last_error_at: Time | None
    last_error: str | None
    last_processed_date: Day | None
    watermark: Time | None
    consecutive_failures: int
    every_s: float | None
    paused: bool
    """By a person, until a person resumes it"""
    client_paused_until: Time | None = at(lambda one: one.upstream_pause and one.upstream_pause.until)
    """Its upstream asked not to be called before"""
    stopped: bool = at("is_broken")
    """Its settings or credentials are wrong; it waits for `resume`"""
    running: bool


class Sources(Shape):
    sources: list[Source]


class Status(Sources):
    embedding: dict[str, Any]
    """The model search uses, and what is missing"""


class Added(Shape):
    source: str = at("label")
    kind: str
    location: str
    key: str
    settings: dict[str, Any] = at("params")
    findings: list[str]
    """What its server said, in sentences"""


class Paused(Shape):
    source: str
    paused: bool


class Removed(Shape):
    source: str
    removed: bool
    documents: int


class Generation(Shape):
    generation: int = at("number")
    run_id: int
    activated_at: Time | None
    """Null while it is held"""
    documents: int
    active: bool


class Generations(Shape):
    source: str
    generations: list[Generation]


class Change(Shape):
    kind: str
    """`added`, `changed` or `removed`"""
    reference: str
    url: str
    title: str
    headings_added: list[str]
    headings_removed: list[str]


class Diff(Shape):
    source: str
    from_generation: int
    to_generation: int
    changes: list[Change]


class Shown(Shape):
    source: str
    generation: int
    """What readers see now"""


class SectionHit(Shape):
    heading_path: str
    url: str
    snippet: str
    score: Annotated[float, Rounded(4)]


class Hit(Shape):
    document_id: int
    source: str
    version: str
    url: str
    """With the anchor of the best section"""
    title: str
    heading_path: str
    snippet: str
    """Matched words stand between « and »"""
    score: Annotated[float, Rounded(4)]
    generation: int
    fetched_at: Time
    sections: list[SectionHit]
    """Other sections of the document that matched"""


class Answer(Shape):
    query: str
    mode: str
    """The mode that answered"""
    degraded: str | None
    """Why vectors were requested and could not be used"""
    hits: list[Hit]


class AnswerPage(Answer, schema_name="Answer"):
    limit: int
    offset: int


DOCUMENT_EXAMPLE: dict[str, Any] = {
    "id": 7,
    "source": "docs",
    "kind": "web",
    "reference": "https://docs.example.org/install",
    "url": "https://docs.example.org/install",
    "title": "Install",
    "metadata": {},
    "content_type": "text/html",
    "content_hash": "5f3a",
    "generation": 3,
    "born": 1,
    "fetched_at": "2026-01-01T12:00:00+00:00",
}


class Document(Shape):
    examples = (DOCUMENT_EXAMPLE,)

    id: int
    """Of this version; another version has another"""
    source: str
    kind: str
    reference: str
    url: str
    title: str
    metadata: dict[str, Any]
    content_type: str
    content_hash: str
    generation: int
    """The one readers see"""
    born: int
    """The generation this version came with"""
    fetched_at: Time


class Documents(Shape):
    source: str
    documents: list[Document]
    next: str | None
    """Give it as `after` to continue; null at the end"""


class Section(Shape):
    position: int
    heading_path: str
    anchor: str | None
    url: str = at(lambda place: f"{place.url}#{place.anchor}" if place.anchor else place.url)
    text: str


class WholeDocument(Document):
    examples = ({**DOCUMENT_EXAMPLE, "text": "# Install", "sections": []},)

    text: str = at(lambda document: document.text or "")
    sections: list[Section]


class Touched(Shape):
    cursor: str = at(lambda item: str(item.cursor))
    source: str
    kind: str
    generation: int
    reference: str
    change: str
    """`added`, `changed` or `removed`, as readers see it now"""
    at: Time
    document: Document | None
    """Null when readers do not see it any more"""


class Changes(Shape):
    changes: list[Touched]
    cursor: str
    """Give it as `since` to continue; state, not history: reading a change twice is harmless"""


class Health(Shape):
    status: str


class Company(Shape):
    company_id: int = at("id")
    name: str
    website: str | None
    open_offers: int
    offers: int
    """Ever"""
    reposts: int
    posting_rate: float
    """New ones a month"""
    places: list[str]
    first_seen_at: Time | None
    last_seen_at: Time | None
    resolution: str
    """What people wrote about it"""


class Offer(Shape):
    offer_id: int = at("id")
    provider: str
    external_id: str
    title: str
    place: str
    url: str
    posted_at: Time | None
    updated_at: Time | None
    first_seen_at: Time | None
    last_seen_at: Time | None
    closed_at: Time | None
    open: bool = at("is_open")
    repost_of: int | None
    sources: list[str]


class Companies(Shape):
    companies: list[Company]


class CompanyWithOffers(Shape):
    company: Company
    offers: list[Offer]


class Sink(Shape):
    name: str
    kind: str
    sources: list[str] = at(lambda sink: sink.settings.get("sources", ()))
    cursor: str = at(lambda sink: str(sink.cursor))
    waiting: int
    more: bool
    until: Time | None
    disabled: bool
    last_run_at: Time | None
    last_success_at: Time | None
    last_error: str | None
    failures: int


class Announced(Shape):
    sink: str
    kind: str
    outcome: str
    sent: int
    until: Time | None
    error: str | None = at(lambda one: one.error and one.error.message)
    hint: str | None = at(lambda one: one.error and one.error.hint)


def source(one: SourceStatus) -> dict[str, Any]:
    return Source.show(one, one.source)


def receipt_of(source: CoreSource, ended: CoreReceipt | core.Run) -> dict[str, Any]:
    """A run of this process by its receipt; one that another process made by its record."""
    if hasattr(ended, "hint"):
        return Receipt.show(ended)
    return Receipt.show(
        ended, source=source.label, run_id=ended.id, held_generation=source.held_generation, hint=None
    )


def failed_receipt(source: CoreSource, exc: Exception, *, full: bool) -> dict[str, Any]:
    """The same fields for a source whose run could not begin, or ended without a receipt."""
    return Receipt.show(
        source,
        source=source.label,
        run_id=None,
        mode=Mode.FULL if full or not source.active_generation else Mode.INCREMENTAL,
        status=RunStatus.FAILED,
        generation=source.active_generation,
        counters=Counters(),
        stop_reason=StopReason.ERROR,
        error=exc.message if isinstance(exc, RowenError) else f"{type(exc).__name__}: {exc}",
        hint=exc.hint if isinstance(exc, RowenError) else None,
        duration_s=0.0,
    )


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


def unlisted(counters: Mapping[str, Any]) -> dict[str, int]:
    """Items of a run that left no row, by reason: they were unchanged, which costs no write."""
    return {reason: counters[reason] for reason in UNCHANGED_REASONS if counters.get(reason)}
