"""Leases, and the fence that keeps those who lost theirs from writing."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from rowen.adapters.store.shared.database import Topic, reads, writes
from rowen.adapters.store.shared.transaction import Row, Transaction
from rowen.adapters.store.shared.values import maybe_time_in
from rowen.core.lease import Lease
from rowen.errors import LeaseLost


class Leases(Topic):
    @writes
    def acquire_lease(
        self, db: Transaction, name: str, owner: str, *, now: datetime, ttl_s: float
    ) -> Lease | None:
        expires = now + timedelta(seconds=ttl_s)
        token = db.value("lease_take", name=name, owner=owner, expires=expires, now=now)
        if token is None:
            db.write("lease_shorten", name=name, expires=expires)
            return None
        return Lease(name=name, owner=owner, token=token, expires_at=expires)

    @reads
    def lease(self, db: Transaction, name: str) -> Lease | None:
        row = db.row("lease_get", name=name)
        return None if row is None else _lease(row)

    @reads
    def leases_like(self, db: Transaction, start: str) -> list[Lease]:
        found = (_lease(row) for row in db.rows("leases_like", start=start))
        return [lease for lease in found if lease is not None]

    @writes
    def forget_leases(self, db: Transaction, start: str, *, before: datetime) -> None:
        db.write("leases_forget", start=start, before=before)

    @writes
    def renew_lease(self, db: Transaction, lease: Lease, *, now: datetime, ttl_s: float) -> Lease:
        expires = now + timedelta(seconds=ttl_s)
        if db.value("lease_renew", name=lease.name, token=lease.token, expires=expires) is None:
            raise _lost(lease)
        return replace(lease, expires_at=expires)

    @writes
    def release_lease(self, db: Transaction, lease: Lease) -> None:
        db.write("lease_release", name=lease.name, token=lease.token)


def fence(db: Transaction, lease: Lease) -> None:
    """invariant: a process that lost its lease writes nothing, however late it wakes up.

    The lease keeps its owner until the transaction ends: a takeover waits for this write, and a write that
    comes after the takeover finds another token.
    """
    if db.value("lease_check", name=lease.name, token=lease.token) is None:
        raise _lost(lease)


def _lost(lease: Lease) -> LeaseLost:
    return LeaseLost(f"lease `{lease.name}`: taken over by another process", name=lease.name)


def _lease(row: Row) -> Lease | None:
    """None for one that was released."""
    expires = maybe_time_in(row[3])
    return Lease(name=row[0], owner=row[1], token=row[2], expires_at=expires) if expires else None
