"""The outbox in SQLite: handing off, reviving, starting and settling.

Each function is one unit of work on an open transaction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import apsw

from rowen.adapters.store.sqlite import shards
from rowen.adapters.store.sqlite.jobs import forget, submit
from rowen.adapters.store.sqlite.leases import fence
from rowen.adapters.store.sqlite.queries import sql
from rowen.adapters.store.sqlite.references import reference_ids
from rowen.adapters.store.sqlite.rows import (
    ids_parameter,
    json_in,
    json_out,
    links_in,
    links_out,
    texts_parameter,
    time_in,
    time_out,
)
from rowen.core.document import Draft, Validators
from rowen.core.handoff import Handoff, HandoffStatus, Reason, attempts_kept, reopen_reason
from rowen.core.lease import Lease
from rowen.core.run import Run
from rowen.ports.dispatcher import INGEST, ingest_payload
from rowen.ports.store.handoffs import Settled, Staged


def stage(
    db: apsw.Connection, held: Lease, run: Run, drafts: Sequence[Draft], now: datetime, dispatch: bool
) -> list[Staged]:
    fence(db, held)
    ids = reference_ids(
        db, run.source_id, [url for draft in drafts for url in (draft.reference, *draft.links)]
    )
    found = [_stage_one(db, run, draft, ids, time_out(now)) for draft in drafts]
    if dispatch:
        _dispatch(db, held, run, found, now)
    return found


def _stage_one(db: apsw.Connection, run: Run, draft: Draft, ids: Mapping[str, int], now: str) -> Staged:
    reference_id = ids[draft.reference]
    found = db.execute(sql("content_find"), (draft.content_hash,)).get
    if found is None:
        content_id = db.execute(sql("content_insert"), (draft.content_hash, draft.text)).get
        sectioned = False
    else:
        content_id, sectioned = found[0], bool(found[1])
    values = {
        "source": run.source_id,
        "ref": reference_id,
        "payload_hash": draft.payload_hash,
        "content": content_id,
        "run": run.id,
        "generation": run.generation,
        "url": draft.url,
        "title": draft.title,
        "metadata": json_out(draft.metadata),
        "content_type": draft.content_type,
        "etag": draft.validators.etag,
        "last_modified": draft.validators.last_modified,
        "body_hash": draft.body_hash,
        "depth": draft.depth,
        "links": links_out(ids[url] for url in draft.links),
        "now": now,
    }
    earlier = db.execute(sql("handoff_find"), (reference_id, draft.payload_hash)).get
    attempts = 0
    if earlier is None:
        values["reason"] = Reason.QUEUED_FROM_SCRAPE.value
        handoff_id = db.execute(sql("handoff_insert"), values).get
    else:
        handoff_id, status = earlier[0], HandoffStatus(earlier[1])
        attempts = attempts_kept(status, earlier[2])
        values |= {"handoff": handoff_id, "attempts": attempts, "reason": reopen_reason(status).value}
        db.execute(sql("handoff_reopen"), values)
    return Staged(
        handoff_id=handoff_id,
        reference_id=reference_id,
        content_id=content_id,
        sectioned=sectioned,
        attempts=attempts,
        draft=draft,
    )


def revive(
    db: apsw.Connection, held: Lease, run: Run, references: Sequence[str], now: datetime, dispatch: bool
) -> list[Staged]:
    fence(db, held)
    values = {"source": run.source_id, "references": texts_parameter(references)}
    rows = db.execute(sql("handoff_newest"), values).fetchall()
    urls = _urls(db, run.source_id)
    found = [_revive_one(db, run, row, urls, time_out(now)) for row in rows]
    if dispatch:
        _dispatch(db, held, run, found, now)
    return found


def staged(
    db: apsw.Connection, run: Run, handoff_ids: Sequence[int], begun: bool, limit: int
) -> list[Staged]:
    values = {"ids": ids_parameter(handoff_ids), "run": run.id, "begun": begun, "limit": limit}
    # The links are stored already; a worker has no use for their names.
    return [_staged(row, (), row[6]) for row in db.execute(sql("handoffs_staged"), values)]


def settled(db: apsw.Connection, handoff_ids: Sequence[int]) -> list[Settled]:
    rows = db.execute(sql("handoffs_settled"), {"ids": ids_parameter(handoff_ids)})
    return [Settled(*row) for row in rows]


def forget_tickets(db: apsw.Connection, run_id: int) -> None:
    forget(db, INGEST, run_id)
    shards.forget(db, run_id)


def _dispatch(db: apsw.Connection, held: Lease, run: Run, found: Sequence[Staged], now: datetime) -> None:
    submit(db, INGEST, [ingest_payload(held, run, [one.handoff_id for one in found])], now, 0)


def _revive_one(
    db: apsw.Connection, run: Run, row: tuple[Any, ...], urls: Mapping[int, str], now: str
) -> Staged:
    status = HandoffStatus(row[5])
    attempts = attempts_kept(status, row[6])
    db.execute(
        sql("handoff_revive"),
        {
            "handoff": row[0],
            "run": run.id,
            "generation": run.generation,
            "reason": Reason.REOPENED_AFTER_DISCARD.value,
            "attempts": attempts,
            "now": now,
        },
    )
    return _staged(row, tuple(urls[link] for link in links_in(row[16])), attempts)


def _staged(row: tuple[Any, ...], links: tuple[str, ...], attempts: int) -> Staged:
    draft = Draft(
        reference=row[2],
        url=row[7],
        title=row[8],
        text=row[9],
        content_hash=row[10],
        body_hash=row[11],
        validators=Validators(row[12], row[13]),
        content_type=row[14],
        depth=row[15],
        links=links,
        metadata=json_in(row[17]),
    )
    return Staged(
        handoff_id=row[0],
        reference_id=row[1],
        content_id=row[3],
        sectioned=bool(row[4]),
        attempts=attempts,
        draft=draft,
    )


def start_handoffs(db: apsw.Connection, held: Lease, handoff_ids: Sequence[int], now: datetime) -> None:
    fence(db, held)
    db.execute(sql("handoffs_start"), {"ids": ids_parameter(handoff_ids), "now": time_out(now)})


def settle_handoff(
    db: apsw.Connection,
    held: Lease,
    handoff_id: int,
    status: HandoffStatus,
    reason: str,
    error: str | None,
    now: datetime,
) -> None:
    fence(db, held)
    settle(db, handoff_id, status, reason, error, now)


def handoffs(
    db: apsw.Connection,
    source_id: int | None,
    status: HandoffStatus | None,
    run_id: int | None,
    limit: int,
    offset: int,
) -> list[Handoff]:
    values = {
        "source": source_id,
        "status": status.value if status else None,
        "run": run_id,
        "limit": limit,
        "offset": offset,
    }
    return [_handoff(row) for row in db.execute(sql("handoffs_list"), values)]


def handoff(db: apsw.Connection, handoff_id: int) -> Handoff | None:
    row = db.execute(sql("handoff_by_id"), (handoff_id,)).get
    return None if row is None else _handoff(row)


def handoff_counts(db: apsw.Connection, run_id: int | None) -> dict[tuple[HandoffStatus, str], int]:
    rows = (
        db.execute(sql("handoffs_count"))
        if run_id is None
        else db.execute(sql("handoffs_count_run"), {"run": run_id})
    )
    return {(HandoffStatus(status), reason): count for status, reason, count in rows}


def requeue_handoff(db: apsw.Connection, handoff_id: int, now: datetime) -> bool:
    values = {"handoff": handoff_id, "reason": Reason.RETRY_SCHEDULED.value, "now": time_out(now)}
    db.execute(sql("handoff_requeue"), values)
    return bool(db.changes())


def cancel_handoff(db: apsw.Connection, held: Lease, handoff_id: int, now: datetime) -> bool:
    fence(db, held)
    values = {"handoff": handoff_id, "reason": Reason.CANCELLED.value, "now": time_out(now)}
    db.execute(sql("handoff_cancel"), values)
    return bool(db.changes())


def settle(
    db: apsw.Connection, handoff_id: int, status: HandoffStatus, reason: str, error: str | None, now: datetime
) -> None:
    db.execute(
        sql("handoff_settle"),
        {
            "handoff": handoff_id,
            "status": status.value,
            "reason": reason,
            "error": error,
            "now": time_out(now),
        },
    )


def _urls(db: apsw.Connection, source_id: int) -> dict[int, str]:
    return {row[0]: row[1] for row in db.execute(sql("refs_by_source"), (source_id,))}


def _handoff(row: tuple[Any, ...]) -> Handoff:
    created_at, updated_at = time_in(row[10]), time_in(row[11])
    if created_at is None or updated_at is None:
        raise AssertionError("a handoff without its times")
    return Handoff(
        id=row[0],
        source=row[1],
        reference=row[2],
        payload_hash=row[3],
        run_id=row[4],
        generation=row[5],
        status=HandoffStatus(row[6]),
        reason_code=row[7],
        attempts=row[8],
        last_error=row[9],
        created_at=created_at,
        updated_at=updated_at,
    )
