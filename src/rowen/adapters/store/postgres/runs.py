"""Runs in PostgreSQL: how they begin, what they note, how they end. Each function is one unit of work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from rowen.adapters.store.postgres import shards
from rowen.adapters.store.postgres.feed import activated
from rowen.adapters.store.postgres.leases import fence
from rowen.adapters.store.postgres.rows import json_out, maybe_time_in, time_in
from rowen.adapters.store.postgres.transaction import Row, Transaction
from rowen.core.document import Outcome
from rowen.core.lease import Lease
from rowen.core.run import Counters, Mode, Run, RunItem, RunStatus
from rowen.core.source import Status
from rowen.core.state import Step, after
from rowen.ports.store.runs import RunEnd


def begin_run(db: Transaction, held: Lease, source_id: int, mode: Mode, now: datetime) -> Run:
    fence(db, held)
    # Births first: the unique index allows one living version of a reference.
    db.write("discard_births", source=source_id)
    db.write("discard_deaths", source=source_id)
    db.write("discard_generations", source=source_id)
    close_lost_run(db, held, source_id, now)
    ((run_id, generation),) = db.rows(
        "run_insert", source=source_id, mode=mode.value, now=now, owner=held.owner
    )
    status = Status(db.value("source_status", source=source_id))
    db.write("source_running", source=source_id, status=after(status, Step.START).value, now=now)
    return Run(
        id=run_id,
        source_id=source_id,
        mode=mode,
        status=RunStatus.RUNNING,
        generation=generation,
        stop_reason=None,
        started_at=now,
        finished_at=None,
        counters={},
        error=None,
        owner=held.owner,
    )


def finish_run(db: Transaction, held: Lease, run: Run, end: RunEnd, now: datetime) -> None:
    fence(db, held)
    shown = end.activate if end.activate is not None else end.hold
    if shown is not None:
        db.write(
            "generation_insert",
            source=run.source_id,
            number=shown,
            run=run.id,
            activated_at=now if end.activate is not None else None,
            documents=end.documents,
        )
        db.write("handoffs_supersede", source=run.source_id, run=run.id, now=now)
    _insert_items(db, run, end.items)
    if end.activate is not None:
        activated(db, run.source_id, end.activate, run.id, now)
    db.write(
        "source_finish",
        source=run.source_id,
        status=end.source_status.value,
        activate=end.activate,
        hold=end.hold,
        hold_reason=end.hold_reason,
        error=end.error,
        watermark=end.watermark,
        processed=end.last_processed_date,
        metadata=json_out(end.metadata) if end.metadata is not None else None,
        now=now,
    )
    db.write(
        "run_finish",
        run=run.id,
        source=run.source_id,
        status=end.status.value,
        mode=end.mode.value,
        stop_reason=end.stop_reason,
        counters=json_out(end.counters.as_dict()),
        error=end.error,
        window=json_out(end.window.as_dict()) if end.window else None,
        generation=shown,
        now=now,
    )


def save_items(db: Transaction, held: Lease, run: Run, items: Sequence[RunItem]) -> None:
    fence(db, held)
    _insert_items(db, run, items)


def _insert_items(db: Transaction, run: Run, items: Sequence[RunItem]) -> None:
    if items:
        db.copy(
            "run_items_insert",
            ((run.id, item.reference, item.outcome.value, item.reason, item.detail) for item in items),
        )


def save_progress(db: Transaction, held: Lease, run: Run, counters: Counters) -> None:
    fence(db, held)
    db.write("run_progress", run=run.id, counters=json_out(counters.as_dict()))


def close_lost_run(db: Transaction, held: Lease, source_id: int, now: datetime) -> bool:
    fence(db, held)
    status = after(Status.RUNNING, Step.LOSE)
    closed = bool(db.write("source_lost", source=source_id, status=status.value, now=now))
    db.write("runs_close_lost", source=source_id, now=now)
    shards.forget_source(db, source_id)
    return closed


def save_share(db: Transaction, run_id: int, counters: Counters) -> None:
    db.write("run_share_insert", run=run_id, counters=json_out(counters.as_dict()))


def shares(db: Transaction, run_id: int) -> list[Mapping[str, Any]]:
    return [row[0] for row in db.rows("run_shares", run=run_id)]


def run_by_id(db: Transaction, run_id: int) -> Run | None:
    row = db.row("run_by_id", run=run_id)
    return None if row is None else _run(row)


def runs(db: Transaction, source_id: int, limit: int) -> list[Run]:
    return [_run(row) for row in db.rows("runs_by_source", source=source_id, limit=limit)]


def run_items(db: Transaction, run_id: int) -> list[RunItem]:
    return [
        RunItem(reference, Outcome(outcome), reason, detail)
        for reference, outcome, reason, detail in db.rows("run_items_by_run", run=run_id)
    ]


def _run(row: Row) -> Run:
    return Run(
        id=row[0],
        source_id=row[1],
        mode=Mode(row[2]),
        status=RunStatus(row[3]),
        generation=row[4],
        stop_reason=row[5],
        started_at=time_in(row[6]),
        finished_at=maybe_time_in(row[7]),
        counters=row[8],
        error=row[9],
        owner=row[10],
        window=row[11],
    )
