"""What Rowen remembers. Plain reads and writes, each one transaction; the rules live in flows and core.

Every writing method of a run takes the run's lease and raises `LeaseLost` when its token is not the
newest. `StoreBusy` and `StoreFull` are raised when the database cannot take the write now.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Protocol

from rowen.core.document import Draft, Known, Validators
from rowen.core.generation import Change, Generation
from rowen.core.handoff import Handoff, HandoffStatus
from rowen.core.lease import Lease
from rowen.core.run import Counters, Mode, Run, RunItem, RunStatus
from rowen.core.search.hit import Filters, Place
from rowen.core.section import Passage, Section
from rowen.core.source import NewSource, Source, Status
from rowen.core.window import Window
from rowen.ports.embedder import Model
from rowen.ports.store.access import Access
from rowen.ports.store.feed import Feed
from rowen.ports.store.leases import Leases
from rowen.ports.store.offers import Offers
from rowen.ports.store.shards import Shards


@dataclass(frozen=True, kw_only=True, slots=True)
class Staged:
    """A draft whose handoff is durable."""

    handoff_id: int
    reference_id: int
    content_id: int
    sectioned: bool
    """The content was met before: its sections and passages exist."""
    attempts: int
    """How often its ingestion was started before and did not end: more than 0 after a crash."""
    draft: Draft


@dataclass(frozen=True, slots=True)
class Settled:
    """A handoff that ended, and why."""

    handoff_id: int
    reference: str
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Ingested:
    """A staged draft with all that readers will need of it."""

    staged: Staged
    sections: Sequence[Section] = ()
    """Empty when the content was sectioned before."""
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Listing:
    """A remembered answer of a listing (robots.txt, a sitemap): its validators and what we made of it."""

    url: str
    validators: Validators
    payload: Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Refreshed:
    """New validators for text that stayed the same."""

    document_id: int
    validators: Validators
    body_hash: bytes | None
    links: Sequence[str] | None = None
    """None leaves the stored links alone."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RunEnd:
    """How a run ends, decided by the flow, written in one transaction."""

    status: RunStatus
    mode: Mode
    stop_reason: str
    counters: Counters
    error: str | None
    items: Sequence[RunItem]
    activate: int | None = None
    """Move the pointer to this generation."""
    hold: int | None = None
    hold_reason: str | None = None
    documents: int = 0
    """How many documents the generation that is activated or held has."""
    source_status: Status
    watermark: datetime | None = None
    """None leaves it where it is."""
    last_processed_date: date | None = None
    """None leaves it where it is."""
    window: Window | None = None
    """The stretch of time the run asked for, where a source is asked by date."""
    metadata: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Vacuumed:
    documents: int = 0
    contents: int = 0
    passages: int = 0
    vectors: int = 0
    handoffs: int = 0
    bytes_before: int = 0
    bytes_after: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceStats:
    documents: int
    sections: int
    contents_bytes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Pause:
    """A client that asked to be left alone."""

    client: str
    until: datetime
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class EmbeddingGap:
    passages: int
    missing: int
    missing_chars: int


@dataclass(frozen=True, kw_only=True, slots=True)
class PassageState:
    passage_id: int
    embedded: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class References:
    """Every address ever met in a source."""

    ids: Mapping[str, int]
    aliases: Mapping[str, str]
    """Addresses that turned out to be other names of a reference (canonical links)."""


