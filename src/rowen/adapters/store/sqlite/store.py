"""`SqliteStore`: the Store port on one SQLite file.

Each method carries one unit of work to the database's threads; the work itself is in the modules beside
this one, by topic.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import apsw

from rowen.adapters.store.sqlite import handoffs, harvest, history, leases, search, sources
from rowen.adapters.store.sqlite.database import Database
from rowen.adapters.store.sqlite.offer_store import SqliteOffers
from rowen.adapters.store.sqlite.service_store import SqliteService
from rowen.adapters.store.sqlite.shard_store import SqliteShards
from rowen.core.document import Draft, Known
from rowen.core.generation import Change, Generation
from rowen.core.handoff import Handoff, HandoffStatus
from rowen.core.lease import Lease
from rowen.core.run import Counters, Mode, Run, RunItem
from rowen.core.search.hit import Place
from rowen.core.section import Passage
from rowen.core.source import NewSource, Source
from rowen.ports.embedder import Model
from rowen.ports.store.documents import Listing, References, Refreshed
from rowen.ports.store.generations import Vacuumed
from rowen.ports.store.handoffs import Ingested, Settled, Staged
from rowen.ports.store.notes import Pause
from rowen.ports.store.passages import EmbeddingGap, PassageState
from rowen.ports.store.runs import RunEnd
from rowen.ports.store.search import SearchRequest, SearchResult
from rowen.ports.store.sources import SourceStats


class SqliteStore(SqliteOffers, SqliteService, SqliteShards):
    def __init__(self, path: Path, *, busy_timeout_s: float = 5.0) -> None:
        self._db = Database(path, busy_timeout_s=busy_timeout_s)
        self._matrices: search.Matrices = {}
        # The matrices are shared by the reading threads; a search holds them for its few milliseconds.
        self._matrices_guard = threading.Lock()
        self._db.open()

    @property
    def database(self) -> Database:
        return self._db

    async def close(self) -> None:
        await self._db.close()

    def rows_written(self) -> int:
        return self._db.rows_written()

    # sources

    async def add_source(self, new: NewSource, *, now: datetime) -> Source:
        return await self._db.write(sources.add, new, now)

    async def remove_source(self, source_id: int) -> None:
        await self._db.write(sources.remove, source_id)

    async def sources(self) -> list[Source]:
        return await self._db.read(sources.everything)

    async def source(self, source_id: int) -> Source | None:
        return await self._db.read(sources.by_id, source_id)

    async def stats(self, source_id: int) -> SourceStats:
        return await self._db.read(sources.stats, source_id)

    # leases

    async def acquire_lease(self, name: str, owner: str, *, now: datetime, ttl_s: float) -> Lease | None:
        return await self._db.write(leases.acquire_lease, name, owner, now, ttl_s)

    async def lease(self, name: str) -> Lease | None:
        return await self._db.read(leases.lease, name)

    async def leases_like(self, start: str) -> list[Lease]:
        return await self._db.read(leases.leases_like, start)

    async def forget_leases(self, start: str, *, before: datetime) -> None:
        await self._db.write(leases.forget_leases, start, before)

    async def renew_lease(self, lease: Lease, *, now: datetime, ttl_s: float) -> Lease:
        return await self._db.write(leases.renew_lease, lease, now, ttl_s)

    async def release_lease(self, lease: Lease) -> None:
        await self._db.write(leases.release_lease, lease)

    # runs

    async def begin_run(self, lease: Lease, source_id: int, *, mode: Mode, now: datetime) -> Run:
        return await self._db.write(sources.begin_run, lease, source_id, mode, now)

    async def finish_run(self, lease: Lease, run: Run, end: RunEnd, *, now: datetime) -> None:
        await self._db.write(sources.finish_run, lease, run, end, now)

    async def save_items(self, lease: Lease, run: Run, items: Sequence[RunItem]) -> None:
        await self._db.write(sources.save_items, lease, run, items)

    async def save_progress(self, lease: Lease, run: Run, counters: Counters) -> None:
        await self._db.write(sources.save_progress, lease, run, counters)

    async def close_lost_run(self, lease: Lease, source_id: int, *, now: datetime) -> bool:
        return await self._db.write(sources.close_lost_run, lease, source_id, now)

    async def run(self, run_id: int) -> Run | None:
        return await self._db.read(sources.run_by_id, run_id)

    async def runs(self, source_id: int, *, limit: int) -> list[Run]:
        return await self._db.read(sources.runs, source_id, limit)

    async def run_items(self, run_id: int) -> list[RunItem]:
        return await self._db.read(sources.run_items, run_id)

    # harvesting

    async def known(self, source_id: int, references: Sequence[str] | None = None) -> dict[str, Known]:
        return await self._db.read(harvest.known, source_id, references)

    async def leftovers(self, source_id: int, references: Sequence[str] | None = None) -> dict[str, Known]:
        return await self._db.read(harvest.leftovers, source_id, references)

    async def visible_references(self, source_id: int, *, after: str, limit: int) -> list[str]:
        return await self._db.read(harvest.visible_references, source_id, after, limit)

    async def metadata(self, source_id: int) -> dict[str, dict[str, Any]]:
        return await self._db.read(harvest.metadata, source_id)

    async def references(self, source_id: int) -> References:
        return await self._db.read(harvest.references, source_id)

    async def save_aliases(self, lease: Lease, source_id: int, aliases: Mapping[str, str | None]) -> None:
        await self._db.write(harvest.save_aliases, lease, source_id, aliases)

    async def listings(self, source_id: int) -> dict[str, Listing]:
        return await self._db.read(harvest.listings, source_id)

    async def save_listing(self, lease: Lease, source_id: int, listing: Listing) -> None:
        await self._db.write(harvest.save_listing, lease, source_id, listing)

    async def stage(
        self, lease: Lease, run: Run, drafts: Sequence[Draft], *, now: datetime, dispatch: bool = False
    ) -> list[Staged]:
        return await self._db.write(handoffs.stage, lease, run, drafts, now, dispatch)

    async def revive(
        self,
        lease: Lease,
        run: Run,
        references: Sequence[str],
        *,
        now: datetime,
        dispatch: bool = False,
    ) -> list[Staged]:
        return await self._db.write(handoffs.revive, lease, run, references, now, dispatch)

    async def staged(
        self, run: Run, handoff_ids: Sequence[int], *, begun: bool = True, limit: int = 1000
    ) -> list[Staged]:
        return await self._db.read(handoffs.staged, run, handoff_ids, begun, limit)

    async def settled(self, handoff_ids: Sequence[int]) -> list[Settled]:
        return await self._db.read(handoffs.settled, handoff_ids)

    async def forget_tickets(self, run_id: int) -> None:
        await self._db.write(handoffs.forget_tickets, run_id)

    async def save_share(self, run_id: int, counters: Counters) -> None:
        await self._db.write(sources.save_share, run_id, counters)

    async def shares(self, run_id: int) -> list[Mapping[str, Any]]:
        return await self._db.read(sources.shares, run_id)

    async def passage_states(self, hashes: Sequence[bytes], model: Model) -> dict[bytes, PassageState]:
        return await self._db.read(harvest.passage_states, hashes, model)

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
        await self._db.write(harvest.ingest, lease, run, ingested, passages, vectors, model, now)

    async def retire(self, lease: Lease, run: Run, reference_ids: Sequence[int]) -> None:
        await self._db.write(harvest.retire, lease, run, reference_ids)

    async def refresh(self, lease: Lease, source_id: int, refreshed: Sequence[Refreshed]) -> None:
        await self._db.write(harvest.refresh, lease, source_id, refreshed)

    async def start_handoffs(self, lease: Lease, handoff_ids: Sequence[int], *, now: datetime) -> None:
        await self._db.write(handoffs.start_handoffs, lease, handoff_ids, now)

    async def settle_handoff(
        self,
        lease: Lease,
        handoff_id: int,
        *,
        status: HandoffStatus,
        reason: str,
        error: str | None,
        now: datetime,
    ) -> None:
        await self._db.write(handoffs.settle_handoff, lease, handoff_id, status, reason, error, now)

    async def handoffs(
        self,
        *,
        source_id: int | None = None,
        status: HandoffStatus | None = None,
        run_id: int | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[Handoff]:
        return await self._db.read(handoffs.handoffs, source_id, status, run_id, limit, offset)

    async def handoff(self, handoff_id: int) -> Handoff | None:
        return await self._db.read(handoffs.handoff, handoff_id)

    async def handoff_counts(self, *, run_id: int | None = None) -> dict[tuple[HandoffStatus, str], int]:
        return await self._db.read(handoffs.handoff_counts, run_id)

    async def requeue_handoff(self, handoff_id: int, *, now: datetime) -> bool:
        return await self._db.write(handoffs.requeue_handoff, handoff_id, now)

    async def cancel_handoff(self, lease: Lease, handoff_id: int, *, now: datetime) -> bool:
        return await self._db.write(handoffs.cancel_handoff, lease, handoff_id, now)

    async def embedding_gap(self, model: Model, source_id: int | None = None) -> EmbeddingGap:
        return await self._db.read(harvest.embedding_gap, model, source_id)

    async def unembedded(self, model: Model, *, limit: int) -> list[Passage]:
        return await self._db.read(harvest.unembedded, model, limit)

    async def save_passages(
        self, passages: Sequence[Passage], vectors: Mapping[bytes, bytes], model: Model
    ) -> None:
        await self._db.write(harvest.save_passages, passages, vectors, model)

    async def save_vectors(self, vectors: Mapping[bytes, bytes], model: Model) -> None:
        await self._db.write(harvest.save_vectors, vectors, model)

    # schedules and pauses

    async def set_schedule(self, source_id: int, every_s: float | None) -> None:
        await self._db.write(sources.set_schedule, source_id, every_s)

    async def set_params(self, source_id: int, params: Mapping[str, Any]) -> None:
        await self._db.write(sources.set_params, source_id, params)

    async def set_paused(self, source_id: int, paused: bool) -> None:
        await self._db.write(sources.set_paused, source_id, paused)

    async def pause_upstream(self, pause: Pause) -> None:
        await self._db.write(sources.pause_upstream, pause)

    async def pauses(self, *, now: datetime) -> dict[str, Pause]:
        return await self._db.read(sources.pauses, now)

    # notes

    async def note(self, name: str) -> Any:
        return await self._db.read(sources.note, name)

    async def notes_like(self, start: str) -> dict[str, Any]:
        return await self._db.read(sources.notes_like, start)

    async def save_note(self, name: str, value: Any) -> None:
        await self._db.write(sources.save_note, name, value)

    # generations

    async def generations(self, source_id: int) -> list[Generation]:
        return await self._db.read(history.generations, source_id)

    async def activate(self, source_id: int, generation: int, *, now: datetime) -> None:
        await self._db.write(history.activate, source_id, generation, now)

    async def changes(self, source_id: int, from_generation: int, to_generation: int) -> list[Change]:
        return await self._db.read(history.changes, source_id, from_generation, to_generation)

    async def vacuum(self, floors: Mapping[int, int], *, everything: bool) -> Vacuumed:
        before = self._size()
        done = await self._db.write(history.vacuum, floors, everything)
        if everything:
            await self._db.outside_transaction(_give_space_back)
        return Vacuumed(
            documents=done.documents,
            contents=done.contents,
            passages=done.passages,
            vectors=done.vectors,
            handoffs=done.handoffs,
            bytes_before=before,
            bytes_after=self._size(),
        )

    # search

    async def search_snapshot(self, request: SearchRequest) -> SearchResult:
        return await self._db.read(self._search, request)

    async def document_sections(self, document_id: int) -> list[Place]:
        return await self._db.read(search.document_sections, document_id)

    def _search(self, db: apsw.Connection, request: SearchRequest) -> SearchResult:
        with self._matrices_guard:
            return search.search_snapshot(db, self._matrices, request)

    def _size(self) -> int:
        return self._db.path.stat().st_size


def _give_space_back(db: apsw.Connection) -> None:
    db.execute("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
