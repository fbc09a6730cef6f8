"""Sources and runs in SQLite. Each function is one unit of work on an open transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import apsw

from rowen.adapters.store.sqlite import shards
from rowen.adapters.store.sqlite.leases import fence
from rowen.adapters.store.sqlite.queries import sql
from rowen.adapters.store.sqlite.rows import date_in, json_in, json_out, time_in, time_out
from rowen.core.document import Outcome
from rowen.core.lease import Lease
from rowen.core.run import Counters, Mode, Run, RunItem, RunStatus
from rowen.core.source import NewSource, Source, Status
from rowen.core.state import Step, after
from rowen.errors import Conflict
from rowen.ports.store.notes import Pause
from rowen.ports.store.runs import RunEnd
from rowen.ports.store.sources import SourceStats


def add(db: apsw.Connection, new: NewSource, now: datetime) -> Source:
    clash = db.execute(sql("source_clash"), {"name": new.name, "version": new.version, "key": new.key}).get
    if clash:
        label = f"{clash[0]}@{clash[1]}" if clash[1] else clash[0]
        raise Conflict(
            f"source `{label}`: exists already",
            hint=f"choose another `--name`, or run `rowen sync {label}`",
            name=clash[0],
        )
    source_id = db.execute(
        sql("source_insert"),
        {
            "key": new.key,
            "kind": new.kind,
            "name": new.name,
            "version": new.version,
            "location": new.location,
            "params": json_out(new.params),
            "metadata": json_out(new.metadata),
            "now": time_out(now),
        },
    ).get
    return _source(db.execute(sql("source_by_id"), {"source": source_id}).get)


def remove(db: apsw.Connection, source_id: int) -> None:
    db.execute(sql("source_delete"), (source_id,))


def everything(db: apsw.Connection) -> list[Source]:
    return [_source(row) for row in db.execute(sql("sources_all"))]


def by_id(db: apsw.Connection, source_id: int) -> Source | None:
    row = db.execute(sql("source_by_id"), {"source": source_id}).get
    return None if row is None else _source(row)


def stats(db: apsw.Connection, source_id: int) -> SourceStats:
    documents, sections, size = db.execute(sql("source_stats"), (source_id,)).get
    return SourceStats(documents=documents, sections=sections, contents_bytes=size)


def begin_run(db: apsw.Connection, held: Lease, source_id: int, mode: Mode, now: datetime) -> Run:
    fence(db, held)
    source, at = {"source": source_id}, time_out(now)
    # Births first: the unique index allows one living version of a reference.
    db.execute(sql("discard_births"), source)
    db.execute(sql("discard_deaths"), source)
    db.execute(sql("discard_generations"), source)
    close_lost_run(db, held, source_id, now)
    run_id, generation = db.execute(
        sql("run_insert"), {**source, "mode": mode.value, "now": at, "owner": held.owner}
    ).get
    status = Status(db.execute(sql("source_status"), source).get)
    db.execute(sql("source_running"), {**source, "status": after(status, Step.START).value, "now": at})
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


def finish_run(db: apsw.Connection, held: Lease, run: Run, end: RunEnd, now: datetime) -> None:
    fence(db, held)
    at = time_out(now)
    shown = end.activate if end.activate is not None else end.hold
    if shown is not None:
        db.execute(
            sql("generation_insert"),
            {
                "source": run.source_id,
                "number": shown,
                "run": run.id,
                "activated_at": at if end.activate is not None else None,
                "documents": end.documents,
            },
        )
        db.execute(sql("handoffs_supersede"), {"source": run.source_id, "run": run.id, "now": at})
    if end.activate is not None:
        db.execute(
            sql("activation_insert"),
            {"source": run.source_id, "generation": end.activate, "run": run.id, "now": at},
        )
    db.execute(
        sql("source_finish"),
        {
            "source": run.source_id,
            "status": end.source_status.value,
            "activate": end.activate,
            "hold": end.hold,
            "hold_reason": end.hold_reason,
            "error": end.error,
            "watermark": time_out(end.watermark) if end.watermark else None,
            "processed": end.last_processed_date.isoformat() if end.last_processed_date else None,
            "metadata": json_out(end.metadata) if end.metadata is not None else None,
            "now": at,
        },
    )
    db.execute(
        sql("run_finish"),
        {
            "run": run.id,
            "source": run.source_id,
            "status": end.status.value,
            "mode": end.mode.value,
            "stop_reason": end.stop_reason,
            "counters": json_out(end.counters.as_dict()),
            "error": end.error,
            "window": json_out(end.window.as_dict()) if end.window else None,
            "generation": shown,
            "now": at,
        },
    )
    _insert_items(db, run, end.items)


def save_items(db: apsw.Connection, held: Lease, run: Run, items: Sequence[RunItem]) -> None:
    fence(db, held)
    _insert_items(db, run, items)


def _insert_items(db: apsw.Connection, run: Run, items: Sequence[RunItem]) -> None:
    db.executemany(
        sql("run_item_insert"),
        ((run.id, item.reference, item.outcome.value, item.reason, item.detail) for item in items),
    )


def set_schedule(db: apsw.Connection, source_id: int, every_s: float | None) -> None:
    db.execute(sql("source_schedule"), (every_s, source_id))


def set_params(db: apsw.Connection, source_id: int, params: Mapping[str, Any]) -> None:
    db.execute(sql("source_params"), (json_out(params), source_id))


def set_paused(db: apsw.Connection, source_id: int, paused: bool) -> None:
    db.execute(sql("source_paused"), {"paused": paused, "source": source_id})


def pause_upstream(db: apsw.Connection, pause: Pause) -> None:
    db.execute(sql("pause_save"), (pause.upstream, time_out(pause.until), pause.reason))


def pauses(db: apsw.Connection, now: datetime) -> dict[str, Pause]:
    found = {}
    for upstream, until, reason in db.execute(sql("pauses_now"), (time_out(now),)):
        moment = time_in(until)
        if moment is not None:
            found[upstream] = Pause(upstream=upstream, until=moment, reason=reason)
    return found


def note(db: apsw.Connection, name: str) -> Any:
    value = db.execute(sql("note_get"), (name,)).get
    return None if value is None else json_in(value)


def notes_like(db: apsw.Connection, start: str) -> dict[str, Any]:
    return {name: json_in(value) for name, value in db.execute(sql("notes_like"), (start, start))}


def save_note(db: apsw.Connection, name: str, value: Any) -> None:
    db.execute(sql("note_save"), (name, json_out(value)))


def save_progress(db: apsw.Connection, held: Lease, run: Run, counters: Counters) -> None:
    fence(db, held)
    db.execute(sql("run_progress"), {"run": run.id, "counters": json_out(counters.as_dict())})


def close_lost_run(db: apsw.Connection, held: Lease, source_id: int, now: datetime) -> bool:
    fence(db, held)
    at = time_out(now)
    db.execute(
        sql("source_lost"),
        {"source": source_id, "status": after(Status.RUNNING, Step.LOSE).value, "now": at},
    )
    closed = bool(db.changes())
    db.execute(sql("runs_close_lost"), {"source": source_id, "now": at})
    shards.forget_source(db, source_id)
    return closed


def save_share(db: apsw.Connection, run_id: int, counters: Counters) -> None:
    db.execute(sql("run_share_insert"), (run_id, json_out(counters.as_dict())))


def shares(db: apsw.Connection, run_id: int) -> list[Mapping[str, Any]]:
    return [json_in(row[0]) for row in db.execute(sql("run_shares"), (run_id,))]


def run_by_id(db: apsw.Connection, run_id: int) -> Run | None:
    row = db.execute(sql("run_by_id"), (run_id,)).get
    return None if row is None else _run(row)


def runs(db: apsw.Connection, source_id: int, limit: int) -> list[Run]:
    return [_run(row) for row in db.execute(sql("runs_by_source"), (source_id, limit))]


def run_items(db: apsw.Connection, run_id: int) -> list[RunItem]:
    return [
        RunItem(reference, Outcome(outcome), reason, detail)
        for reference, outcome, reason, detail in db.execute(sql("run_items_by_run"), (run_id,))
    ]


def _source(row: tuple[Any, ...]) -> Source:
    created_at = time_in(row[20])
    if created_at is None:
        raise AssertionError("a source without its time of creation")
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
        last_run_at=time_in(row[12]),
        last_success_at=time_in(row[13]),
        last_error_at=time_in(row[14]),
        last_error=row[15],
        watermark=time_in(row[16]),
        last_processed_date=date_in(row[17]),
        consecutive_failures=row[18],
        metadata=json_in(row[19]),
        created_at=created_at,
        every_s=row[21],
        paused=bool(row[22]),
    )


def _run(row: tuple[Any, ...]) -> Run:
    started_at = time_in(row[6])
    if started_at is None:
        raise AssertionError("a run without its time of start")
    return Run(
        id=row[0],
        source_id=row[1],
        mode=Mode(row[2]),
        status=RunStatus(row[3]),
        generation=row[4],
        stop_reason=row[5],
        started_at=started_at,
        finished_at=time_in(row[7]),
        counters=json_in(row[8]),
        error=row[9],
        owner=row[10],
        window=json_in(row[11]) if row[11] else None,
    )
