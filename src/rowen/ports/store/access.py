"""What a service asks of the store: tokens, requests for a sync, and which deliveries were met before."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from rowen.core.safety.access import Scope, Token
from rowen.core.sync_request import SyncRequest


class Access(Protocol):
    async def add_token(self, name: str, *, digest: bytes, scope: Scope, now: datetime) -> Token:
        """Raises `Conflict` when the name exists."""
        ...

    async def tokens(self) -> list[Token]: ...

    async def token(self, digest: bytes, *, now: datetime) -> Token | None:
        """The token with this hash; that it was used is written down, at most once an hour."""
        ...

    async def remove_token(self, name: str) -> bool:
        """False when there was none."""
        ...

    async def request_sync(
        self,
        source_id: int,
        *,
        only: Sequence[str] | None,
        reason: str,
        now: datetime,
        full: bool = False,
    ) -> SyncRequest:
        """A request, joined with the one that waits, if there is one; `full` when one of them is."""
        ...

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
        """The request of an incoming hook's delivery; None when this delivery was met before, within a week.

        That it was met is stored together with the request: a delivery that is known has not been lost.
        """
        ...

    async def sync_requests(self) -> list[SyncRequest]:
        """The longest waiting first."""
        ...

    async def sync_request(self, source_id: int) -> SyncRequest | None:
        """The one of this source."""
        ...

    async def finish_request(self, request: SyncRequest) -> None:
        """It was carried out. A request that joined it meanwhile stays, as does one that came after it."""
        ...
