"""The outbox in PostgreSQL: handing off, reviving, starting and settling.

Each function is one unit of work on an open transaction. A batch is a handful of statements, however many
drafts it has: the server may be far away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from rowen.adapters.store.postgres import engine, shards
from rowen.adapters.store.postgres.leases import fence
from rowen.adapters.store.postgres.migrate import ADVISORY
from rowen.adapters.store.postgres.references import digests, reference_ids
from rowen.adapters.store.postgres.rows import json_out, links_in, links_out, time_in
from rowen.adapters.store.postgres.transaction import Row, Transaction
from rowen.core.document import Draft, Validators
from rowen.core.handoff import Handoff, HandoffStatus, Reason, attempts_kept, reopen_reason
from rowen.core.lease import Lease
from rowen.core.run import Run
from rowen.ports.dispatcher import INGEST, ingest_payload
from rowen.ports.store.handoffs import Settled, Staged


def stage(
    db: Transaction, held: Lease, run: Run, drafts: Sequence[Draft], now: datetime, dispatch: bool
) -> list[Staged]:
    fence(db, held)
    db.rows("texts_used", key=ADVISORY)
    ids = reference_ids(
        db, run.source_id, [url for draft in drafts for url in (draft.reference, *draft.links)]
    )
    contents = _contents(db, {draft.content_hash: draft.text for draft in drafts})
    keys = [(ids[draft.reference], draft.payload_hash) for draft in drafts]
    earlier = {
        (row[0], row[1]): (row[2], HandoffStatus(row[3]), row[4])
        for row in db.rows("handoffs_find", refs=[key[0] for key in keys], payloads=[key[1] for key in keys])
    }
    fresh: dict[tuple[int, bytes], dict[str, Any]] = {}
    again: list[dict[str, Any]] = []
    for key, draft in zip(keys, drafts, strict=True):
        values = _values(run, draft, ids, contents[draft.content_hash][0], key, now)
        if key not in earlier:
            fresh[key] = values | {"reason": Reason.QUEUED_FROM_SCRAPE.value}
            continue
        handoff_id, status, attempts = earlier[key]
        again.append(
            values
            | {
                "handoff": handoff_id,
                "attempts": attempts_kept(status, attempts),
                "reason": reopen_reason(status).value,
            }
        )
    handoffs = {key: handoff_id for key, (handoff_id, _, _) in earlier.items()}
    handoffs |= zip(fresh, db.insert_many("handoff_insert", list(fresh.values())), strict=True)
    db.write_many("handoff_reopen", again)
    found = [
        Staged(
            handoff_id=handoffs[key],
            reference_id=key[0],
            content_id=contents[draft.content_hash][0],
            sectioned=contents[draft.content_hash][1],
            attempts=attempts_kept(*earlier[key][1:]) if key in earlier else 0,
            draft=draft,
        )
        for key, draft in zip(keys, drafts, strict=True)
    ]
    if dispatch:
        _dispatch(db, held, run, found)
    return found


def forget_tickets(db: Transaction, run_id: int) -> None:
    db.write("tickets_forget", task=INGEST, run=run_id)
    shards.forget(db, run_id)


def _dispatch(db: Transaction, held: Lease, run: Run, found: Sequence[Staged]) -> None:
    payload = ingest_payload(held, run, [one.handoff_id for one in found])
    engine.submit(db.connection, db.schema, INGEST, [payload])


def _contents(db: Transaction, texts: Mapping[bytes, str]) -> dict[bytes, tuple[int, bool]]:
    """Ids of these texts, and whether their sections exist; the ones met for the first time are stored."""
    found = {row[0]: (row[1], row[2]) for row in db.rows("contents_find", hashes=list(texts))}
    missing = sorted(texts.keys() - found.keys())
    if missing:
        db.copy("contents_insert", ((digest, texts[digest]) for digest in missing))
        found |= {row[0]: (row[1], row[2]) for row in db.rows("contents_find", hashes=missing)}
    return found


def _values(
    run: Run, draft: Draft, ids: Mapping[str, int], content_id: int, key: tuple[int, bytes], now: datetime
) -> dict[str, Any]:
    return {
        "source": run.source_id,
        "ref": key[0],
        "payload_hash": key[1],
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


def revive(
    db: Transaction, held: Lease, run: Run, references: Sequence[str], now: datetime, dispatch: bool
) -> list[Staged]:
    fence(db, held)
    db.rows("texts_used", key=ADVISORY)
    rows = db.rows("handoffs_newest", source=run.source_id, digests=list(digests(references)))
    links = {row[0]: links_in(row[16]) for row in rows}
    urls: dict[int, str] = dict(
        db.rows("refs_by_id", ids=list({link for ids in links.values() for link in ids}))
    )
    attempts = {row[0]: attempts_kept(HandoffStatus(row[5]), row[6]) for row in rows}
    db.write_many(
        "handoff_revive",
        [
            {
                "handoff": handoff_id,
                "run": run.id,
                "generation": run.generation,
                "reason": Reason.REOPENED_AFTER_DISCARD.value,
                "attempts": kept,
                "now": now,
            }
            for handoff_id, kept in attempts.items()
        ],
    )
    found = [_staged(row, tuple(urls[link] for link in links[row[0]]), attempts[row[0]]) for row in rows]
    if dispatch:
        _dispatch(db, held, run, found)
    return found


def staged(db: Transaction, run: Run, handoff_ids: Sequence[int], begun: bool, limit: int) -> list[Staged]:
    rows = db.rows("handoffs_staged", ids=list(handoff_ids), run=run.id, begun=begun, limit=limit)
    # The links are stored already; a worker has no use for their names.
    return [_staged(row, (), row[6]) for row in rows]


def settled(db: Transaction, handoff_ids: Sequence[int]) -> list[Settled]:
    return [Settled(*row) for row in db.rows("handoffs_settled", ids=list(handoff_ids))]


def _staged(row: Row, links: tuple[str, ...], attempts: int) -> Staged:
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
        metadata=row[17],
    )
    return Staged(
        handoff_id=row[0],
        reference_id=row[1],
        content_id=row[3],
        sectioned=row[4],
        attempts=attempts,
        draft=draft,
    )


def start_handoffs(db: Transaction, held: Lease, handoff_ids: Sequence[int], now: datetime) -> None:
    fence(db, held)
    db.write("handoffs_start", ids=list(handoff_ids), now=now)


def settle_handoff(
    db: Transaction,
    held: Lease,
    handoff_id: int,
    status: HandoffStatus,
    reason: str,
    error: str | None,
    now: datetime,
) -> None:
    fence(db, held)
    db.write("handoff_settle", handoff=handoff_id, status=status.value, reason=reason, error=error, now=now)


def handoffs(
    db: Transaction,
    source_id: int | None,
    status: HandoffStatus | None,
    run_id: int | None,
    limit: int,
    offset: int,
) -> list[Handoff]:
    rows = db.rows(
        "handoffs_list",
        source=source_id,
        status=status.value if status else None,
        run=run_id,
        limit=limit,
        offset=offset,
    )
    return [_handoff(row) for row in rows]


def handoff(db: Transaction, handoff_id: int) -> Handoff | None:
    row = db.row("handoff_by_id", handoff=handoff_id)
    return None if row is None else _handoff(row)


def handoff_counts(db: Transaction, run_id: int | None) -> dict[tuple[HandoffStatus, str], int]:
    rows = db.rows("handoffs_count") if run_id is None else db.rows("handoffs_count_run", run=run_id)
    return {(HandoffStatus(status), reason): count for status, reason, count in rows}


def requeue_handoff(db: Transaction, handoff_id: int, now: datetime) -> bool:
    reason = Reason.RETRY_SCHEDULED.value
    return bool(db.write("handoff_requeue", handoff=handoff_id, reason=reason, now=now))


def cancel_handoff(db: Transaction, held: Lease, handoff_id: int, now: datetime) -> bool:
    fence(db, held)
    return bool(db.write("handoff_cancel", handoff=handoff_id, reason=Reason.CANCELLED.value, now=now))


def _handoff(row: Row) -> Handoff:
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
        created_at=time_in(row[10]),
        updated_at=time_in(row[11]),
    )
