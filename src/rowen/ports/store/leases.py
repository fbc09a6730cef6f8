"""The right to do something, held by one owner at a time, with a token that fences off earlier owners."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from rowen.core.lease import Lease


class Leases(Protocol):
    async def acquire_lease(self, name: str, owner: str, *, now: datetime, ttl_s: float) -> Lease | None:
        """None while another owner's lease has not expired."""
        ...

    async def lease(self, name: str) -> Lease | None: ...

    async def leases_like(self, start: str) -> list[Lease]:
        """The leases whose names begin so, expired ones included."""
        ...

    async def forget_leases(self, start: str, *, before: datetime) -> None:
        """Leases whose names begin so and that were released, or expired before this moment.

        Only for names that are not acquired again: the next token of a forgotten name is 1.
        """
        ...

    async def renew_lease(self, lease: Lease, *, now: datetime, ttl_s: float) -> Lease:
        """Raises `LeaseLost`."""
        ...

    async def release_lease(self, lease: Lease) -> None:
        """Also breaks the lease of a dead owner; a token that is not the newest changes nothing."""
        ...
