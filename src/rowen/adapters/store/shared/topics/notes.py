"""What belongs to no source: notes by name, and upstreams that asked to be left alone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from rowen.adapters.store.shared.database import Topic, reads, writes
from rowen.adapters.store.shared.transaction import Transaction
from rowen.adapters.store.shared.values import Json, json_in, time_in
from rowen.core.lease import LEASE_TTL_S
from rowen.core.rules.clocks import SKEW
from rowen.core.rules.schedule import LONGEST_PAUSE_S
from rowen.ports.store.notes import Pause, TimeAhead


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
            for upstream, until, reason in db.rows("pauses_now", now=now, latest=_latest_pause(now))
        }

    @reads
    def times_ahead(self, db: Transaction, *, now: datetime) -> list[TimeAhead]:
        lease = now + SKEW + timedelta(seconds=LEASE_TTL_S)
        rows = db.rows("times_ahead", now=now + SKEW, pause=_latest_pause(now), lease=lease)
        return [TimeAhead(of, name, field, time_in(at)) for of, name, field, at in rows]

    @reads
    def note(self, db: Transaction, name: str) -> Any:
        return read_note(db, name)

    @reads
    def notes(self, db: Transaction, names: Sequence[str]) -> dict[str, Any]:
        return {name: json_in(value) for name, value in db.rows("notes_named", names=list(names))}

    @reads
    def notes_like(self, db: Transaction, start: str) -> dict[str, Any]:
        return {name: json_in(value) for name, value in db.rows("notes_like", start=start)}

    @writes
    def save_note(self, db: Transaction, name: str, value: Any) -> None:
        if value is None:
            db.write("note_delete", name=name)
        else:
            write_note(db, name, value)


def _latest_pause(now: datetime) -> datetime:
    """No pause is longer than this: a clock that was ahead wrote a later end, and it is not believed."""
    return now + SKEW + timedelta(seconds=LONGEST_PAUSE_S)


def read_note(db: Transaction, name: str) -> Any:
    value = db.value("note_get", name=name)
    return None if value is None else json_in(value)


def write_note(db: Transaction, name: str, value: Any) -> None:
    db.write("note_save", name=name, value=Json(value))
