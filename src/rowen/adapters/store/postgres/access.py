"""Tokens, wishes for a sync and web hook deliveries in PostgreSQL. Each function is one unit of work."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from rowen.adapters.store.postgres.rows import json_out, maybe_time_in, time_in
from rowen.adapters.store.postgres.transaction import Row, Transaction
from rowen.core import hashing
from rowen.core.safety.access import Scope, Token
from rowen.core.sync_request import SyncRequest, joined
from rowen.errors import Conflict

USED_AGAIN_AFTER = timedelta(hours=1)
DELIVERIES_KEPT = timedelta(days=7)


def add_token(db: Transaction, name: str, digest: bytes, scope: Scope, now: datetime) -> Token:
    row = db.row("token_insert", name=name, digest=digest, scope=scope.value, now=now)
    if row is None:
        raise Conflict(
            f"token `{name}`: exists already", hint=f"choose another name, or `rowen token remove {name}`"
        )
    return _token(row)


def tokens(db: Transaction) -> list[Token]:
    return [_token(row) for row in db.rows("tokens_all")]


def find_token(db: Transaction, digest: bytes) -> Token | None:
    row = db.row("token_find", digest=digest)
    return None if row is None else _token(row)


def is_stale(token: Token, now: datetime) -> bool:
    """It was used, and nobody wrote that down lately."""
    return token.last_used_at is None or now - token.last_used_at >= USED_AGAIN_AFTER


def token_used(db: Transaction, token_id: int, now: datetime) -> None:
    db.write("token_used", token=token_id, now=now)


def remove_token(db: Transaction, name: str) -> bool:
    return bool(db.write("token_delete", name=name))


def request_sync(
    db: Transaction, source_id: int, only: Sequence[str] | None, full: bool, reason: str, now: datetime
) -> SyncRequest:
    waiting = db.row("request_find", source=source_id)
    if waiting is not None:
        only, full = joined(waiting[0], only), full or waiting[1]
    wanted = None if only is None else json_out(list(only))
    if waiting is not None:
        ((*row,),) = db.rows("request_join", source=source_id, only=wanted, full=full, reason=reason)
    else:
        # Two first wishes at once: the second one fails here, is tried again, and joins the first.
        ((*row,),) = db.rows(
            "request_insert", source=source_id, only=wanted, full=full, reason=reason, now=now
        )
    return _request(tuple(row))


def request_by_delivery(
    db: Transaction,
    delivery: tuple[str, str],
    source_id: int,
    only: Sequence[str] | None,
    reason: str,
    now: datetime,
) -> SyncRequest | None:
    hook, name = delivery
    db.write("deliveries_forget", before=now - DELIVERIES_KEPT)
    if not db.write("delivery_insert", hook=hook, digest=hashing.of_text(name), now=now):
        return None
    return request_sync(db, source_id, only, False, reason, now)


def sync_requests(db: Transaction) -> list[SyncRequest]:
    return [_request(row) for row in db.rows("requests_all")]


def finish_request(db: Transaction, request: SyncRequest) -> None:
    db.write("request_delete", source=request.source_id, number=request.number, at=request.requested_at)


def _token(row: Row) -> Token:
    return Token(
        id=row[0],
        name=row[1],
        scope=Scope(row[2]),
        created_at=time_in(row[3]),
        last_used_at=maybe_time_in(row[4]),
    )


def _request(row: Row) -> SyncRequest:
    return SyncRequest(
        source_id=row[0],
        number=row[1],
        only=None if row[2] is None else tuple(row[2]),
        full=row[3],
        reason=row[4],
        requested_at=time_in(row[5]),
    )
