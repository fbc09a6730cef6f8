"""What readers see, the change feed and the sinks in PostgreSQL. Each function is one unit of work."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from rowen.adapters.store.postgres.leases import fence
from rowen.adapters.store.postgres.migrate import ADVISORY
from rowen.adapters.store.postgres.references import digests
from rowen.adapters.store.postgres.rows import json_out, maybe_time_in, time_in
from rowen.adapters.store.postgres.transaction import Row, Transaction
from rowen.core.exchange.sink import Sink
from rowen.core.feed import LAST_ITEM, Cursor, Document, FeedItem
from rowen.core.lease import Lease


def activated(db: Transaction, source_id: int, generation: int, run_id: int | None, now: datetime) -> None:
    """Write down that a generation is about to be shown; the caller moves the pointer.

    invariant: activations become visible in the order of their numbers. A reader of the feed who has seen one
    would otherwise never see a smaller one whose transaction took longer.
    """
    db.rows("feed_lock", key=ADVISORY)
    db.write("activation_insert", source=source_id, generation=generation, run=run_id, now=now)


def documents(
    db: Transaction,
    source_id: int,
    references: Sequence[str] | None,
    after: str,
    limit: int,
    text: bool,
) -> list[Document]:
    if references is None:
        rows = db.rows("documents_page", source=source_id, after=after, limit=limit, text=text)
    else:
        rows = db.rows("documents_among", source=source_id, digests=list(digests(references)), text=text)
    return [_document(row) for row in rows]


def document(db: Transaction, document_id: int) -> Document | None:
    row = db.row("document_by_id", document=document_id)
    return None if row is None else _document(row)


def feed(db: Transaction, after: Cursor, source_ids: Collection[int] | None, limit: int) -> list[FeedItem]:
    found: list[FeedItem] = []
    from_item = after.item
    activation = after.activation
    while len(found) < limit:
        values = {"from": activation, "everywhere": source_ids is None, "sources": list(source_ids or ())}
        shown = db.row("activation_next", **values)
        if shown is None:
            break
        found += _touched(db, shown, from_item if shown[0] == after.activation else 0, limit - len(found))
        activation = shown[0] + 1
    return found


def feed_end(db: Transaction) -> Cursor:
    newest = db.value("activation_newest")
    return Cursor(newest or 0, LAST_ITEM if newest else 0)


def _touched(db: Transaction, shown: Row, after: int, limit: int) -> list[FeedItem]:
    activation, source_id, label, kind, generation, previous, run_id, at = shown
    if run_id is not None:
        rows = db.rows("touched_by_run", run=run_id, after=after, limit=limit)
    else:
        # Without a run it was a rollback: it touched what the runs between had touched.
        low, high = sorted((previous, generation))
        rows = db.rows("touched_between", source=source_id, low=low, high=high, after=after, limit=limit)
    references = [row[1] for row in rows]
    visible = {one.reference: one for one in documents(db, source_id, references, "", len(rows), False)}
    return [
        FeedItem(
            cursor=Cursor(activation, item),
            source_id=source_id,
            source=label,
            kind=kind,
            generation=generation,
            reference=reference,
            change=_change(outcome, seen=reference in visible),
            at=time_in(at),
            document=visible.get(reference),
        )
        for item, reference, outcome in rows
    ]


def _change(outcome: str, *, seen: bool) -> str:
    if not seen:
        return "removed"
    return "added" if outcome == "created" else "changed"


def sinks(db: Transaction) -> list[Sink]:
    return [
        Sink(
            name=row[0],
            kind=row[1],
            settings=row[2],
            cursor=Cursor(row[3], row[4]),
            state=row[5],
            last_run_at=maybe_time_in(row[6]),
            last_success_at=maybe_time_in(row[7]),
            last_error=row[8],
            failures=row[9],
        )
        for row in db.rows("sinks_all")
    ]


def save_sink(db: Transaction, name: str, kind: str, settings: Mapping[str, Any], cursor: Cursor) -> None:
    db.write(
        "sink_save",
        name=name,
        kind=kind,
        settings=json_out(settings),
        activation=cursor.activation,
        item=cursor.item,
    )


def remove_sink(db: Transaction, name: str) -> None:
    db.write("sink_delete", name=name)


def move_sink(
    db: Transaction,
    held: Lease,
    name: str,
    cursor: Cursor | None,
    state: Mapping[str, Any] | None,
    error: str | None,
    now: datetime,
) -> None:
    fence(db, held)
    db.write(
        "sink_move",
        name=name,
        activation=cursor.activation if cursor else None,
        item=cursor.item if cursor else None,
        state=json_out(state) if state is not None else None,
        error=error,
        now=now,
    )


def _document(row: Row) -> Document:
    return Document(
        id=row[0],
        source_id=row[1],
        source=f"{row[2]}@{row[3]}" if row[3] else row[2],
        kind=row[4],
        reference=row[5],
        url=row[6],
        title=row[7],
        metadata=row[8],
        content_type=row[9],
        content_hash=row[10],
        generation=row[11],
        born=row[12],
        fetched_at=time_in(row[13]),
        text=row[14],
    )
