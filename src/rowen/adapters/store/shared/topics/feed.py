"""What readers see, the change feed and the sinks."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from rowen.adapters.store.shared import verification
from rowen.adapters.store.shared.database import Topic, reads, writes
from rowen.adapters.store.shared.topics.leases import fence
from rowen.adapters.store.shared.transaction import Row, Transaction
from rowen.adapters.store.shared.values import Json, maybe_json, time_in, value_in
from rowen.adapters.store.shared.verification import with_ways
from rowen.core.document import TEXT
from rowen.core.exchange.sink import Sink
from rowen.core.feed import LAST_ITEM, SOURCE_REMOVED, Cursor, Document, FeedItem
from rowen.core.lease import Lease
from rowen.core.web.folders import Folder, folders_under
from rowen.core.web.verified import DAY, WEEK, Freshness, freshness


class Feed(Topic):
    @reads
    def documents(
        self,
        db: Transaction,
        source_id: int,
        *,
        references: Sequence[str] | None = None,
        after: str = "",
        limit: int = 1000,
        text: bool = False,
        shown: Mapping[int, int] | None = None,
    ) -> list[Document]:
        db = db if shown is None else db.as_of(shown)
        if references is not None:
            return _among(db, source_id, references, text=text)
        rows = db.rows("documents_page", source=source_id, after=after, limit=limit, text=text)
        return with_ways(db, map(_document, rows))

    @reads
    def document(
        self, db: Transaction, document_id: int, *, shown: Mapping[int, int] | None = None
    ) -> Document | None:
        db = db if shown is None else db.as_of(shown)
        row = db.row("document_by_id", document=document_id)
        return None if row is None else with_ways(db, [_document(row)])[0]

    @reads
    def freshness(self, db: Transaction, source_id: int, *, now: datetime) -> Freshness:
        found = db.rows("fetched_since", source=source_id, day=now - DAY, week=now - WEEK)
        ((documents, day, week, last),) = found
        return freshness(
            verification.load(db, source_id),
            now,
            documents=documents,
            fetched_in_day=day,
            fetched_in_week=week,
            fetched_last=time_in(last) if documents else None,
        )

    @reads
    def same_text(self, db: Transaction, document_id: int, *, limit: int = 20) -> list[Document]:
        return with_ways(db, map(_document, db.rows("documents_alike", document=document_id, limit=limit)))

    @reads
    def folders(self, db: Transaction, source_id: int, under: str = "") -> list[Folder]:
        return folders_under((row[0] for row in db.each("references_seen", source=source_id)), under)

    @reads
    def feed(
        self,
        db: Transaction,
        after: Cursor,
        *,
        source_ids: Collection[int] | None = None,
        removed: Collection[str] = (),
        limit: int = 500,
    ) -> list[FeedItem]:
        found: list[FeedItem] = []
        removals = _removals(db, after, None if source_ids is None else removed)
        activation, sources = after.activation, list(source_ids or ())
        while len(found) < limit:
            shown = db.row(
                "activation_next", first=activation, everywhere=source_ids is None, sources=sources
            )
            while removals and (shown is None or removals[0].cursor.activation < shown[0]):
                found.append(removals.popleft())
            if shown is None:
                break
            from_item = after.item if shown[0] == after.activation else 0
            found += _touched(db, shown, from_item, max(0, limit - len(found)))
            activation = shown[0] + 1
        return found[:limit]

    @reads
    def feed_end(self, db: Transaction) -> Cursor:
        newest = db.value("activation_newest")
        return Cursor(newest or 0, LAST_ITEM if newest else 0)

    @reads
    def sinks(self, db: Transaction) -> list[Sink]:
        rows = db.rows("sinks_all")
        return [value_in(Sink, (*row[:3], Cursor(row[3], row[4]), *row[5:])) for row in rows]

    @writes
    def save_sink(
        self, db: Transaction, name: str, *, kind: str, settings: Mapping[str, Any], cursor: Cursor
    ) -> None:
        db.write(
            "sink_save",
            name=name,
            kind=kind,
            settings=Json(settings),
            activation=cursor.activation,
            item=cursor.item,
        )

    @writes
    def remove_sink(self, db: Transaction, name: str) -> None:
        db.write("sink_delete", name=name)

    @writes
    def move_sink(
        self,
        db: Transaction,
        lease: Lease,
        name: str,
        *,
        cursor: Cursor | None,
        state: Mapping[str, Any] | None,
        error: str | None,
        now: datetime,
    ) -> None:
        fence(db, lease)
        db.write(
            "sink_move",
            name=name,
            activation=cursor.activation if cursor else None,
            item=cursor.item if cursor else None,
            state=maybe_json(state),
            error=error,
            now=now,
        )


def _removals(db: Transaction, after: Cursor, labels: Collection[str] | None) -> deque[FeedItem]:
    """Sources that were removed after a cursor: those of these labels, or all."""
    rows = db.rows("removals_from", first=after.activation + (after.item > 0))
    return deque(
        FeedItem(
            cursor=Cursor(number, 1),
            source_id=0,
            source=label,
            kind=kind,
            generation=generation,
            reference="",
            change=SOURCE_REMOVED,
            at=time_in(at),
            document=None,
        )
        for number, label, kind, generation, at in rows
        if labels is None or label in labels
    )


def _touched(db: Transaction, shown: Row, after: int, limit: int) -> list[FeedItem]:
    activation, source_id, label, kind, generation, previous, run_id, at = shown
    if run_id is not None:
        rows = db.rows("touched_by_run", run=run_id, after=after, limit=limit)
    else:
        # Without a run it was a rollback: it touched what the runs between had touched.
        low, high = sorted((previous, generation))
        rows = db.rows("touched_between", source=source_id, low=low, high=high, after=after, limit=limit)
    visible = {one.reference: one for one in _among(db, source_id, [row[1] for row in rows], text=False)}
    moment = time_in(at)
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
            fields=_fields(outcome, detail) if reference in visible else (),
            came=outcome == "created",
        )
        for item, reference, outcome, detail in rows
    ]


def _among(db: Transaction, source_id: int, references: Sequence[str], *, text: bool) -> list[Document]:
    keys = [db.key(reference) for reference in references]
    rows = db.rows("documents_among", source=source_id, keys=keys, text=text)
    return with_ways(db, map(_document, rows))


def _change(outcome: str, *, seen: bool) -> str:
    if not seen:
        return "removed"
    return "added" if outcome == "created" else "changed"


def _fields(outcome: str, detail: str | None) -> tuple[str, ...]:
    """What a run wrote down of a new version: the names of what was new in it."""
    if outcome == "updated" and not detail:
        return (TEXT,)
    return tuple(detail.split(", ")) if detail and outcome not in ("created", "skipped", "deleted") else ()


def _document(row: Row) -> Document:
    label = f"{row[2]}@{row[3]}" if row[3] else row[2]
    return value_in(Document, (*row[:2], label, *row[4:]))
