"""Which sources there are, with their settings and schedules."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from rowen.adapters.store.shared.database import Topic, reads, writes
from rowen.adapters.store.shared.transaction import Transaction
from rowen.adapters.store.shared.values import Json, value_out
from rowen.core.source import NewSource, Source
from rowen.errors import Conflict
from rowen.ports.store.sources import SourceStats


class Sources(Topic):
    @writes
    def add_source(self, db: Transaction, new: NewSource, *, now: datetime) -> Source:
        clash = db.row("source_clash", name=new.name, version=new.version, key=new.key)
        if clash:
            label = f"{clash[0]}@{clash[1]}" if clash[1] else clash[0]
            raise Conflict(
                f"source `{label}`: exists already",
                hint=f"choose another `--name`, or run `rowen sync {label}`",
                name=clash[0],
            )
        source_id = db.value("source_insert", **value_out(new), now=now)
        return db.all(Source, "source_by_id", source=source_id)[0]

    @writes
    def remove_source(self, db: Transaction, source_id: int, *, now: datetime) -> None:
        # Before the removal gets its number: other activations wait from then on.
        db.write("source_empty", source=source_id)
        from rowen.adapters.store.shared.topics.generations import record_removal

        record_removal(db, source_id, now)
        db.write("source_delete", source=source_id)

    @reads
    def source(self, db: Transaction, source_id: int) -> Source | None:
        return db.one(Source, "source_by_id", source=source_id)

    @reads
    def sources(self, db: Transaction) -> list[Source]:
        return db.all(Source, "sources_all")

    @reads
    def removed_sources(self, db: Transaction) -> list[str]:
        return [row[1] for row in db.rows("removals_from", first=0)]

    @reads
    def document_counts(self, db: Transaction) -> dict[int, int]:
        return dict(db.rows("document_counts"))

    @reads
    def stats(self, db: Transaction, source_id: int) -> SourceStats:
        ((documents, sections, size),) = db.rows("source_stats", source=source_id)
        return SourceStats(documents=documents, sections=sections, contents_bytes=size)

    @writes
    def set_schedule(self, db: Transaction, source_id: int, every_s: float | None) -> None:
        db.write("source_schedule", source=source_id, every_s=every_s)

    @writes
    def set_params(self, db: Transaction, source_id: int, params: Mapping[str, Any]) -> None:
        db.write("source_params", source=source_id, params=Json(params))

    @writes
    def change_source(
        self,
        db: Transaction,
        source_id: int,
        *,
        key: str,
        params: Mapping[str, Any],
        metadata: Mapping[str, Any],
        forget: bool,
    ) -> None:
        values = {"key": key, "params": Json(params), "metadata": Json(metadata), "forget": forget}
        db.write("source_change", source=source_id, **values)
        if forget:
            db.write("listings_forget", source=source_id)

    @writes
    def set_paused(
        self,
        db: Transaction,
        source_id: int,
        paused: bool,
        *,
        by: str | None = None,
        now: datetime | None = None,
    ) -> None:
        db.write("source_paused", source=source_id, paused=paused, by=by, now=now)

    @writes
    def set_pinned(
        self,
        db: Transaction,
        source_id: int,
        pinned: bool,
        *,
        by: str | None = None,
        now: datetime | None = None,
    ) -> None:
        db.write("source_pinned", source=source_id, pinned=pinned, by=by, now=now)
