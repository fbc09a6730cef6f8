"""Which sources there are, with their settings and schedules."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from rowen.adapters.store.shared.transaction import Row, Transaction
from rowen.adapters.store.shared.units import Topic, reads, writes
from rowen.adapters.store.shared.values import Json, json_in, maybe_date_in, maybe_time_in, time_in
from rowen.core.source import NewSource, Source, Status
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
        source_id = db.value(
            "source_insert",
            key=new.key,
            kind=new.kind,
            name=new.name,
            version=new.version,
            location=new.location,
            params=Json(new.params),
            metadata=Json(new.metadata),
            now=now,
        )
        return _source(db.rows("source_by_id", source=source_id)[0])

    @writes
    def remove_source(self, db: Transaction, source_id: int) -> None:
        db.write("source_delete", source=source_id)

    @reads
    def source(self, db: Transaction, source_id: int) -> Source | None:
        row = db.row("source_by_id", source=source_id)
        return None if row is None else _source(row)

    @reads
    def sources(self, db: Transaction) -> list[Source]:
        return [_source(row) for row in db.rows("sources_all")]

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
    def set_paused(self, db: Transaction, source_id: int, paused: bool) -> None:
        db.write("source_paused", source=source_id, paused=paused)


def _source(row: Row) -> Source:
    return Source(
        id=row[0],
        key=row[1],
        kind=row[2],
        name=row[3],
        version=row[4],
        location=row[5],
        params=json_in(row[6]),
        status=Status(row[7]),
        active_generation=row[8],
        last_generation=row[9],
        held_generation=row[10],
        held_reason=row[11],
        last_run_at=maybe_time_in(row[12]),
        last_success_at=maybe_time_in(row[13]),
        last_error_at=maybe_time_in(row[14]),
        last_error=row[15],
        watermark=maybe_time_in(row[16]),
        last_processed_date=maybe_date_in(row[17]),
        consecutive_failures=row[18],
        metadata=json_in(row[19]),
        created_at=time_in(row[20]),
        every_s=row[21],
        paused=bool(row[22]),
    )
