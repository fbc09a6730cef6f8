"""What belongs to no source: notes by name, and upstreams that asked to be left alone."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from rowen.adapters.store.shared.database import Topic, reads, writes
from rowen.adapters.store.shared.transaction import Transaction
from rowen.adapters.store.shared.values import Json, json_in, time_in
from rowen.ports.store.notes import Pause


class Notes(Topic):
    @writes
    def pause_upstream(self, db: Transaction, pause: Pause) -> None:
        db.write("pause_save", upstream=pause.upstream, until=pause.until, reason=pause.reason)

    @writes
    def lift_pause(self, db: Transaction, upstream: str) -> None:
        db.write("pause_delete", upstream=upstream)

    @reads
    def pauses(self, db: Transaction, *, now: datetime) -> dict[str, Pause]:
        return {
            upstream: Pause(upstream=upstream, until=time_in(until), reason=reason)
            for upstream, until, reason in db.rows("pauses_now", now=now)
        }

    @reads
    def note(self, db: Transaction, name: str) -> Any:
        return read_note(db, name)

    @reads
    def notes_like(self, db: Transaction, start: str) -> dict[str, Any]:
        return {name: json_in(value) for name, value in db.rows("notes_like", start=start)}

    @writes
    def save_note(self, db: Transaction, name: str, value: Any) -> None:
        write_note(db, name, value)


def read_note(db: Transaction, name: str) -> Any:
    value = db.value("note_get", name=name)
    return None if value is None else json_in(value)


def write_note(db: Transaction, name: str, value: Any) -> None:
    db.write("note_save", name=name, value=Json(value))
