"""Tokens, requests for a sync, and the deliveries of incoming hooks."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from rowen.adapters.store.shared.database import Topic, reads, reads_briefly, writes
from rowen.adapters.store.shared.transaction import Transaction
from rowen.adapters.store.shared.values import maybe_json
from rowen.core.safety.access import Scope, Token
from rowen.core.sync_request import SyncRequest, joined, joined_reason
from rowen.errors import Conflict

USED_AGAIN_AFTER = timedelta(hours=1)
DELIVERIES_KEPT = timedelta(days=7)


class Access(Topic):
    @writes
    def add_token(self, db: Transaction, name: str, *, digest: bytes, scope: Scope, now: datetime) -> Token:
        token = db.one(Token, "token_insert", name=name, digest=digest, scope=scope.value, now=now)
        if token is None:
            raise Conflict(
                f"token `{name}`: exists already", hint=f"choose another name, or `rowen token remove {name}`"
            )
        return token

    @reads_briefly
    def tokens(self, db: Transaction) -> list[Token]:
        return db.all(Token, "tokens_all")

    async def token(self, digest: bytes, *, now: datetime) -> Token | None:
        found = await self._find_token(digest)
        if found and (found.last_used_at is None or now - found.last_used_at >= USED_AGAIN_AFTER):
            await self._token_used(found, now)
        return found

    @reads_briefly
    def _find_token(self, db: Transaction, digest: bytes) -> Token | None:
        return db.one(Token, "token_find", digest=digest)

    @writes
    def _token_used(self, db: Transaction, token: Token, now: datetime) -> None:
        db.write("token_used", token=token.id, now=now)

    @writes
    def remove_token(self, db: Transaction, name: str) -> bool:
        return bool(db.write("token_delete", name=name))

    @writes
    def request_sync(
        self,
        db: Transaction,
        source_id: int,
        *,
        only: Sequence[str] | None,
        reason: str,
        now: datetime,
        full: bool = False,
    ) -> SyncRequest:
        return _request_sync(db, source_id, only, reason, now, full)

    @writes
    def request_by_delivery(
        self,
        db: Transaction,
        hook: str,
        delivery: str,
        source_id: int,
        *,
        only: Sequence[str] | None,
        reason: str,
        now: datetime,
    ) -> SyncRequest | None:
        db.write("deliveries_forget", before=now - DELIVERIES_KEPT)
        if not db.write("delivery_insert", hook=hook, key=db.key(delivery), now=now):
            return None
        return _request_sync(db, source_id, only, reason, now, False)

    @reads
    def sync_requests(self, db: Transaction) -> list[SyncRequest]:
        return db.all(SyncRequest, "requests_all")

    @reads
    def sync_request(self, db: Transaction, source_id: int) -> SyncRequest | None:
        return db.one(SyncRequest, "request_find", source=source_id)

    @writes
    def finish_request(self, db: Transaction, request: SyncRequest) -> None:
        db.write("request_delete", source=request.source_id, number=request.number, at=request.requested_at)


def _request_sync(
    db: Transaction, source_id: int, only: Sequence[str] | None, reason: str, now: datetime, full: bool
) -> SyncRequest:
    waiting = db.one(SyncRequest, "request_to_join", source=source_id)
    if waiting is not None:
        only, full = joined(waiting.only, only), full or waiting.full
        reason = joined_reason(waiting.reason, reason)
    wanted = maybe_json(None if only is None else list(only))
    values = {"source": source_id, "only": wanted, "full": full, "reason": reason}
    # Of two first requests at once the second fails to insert, is tried again, and joins the first.
    (request,) = db.all(
        SyncRequest, "request_insert" if waiting is None else "request_join", **values, now=now
    )
    return request
