"""The part of the Store port that services and sinks use, on SQLite; `SqliteStore` has the rest."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from rowen.adapters.store.sqlite import access, feed
from rowen.adapters.store.sqlite.database import Database
from rowen.core.exchange.sink import Sink
from rowen.core.feed import Cursor, Document, FeedItem
from rowen.core.lease import Lease
from rowen.core.safety.access import Scope, Token
from rowen.core.sync_request import SyncRequest


class SqliteService:
    _db: Database

    # the change feed and sinks

    async def documents(
        self,
        source_id: int,
        *,
        references: Sequence[str] | None = None,
        after: str = "",
        limit: int = 1000,
        text: bool = False,
    ) -> list[Document]:
        return await self._db.read(feed.documents, source_id, references, after, limit, text)

    async def document(self, document_id: int) -> Document | None:
        return await self._db.read(feed.document, document_id)

    async def feed(
        self, after: Cursor, *, source_ids: Collection[int] | None = None, limit: int = 500
    ) -> list[FeedItem]:
        return await self._db.read(feed.feed, after, source_ids, limit)

    async def feed_end(self) -> Cursor:
        return await self._db.read(feed.feed_end)

    async def sinks(self) -> list[Sink]:
        return await self._db.read(feed.sinks)

    async def save_sink(self, name: str, *, kind: str, settings: Mapping[str, Any], cursor: Cursor) -> None:
        await self._db.write(feed.save_sink, name, kind, settings, cursor)

    async def remove_sink(self, name: str) -> None:
        await self._db.write(feed.remove_sink, name)

    async def move_sink(
        self,
        lease: Lease,
        name: str,
        *,
        cursor: Cursor | None,
        state: Mapping[str, Any] | None,
        error: str | None,
        now: datetime,
    ) -> None:
        await self._db.write(feed.move_sink, lease, name, cursor, state, error, now)

    # tokens, wishes and deliveries

    async def add_token(self, name: str, *, digest: bytes, scope: Scope, now: datetime) -> Token:
        return await self._db.write(access.add_token, name, digest, scope, now)

    async def tokens(self) -> list[Token]:
        return await self._db.read(access.tokens)

    async def token(self, digest: bytes, *, now: datetime) -> Token | None:
        found = await self._db.read(access.find_token, digest)
        if found is not None and access.is_stale(found, now):
            await self._db.write(access.token_used, found.id, now)
        return found

    async def remove_token(self, name: str) -> bool:
        return await self._db.write(access.remove_token, name)

    async def request_sync(
        self,
        source_id: int,
        *,
        only: Sequence[str] | None,
        reason: str,
        now: datetime,
        full: bool = False,
    ) -> SyncRequest:
        return await self._db.write(access.request_sync, source_id, only, full, reason, now)

    async def request_by_delivery(
        self,
        hook: str,
        delivery: str,
        source_id: int,
        *,
        only: Sequence[str] | None,
        reason: str,
        now: datetime,
    ) -> SyncRequest | None:
        return await self._db.write(
            access.request_by_delivery, (hook, delivery), source_id, only, reason, now
        )

    async def sync_requests(self) -> list[SyncRequest]:
        return await self._db.read(access.sync_requests)

    async def finish_request(self, request: SyncRequest) -> None:
        await self._db.write(access.finish_request, request)