class Store(Leases, Feed, Access, Offers, Shards, Protocol):
    """One database. Readers never wait for writers."""

    async def close(self) -> None: ...

    def rows_written(self) -> int:
        """Rows inserted, updated or deleted since the store was opened: the currency of "doing nothing"."""
        ...

    # sources

    async def add_source(self, new: NewSource, *, now: datetime) -> Source:
        """Raises `Conflict` when the name and version, or the key, exist."""
        ...

    async def remove_source(self, source_id: int) -> None: ...

    async def sources(self) -> list[Source]: ...

    async def stats(self, source_id: int) -> SourceStats: ...

    # runs

    async def begin_run(self, lease: Lease, source_id: int, *, mode: Mode, now: datetime) -> Run:
        """Discard whatever lies beyond the active generation, close runs left open, open this one."""
        ...

    async def finish_run(self, lease: Lease, run: Run, end: RunEnd, *, now: datetime) -> None:
        """The whole end of a run; activation is one UPDATE of one row inside it."""
        ...

    async def save_items(self, lease: Lease, run: Run, items: Sequence[RunItem]) -> None:
        """What became of these items. A long run writes them down as it goes."""
        ...

    async def save_progress(self, lease: Lease, run: Run, counters: Counters) -> None:
        """How far a run has come, for those who watch it from elsewhere."""
        ...

    async def close_lost_run(self, lease: Lease, source_id: int, *, now: datetime) -> bool:
        """A source left RUNNING by a process that is gone is in ERROR. False when it was not."""
        ...

    async def runs(self, source_id: int, *, limit: int) -> list[Run]: ...

    async def run(self, run_id: int) -> Run | None: ...

    async def run_items(self, run_id: int) -> list[RunItem]:
        """The items a run wrote down: all but those answered "not modified"."""
        ...

    # harvesting

    async def known(self, source_id: int, references: Sequence[str] | None = None) -> dict[str, Known]:
        """The visible version of each reference, or of these references, by reference."""
        ...

    async def leftovers(self, source_id: int, references: Sequence[str] | None = None) -> dict[str, Known]:
        """Versions that an unfinished run handed off and no reader sees, by reference."""
        ...

    async def visible_references(self, source_id: int, *, after: str, limit: int) -> list[str]:
        """What readers see, in the order of references: a page of them at a time."""
        ...

    async def metadata(self, source_id: int) -> dict[str, dict[str, Any]]:
        """The metadata of what readers see, by reference."""
        ...

    async def references(self, source_id: int) -> References: ...

    async def save_aliases(self, lease: Lease, source_id: int, aliases: Mapping[str, str | None]) -> None:
        """Other names of references; None for a name that stands for nothing any more."""
        ...

    async def listings(self, source_id: int) -> dict[str, Listing]: ...

    async def save_listing(self, lease: Lease, source_id: int, listing: Listing) -> None: ...

    async def stage(
        self, lease: Lease, run: Run, drafts: Sequence[Draft], *, now: datetime, dispatch: bool = False
    ) -> list[Staged]:
        """References, contents and handoffs in one transaction: the outbox.

        With `dispatch` the transaction also submits a ticket `ingest` for workers, which names the lease,
        the run and the handoffs.
        """
        ...

    async def revive(
        self,
        lease: Lease,
        run: Run,
        references: Sequence[str],
        *,
        now: datetime,
        dispatch: bool = False,
    ) -> list[Staged]:
        """Queue the newest handoff of each reference again, its text and metadata as they were stored."""
        ...

    async def staged(
        self, run: Run, handoff_ids: Sequence[int], *, begun: bool = True, limit: int = 1000
    ) -> list[Staged]:
        """Of these handoffs, the ones this run has yet to ingest; without `begun`, those nobody began."""
        ...

    async def settled(self, handoff_ids: Sequence[int]) -> list[Settled]:
        """Of these handoffs, the ones that ended."""
        ...

    async def forget_tickets(self, run_id: int) -> None:
        """A run is over: nobody needs to take up what is left of its tickets, nor of its questions."""
        ...

    async def save_share(self, run_id: int, counters: Counters) -> None:
        """What a worker did for a run."""
        ...

    async def shares(self, run_id: int) -> list[Mapping[str, Any]]:
        """The counters that workers saved for a run."""
        ...

    async def passage_states(self, hashes: Sequence[bytes], model: Model) -> dict[bytes, PassageState]: ...

    async def ingest(
        self,
        lease: Lease,
        run: Run,
        ingested: Sequence[Ingested],
        passages: Sequence[Passage],
        vectors: Mapping[bytes, bytes],
        model: Model,
        *,
        now: datetime,
    ) -> None:
        """Passages, vectors, sections, documents and completed handoffs in one transaction.

        A reference's older document dies at the run's generation; the new one is born there. A handoff that
        another worker has completed is left as it is.
        """
        ...

    async def retire(self, lease: Lease, run: Run, reference_ids: Sequence[int]) -> None:
        """What is visible of these references dies at the run's generation; nothing of them is born there."""
        ...

    async def refresh(self, lease: Lease, source_id: int, refreshed: Sequence[Refreshed]) -> None:
        """Validators in place: no new version, no new generation."""
        ...

    async def start_handoffs(self, lease: Lease, handoff_ids: Sequence[int], *, now: datetime) -> None:
        """`queued → running`; the attempt counts from here."""
        ...

    async def settle_handoff(
        self,
        lease: Lease,
        handoff_id: int,
        *,
        status: HandoffStatus,
        reason: str,
        error: str | None,
        now: datetime,
    ) -> None: ...

    async def handoffs(
        self,
        *,
        source_id: int | None = None,
        status: HandoffStatus | None = None,
        run_id: int | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[Handoff]: ...

    async def handoff(self, handoff_id: int) -> Handoff | None: ...

    async def handoff_counts(self, *, run_id: int | None = None) -> dict[tuple[HandoffStatus, str], int]:
        """How many there are by status and reason code, of one run or of all."""
        ...

    async def requeue_handoff(self, handoff_id: int, *, now: datetime) -> bool:
        """`failed → queued`, its attempts forgotten. False when it had not failed."""
        ...

    async def cancel_handoff(self, lease: Lease, handoff_id: int, *, now: datetime) -> bool:
        """`queued` or `running → failed`. False when it had ended."""
        ...

    async def embedding_gap(self, model: Model, source_id: int | None = None) -> EmbeddingGap:
        """How much of what readers see has no vector under this model."""
        ...

    async def unembedded(self, model: Model, *, limit: int) -> list[Passage]:
        """Visible passages that have no vector under this model."""
        ...

    async def save_passages(
        self, passages: Sequence[Passage], vectors: Mapping[bytes, bytes], model: Model
    ) -> None:
        """Passages and their vectors ahead of the documents that will use them."""
        ...

    async def save_vectors(self, vectors: Mapping[bytes, bytes], model: Model) -> None: ...

    # schedules, settings and pauses

    async def set_schedule(self, source_id: int, every_s: float | None) -> None: ...

    async def set_params(self, source_id: int, params: Mapping[str, Any]) -> None:
        """Other settings that fetch the same: key and history stay, and that it was broken is forgotten."""
        ...

    async def set_paused(self, source_id: int, paused: bool) -> None:
        """Resuming also forgets that the source was broken: a person has looked at it."""
        ...

    async def pause_client(self, pause: Pause) -> None: ...

    async def pauses(self, *, now: datetime) -> dict[str, Pause]:
        """The clients that must be left alone now, by client."""
        ...

    # notes: what belongs to no source

    async def note(self, name: str) -> Any:
        """None when there is none."""
        ...

    async def notes_like(self, start: str) -> dict[str, Any]:
        """The notes whose names begin so."""
        ...

    async def save_note(self, name: str, value: Any) -> None: ...

    # generations

    async def generations(self, source_id: int) -> list[Generation]: ...

    async def activate(self, source_id: int, generation: int, *, now: datetime) -> None:
        """Move the pointer: rollback and approval. Takes no lease; the flow has checked for a run."""
        ...

    async def changes(self, source_id: int, from_generation: int, to_generation: int) -> list[Change]: ...

    async def vacuum(self, floors: Mapping[int, int], *, everything: bool) -> Vacuumed:
        """Forget what died at or before each source's floor, then what nobody uses.

        `everything` also scans for contents no document ever used and gives the space back to the disk.
        """
        ...

    # search

    async def search_snapshot(self, request: SearchRequest) -> SearchResult:
        """Rank by keyword and by vector inside one snapshot, visible sections only."""
        ...

    async def document_sections(self, document_id: int) -> list[Place]: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchRequest:
    terms: Sequence[str]
    """Words to look for, any of them; repeated words count twice. Empty: no keyword list."""
    vector: bytes | None
    """The query's vector under `model`. None: no vector list."""
    model: Model | None
    filters: Filters
    depth: int = 200
    """How many visible passages each list should hold."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchResult:
    keyword: Mapping[int, float]
    """Passage id to score, higher is better."""
    dense: Mapping[int, float]
    places: Sequence[Place]
    """Every visible place of every ranked passage."""
