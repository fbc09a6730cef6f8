"""Tokens, wishes for a sync and web hook deliveries in SQLite. Each function is one unit of work."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import apsw

from rowen.adapters.store.sqlite.queries import sql
from rowen.adapters.store.sqlite.rows import json_in, json_out, time_in, time_out
from rowen.core.safety.access import Scope, Token
from rowen.core.sync_request import SyncRequest, joined
from rowen.errors import Conflict

USED_AGAIN_AFTER = timedelta(hours=1)
DELIVERIES_KEPT = timedelta(days=7)


def add_token(db: apsw.Connection, name: str, digest: bytes, scope: Scope, now: datetime) -> Token:
    row = db.execute(sql("token_insert"), (name, digest, scope.value, time_out(now))).get
    if row is None:
        raise Conflict(
            f"token `{name}`: exists already", hint=f"choose another name, or `rowen token remove {name}`"
        )
    return _token(row)


def tokens(db: apsw.Connection) -> list[Token]:
    return [_token(row) for row in db.execute(sql("tokens_all"))]


def find_token(db: apsw.Connection, digest: bytes) -> Token | None:
    row = db.execute(sql("token_find"), (digest,)).get
    return None if row is None else _token(row)


def is_stale(token: Token, now: datetime) -> bool:
    """It was used, and nobody wrote that down lately."""
    return token.last_used_at is None or now - token.last_used_at >= USED_AGAIN_AFTER


def token_used(db: apsw.Connection, token_id: int, now: datetime) -> None:
    db.execute(sql("token_used"), (time_out(now), token_id))


def remove_token(db: apsw.Connection, name: str) -> bool:
    db.execute(sql("token_delete"), (name,))
    return bool(db.changes())


def request_sync(
    db: apsw.Connection, source_id: int, only: Sequence[str] | None, full: bool, reason: str, now: datetime
) -> SyncRequest:
    waiting = db.execute(sql("request_find"), (source_id,)).get
    if waiting is not None:
        only, full = joined(_only(waiting[0]), only), full or bool(waiting[1])
    row = db.execute(
        sql("request_save"),
        {
            "source": source_id,
            "only": None if only is None else json_out(list(only)),
            "full": int(full),
            "reason": reason,
            "now": time_out(now),
        },
    ).get
    return _request(row)


def request_by_delivery(
    db: apsw.Connection,
    delivery: tuple[str, str],
    source_id: int,
    only: Sequence[str] | None,
    reason: str,
    now: datetime,
) -> SyncRequest | None:
    db.execute(sql("deliveries_forget"), (time_out(now - DELIVERIES_KEPT),))
    db.execute(sql("delivery_insert"), (*delivery, time_out(now)))
    if not db.changes():
        return None
    return request_sync(db, source_id, only, False, reason, now)


def sync_requests(db: apsw.Connection) -> list[SyncRequest]:
    return [_request(row) for row in db.execute(sql("requests_all"))]


def finish_request(db: apsw.Connection, request: SyncRequest) -> None:
    db.execute(sql("request_delete"), (request.source_id, request.number, time_out(request.requested_at)))


def _token(row: tuple[Any, ...]) -> Token:
    return Token(
        id=row[0],
        name=row[1],
        scope=Scope(row[2]),
        created_at=datetime.fromisoformat(row[3]),
        last_used_at=time_in(row[4]),
    )


def _request(row: tuple[Any, ...]) -> SyncRequest:
    return SyncRequest(
        source_id=row[0],
        number=row[1],
        only=_only(row[2]),
        full=bool(row[3]),
        reason=row[4],
        requested_at=datetime.fromisoformat(row[5]),
    )


def _only(text: str | None) -> tuple[str, ...] | None:
    return None if text is None else tuple(json_in(text))
