"""Runs of a source: how they begin, what they write down, how they end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from rowen.adapters.store.shared import verification
from rowen.adapters.store.shared.database import Topic, reads, writes
from rowen.adapters.store.shared.topics import shards
from rowen.adapters.store.shared.topics.generations import record_activation
from rowen.adapters.store.shared.topics.learning.rates import record_changes
from rowen.adapters.store.shared.topics.leases import fence
from rowen.adapters.store.shared.transaction import Transaction
from rowen.adapters.store.shared.values import Json, json_in, maybe_json
from rowen.core.document import Outcome
from rowen.core.lease import Lease
from rowen.core.run import Counters, Mode, Result, Run, RunItem, RunStatus, StopReason
from rowen.core.source import Source, Status
from rowen.core.state import Step, after
from rowen.ports.dispatcher import INGEST
from rowen.ports.store.runs import Begun, Problem, RunDay, RunEnd


class Runs(Topic):
    @writes
    def begin_run(
        self, db: Transaction, lease: Lease, source_id: int, *, full: bool, now: datetime
    ) -> Begun | None:
        fence(db, lease)
        source = db.one(Source, "source_by_id", source=source_id)
        if source is None:
            return None
        if source.is_pinned:
            return Begun(source, None)
        if db.value("handoffs_there"):
            db.write("drafts_of_births", source=source_id)
        # Births first: the unique index allows one living version of a reference.
        db.write("discard_births", source=source_id)
        db.write("discard_deaths", source=source_id)
        db.write("discard_generations", source=source_id)
        _close_lost(db, source_id, now)
        mode = Mode.FULL if full or not source.active_generation else Mode.INCREMENTAL
        (run,) = db.all(Run, "run_insert", source=source_id, mode=mode.value, now=now, owner=lease.owner)
        status = Status(db.value("source_status", source=source_id))
        db.write("source_running", source=source_id, status=after(status, Step.START).value, now=now)
        return Begun(source, run)

    @writes
    def finish_run(self, db: Transaction, lease: Lease, run: Run, end: RunEnd, *, now: datetime) -> None:
        fence(db, lease)
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
            if db.value("handoffs_there"):
                db.write("handoffs_supersede", source=run.source_id, run=run.id, now=now)
        _insert_items(db, run, end.items)
        if end.answered is not None:
            db.write("pause_delete", upstream=end.answered)
        if end.activate is not None:
            record_activation(db, run.source_id, end.activate, run.id, now)
        db.write(
            "source_finish",
            source=run.source_id,
            status=end.source_status.value,
            activate=end.activate,
            hold=end.hold,
            hold_reason=end.hold_reason,
            outcome=end.status.value,
            verdict=None if end.status is RunStatus.CANCELLED else end.source_status.value,
            error=end.error,
            result=Json(Result.of(end.status, end.stop_reason, end.counters, end.mode).as_dict()),
            watermark=end.watermark,
            processed=end.last_processed_date,
            metadata=maybe_json(end.metadata),
            now=now,
        )
        if end.activate is not None:
            record_changes(db, run.source_id, run.id, end.activate, run.started_at)
        if end.looked is not None:
            verification.record(db, run.source_id, end.looked, run.started_at, end.rates)
        db.write(
            "run_finish",
            run=run.id,
            source=run.source_id,
            status=end.status.value,
            mode=end.mode.value,
            stop_reason=end.stop_reason,
            counters=Json(end.counters.as_dict()),
            error=end.error,
            window=Json(end.window.as_dict()) if end.window else None,
            generation=shown,
            now=now,
        )

    @writes
    def save_items(self, db: Transaction, lease: Lease, run: Run, items: Sequence[RunItem]) -> None:
        fence(db, lease)
        _insert_items(db, run, items)

    @writes
    def save_progress(self, db: Transaction, lease: Lease, run: Run, counters: Counters) -> None:
        fence(db, lease)
        db.write("run_progress", run=run.id, counters=Json(counters.as_dict()))

    @writes
    def close_lost_run(self, db: Transaction, lease: Lease, source_id: int, *, now: datetime) -> bool:
        fence(db, lease)
        return _close_lost(db, source_id, now)

    @reads
    def runs(self, db: Transaction, source_id: int, *, limit: int) -> list[Run]:
        return db.all(Run, "runs_by_source", source=source_id, limit=limit)

    @reads
    def runs_since(self, db: Transaction, source_id: int, since: datetime, *, limit: int = 1000) -> list[Run]:
        return db.all(Run, "runs_since", source=source_id, since=since, limit=limit)[::-1]

    @reads
    def run_days(self, db: Transaction, since: datetime) -> list[RunDay]:
        return db.all(RunDay, "run_days", since=since)

    @reads
    def problems(self, db: Transaction, run_id: int) -> list[Problem]:
        return db.all(Problem, "run_problems", run=run_id)

    @reads
    def run(self, db: Transaction, run_id: int) -> Run | None:
        return db.one(Run, "run_by_id", run=run_id)

    @reads
    def run_items(self, db: Transaction, run_id: int) -> list[RunItem]:
        return [
            RunItem(reference, Outcome(outcome), reason, detail)
            for reference, outcome, reason, detail in db.rows("run_items_by_run", run=run_id)
        ]

    @writes
    def save_share(self, db: Transaction, run_id: int, counters: Counters) -> None:
        db.write("run_share_insert", run=run_id, counters=Json(counters.as_dict()))

    @reads
    def shares(self, db: Transaction, run_id: int) -> list[Mapping[str, Any]]:
        return [json_in(row[0]) for row in db.rows("run_shares", run=run_id)]

    @writes
    def forget_tickets(self, db: Transaction, run_id: int) -> None:
        db.write("tickets_forget", task=INGEST, run=run_id)
        shards.forget(db, run_id)


def _insert_items(db: Transaction, run: Run, items: Sequence[RunItem]) -> None:
    if items:
        db.copy(
            "run_items_insert",
            ((run.id, item.reference, item.outcome.value, item.reason, item.detail) for item in items),
        )


def _close_lost(db: Transaction, source_id: int, now: datetime) -> bool:
    status = after(Status.RUNNING, Step.LOSE)
    result = Json(Result(RunStatus.LOST, StopReason.ERROR).as_dict())
    closed = bool(db.write("source_lost", source=source_id, status=status.value, result=result, now=now))
    db.write("runs_close_lost", source=source_id, now=now)
    shards.forget_source(db, source_id)
    return closed
