"""`PostgresStore`: the Store port on one PostgreSQL database.

Each method carries one unit of work to the database's threads; the work itself is in the modules beside
this one, by topic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any

from psycopg.sql import SQL, Identifier

from rowen.adapters.store.postgres import handoffs, harvest, history, leases, runs, search, sources, texts
from rowen.adapters.store.postgres.database import Database
from rowen.adapters.store.postgres.migrate import Connection
from rowen.adapters.store.postgres.offer_store import PostgresOffers
from rowen.adapters.store.postgres.queries import sql
from rowen.adapters.store.postgres.service_store import PostgresService
from rowen.adapters.store.postgres.shard_store import PostgresShards
from rowen.core.document import Draft, Known
from rowen.core.generation import Change, Generation
from rowen.core.handoff import Handoff, HandoffStatus
from rowen.core.lease import Lease
from rowen.core.run import Counters, Mode, Run, RunItem
from rowen.core.search.hit import Place
from rowen.core.section import Passage
from rowen.core.source import NewSource, Source
from rowen.errors import RowenError
from rowen.ports.embedder import Model
from rowen.ports.store.documents import Listing, References, Refreshed
from rowen.ports.store.generations import Vacuumed
from rowen.ports.store.handoffs import Ingested, Settled, Staged
from rowen.ports.store.notes import Pause
from rowen.ports.store.passages import EmbeddingGap, PassageState
from rowen.ports.store.runs import RunEnd
from rowen.ports.store.search import SearchRequest, SearchResult
from rowen.ports.store.sources import SourceStats


class PostgresStore(PostgresService, PostgresOffers, PostgresShards):
    def __init__(
        self,
        url: str,
        *,
        schema: str | None = None,
        busy_timeout_s: float = 5.0,
        index_after: int = texts.INDEX_AFTER,
    ) -> None:
        self._db = Database(url, schema=schema, busy_timeout_s=busy_timeout_s)
        self._index_after = index_after
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
        return await self._db.write(runs.begin_run, lease, source_id, mode, now)

    async def finish_run(self, lease: Lease, run: Run, end: RunEnd, *, now: datetime) -> None:
        await self._db.write(runs.finish_run, lease, run, end, now)
        await self._index()

    async def save_items(self, lease: Lease, run: Run, items: Sequence[RunItem]) -> None:
        await self._db.write(runs.save_items, lease, run, items)

    async def save_progress(self, lease: Lease, run: Run, counters: Counters) -> None:
        await self._db.write(runs.save_progress, lease, run, counters)

    async def close_lost_run(self, lease: Lease, source_id: int, *, now: datetime) -> bool:
        return await self._db.write(runs.close_lost_run, lease, source_id, now)

    async def run(self, run_id: int) -> Run | None:
        return await self._db.read(runs.run_by_id, run_id)

    async def runs(self, source_id: int, *, limit: int) -> list[Run]:
        return await self._db.read(runs.runs, source_id, limit)

    async def run_items(self, run_id: int) -> list[RunItem]:
        return await self._db.read(runs.run_items, run_id)

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
        await self._db.write(runs.save_share, run_id, counters)

    async def shares(self, run_id: int) -> list[Mapping[str, Any]]:
        return await self._db.read(runs.shares, run_id)

    async def passage_states(self, hashes: Sequence[bytes], model: Model) -> dict[bytes, PassageState]:
        return await self._db.read(texts.passage_states, hashes, model)

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
        return await self._db.read(texts.embedding_gap, model, source_id)

    async def unembedded(self, model: Model, *, limit: int) -> list[Passage]:
        return await self._db.read(texts.unembedded, model, limit)

    async def save_passages(
        self, passages: Sequence[Passage], vectors: Mapping[bytes, bytes], model: Model
    ) -> None:
        await self._db.write(texts.save_passages, passages, vectors, model)

    async def save_vectors(self, vectors: Mapping[bytes, bytes], model: Model) -> None:
        await self._db.write(texts.save_vectors, vectors, model)

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
        before = await self._db.read(history.size)
        done = await self._db.write(history.vacuum, floors, everything)
        if everything:
            await self._db.outside_transaction(_give_space_back)
            await self._index()
        after = await self._db.read(history.size)
        return replace(done, bytes_before=before, bytes_after=after)

    # search

    async def search_snapshot(self, request: SearchRequest) -> SearchResult:
        return await self._db.read(search.search_snapshot, request)

    async def document_sections(self, document_id: int) -> list[Place]:
        return await self._db.read(search.document_sections, document_id)

    async def _index(self) -> None:
        """Give the models that have grown large their index.

        At the end of a run, not as they grow: building it once takes a quarter of the time of adding to it.
        """
        # What was written is written, and search answers without an index too: the next run tries again.
        with suppress(RowenError):
            if await self._db.read(texts.models_to_index, self._index_after):
                await self._db.outside_transaction(lambda db: texts.index_large_models(db, self._index_after))


def _give_space_back(db: Connection) -> None:
    # Not FULL: that locks readers out. The room is used again, and the end of each file is cut off.
    for (table,) in db.execute(sql("our_tables")).fetchall():
        db.execute(SQL("VACUUM (ANALYZE) {}").format(Identifier(table)))
