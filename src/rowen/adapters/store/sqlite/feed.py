"""What readers see, the change feed and the sinks in SQLite. Each function is one unit of work."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

import apsw

from rowen.adapters.store.sqlite.leases import fence
from rowen.adapters.store.sqlite.queries import sql
from rowen.adapters.store.sqlite.rows import (
    ids_parameter,
    json_in,
    json_out,
    texts_parameter,
    time_in,
    time_out,
)
from rowen.core.exchange.sink import Sink
from rowen.core.feed import LAST_ITEM, Cursor, Document, FeedItem
from rowen.core.lease import Lease


def documents(
    db: apsw.Connection,
    source_id: int,
    references: Sequence[str] | None,
    after: str,
    limit: int,
    text: bool,
) -> list[Document]:
    values = {"source": source_id, "text": text, "after": after, "limit": limit}
    if references is None:
        rows = db.execute(sql("documents_page"), values)
    else:
        values["references"] = texts_parameter(references)
        rows = db.execute(sql("documents_among"), values)
    return [_document(row) for row in rows]


def document(db: apsw.Connection, document_id: int) -> Document | None:
    row = db.execute(sql("document_by_id"), {"document": document_id, "text": True}).get
    return None if row is None else _document(row)


def feed(
    db: apsw.Connection, after: Cursor, source_ids: Collection[int] | None, limit: int
) -> list[FeedItem]:
    found: list[FeedItem] = []
    from_item = after.item
    activation = after.activation
    while len(found) < limit:
        shown = db.execute(
            sql("activation_next"),
            {
                "from": activation,
                "everywhere": source_ids is None,
                "sources": ids_parameter(source_ids or ()),
            },
        ).get
        if shown is None:
            break
        items = _touched(db, shown, from_item if shown[0] == after.activation else 0, limit - len(found))
        found += items
        activation = shown[0] + 1
    return found


def feed_end(db: apsw.Connection) -> Cursor:
    newest = db.execute(sql("activation_newest")).get
    return Cursor(newest or 0, LAST_ITEM if newest else 0)


def _touched(db: apsw.Connection, shown: tuple[Any, ...], after: int, limit: int) -> list[FeedItem]:
    activation, source_id, label, kind, generation, previous, run_id, at = shown
    values = {
        "source": source_id,
        "run": run_id,
        # Without a run it was a rollback: it touched what the runs between had touched.
        "low": min(previous, generation),
        "high": max(previous, generation),
        "after": after,
        "limit": limit,
    }
    touched = sql("touched_by_run") if run_id is not None else sql("touched_between")
    rows: list[Any] = db.execute(touched, values).fetchall()
    references = [row[1] for row in rows]
    visible = {one.reference: one for one in documents(db, source_id, references, "", len(rows), False)}
    moment = _time(at)
    return [
        FeedItem(
            cursor=Cursor(activation, item),
            source_id=source_id,
            source=label,
            kind=kind,
            generation=generation,
            reference=reference,
            change=_change(outcome, seen=reference in visible),
            at=moment,
            document=visible.get(reference),
        )
        for item, reference, outcome in rows
    ]


def _change(outcome: str, *, seen: bool) -> str:
    if not seen:
        return "removed"
    return "added" if outcome == "created" else "changed"


def sinks(db: apsw.Connection) -> list[Sink]:
    return [
        Sink(
            name=row[0],
            kind=row[1],
            settings=json_in(row[2]),
            cursor=Cursor(row[3], row[4]),
            state=json_in(row[5]),
            last_run_at=time_in(row[6]),
            last_success_at=time_in(row[7]),
            last_error=row[8],
            failures=row[9],
        )
        for row in db.execute(sql("sinks_all"))
    ]


def save_sink(db: apsw.Connection, name: str, kind: str, settings: Mapping[str, Any], cursor: Cursor) -> None:
    values = {
        "name": name,
        "kind": kind,
        "settings": json_out(settings),
        "activation": cursor.activation,
        "item": cursor.item,
    }
    db.execute(sql("sink_save"), values)


def remove_sink(db: apsw.Connection, name: str) -> None:
    db.execute(sql("sink_delete"), (name,))


def move_sink(
    db: apsw.Connection,
    held: Lease,
    name: str,
    cursor: Cursor | None,
    state: Mapping[str, Any] | None,
    error: str | None,
    now: datetime,
) -> None:
    fence(db, held)
    values = {
        "name": name,
        "activation": cursor.activation if cursor else None,
        "item": cursor.item if cursor else None,
        "state": json_out(state) if state is not None else None,
        "error": error,
        "now": time_out(now),
    }
    db.execute(sql("sink_move"), values)


def _document(row: tuple[Any, ...]) -> Document:
    return Document(
        id=row[0],
        source_id=row[1],
        source=f"{row[2]}@{row[3]}" if row[3] else row[2],
        kind=row[4],
        reference=row[5],
        url=row[6],
        title=row[7],
        metadata=json_in(row[8]),
        content_type=row[9],
        content_hash=row[10],
        generation=row[11],
        born=row[12],
        fetched_at=_time(row[13]),
        text=row[14],
    )


def _time(value: str) -> datetime:
    return datetime.fromisoformat(value)
