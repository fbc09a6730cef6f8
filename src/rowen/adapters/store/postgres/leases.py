"""Leases and their fence in PostgreSQL. Each function is one unit of work on an open transaction."""

from __future__ import annotations

from datetime import datetime, timedelta

from rowen.adapters.store.postgres.rows import time_in
from rowen.adapters.store.postgres.transaction import Row, Transaction
from rowen.core.lease import Lease
from rowen.errors import LeaseLost


def acquire_lease(db: Transaction, name: str, owner: str, now: datetime, ttl_s: float) -> Lease | None:
    expires = now + timedelta(seconds=ttl_s)
    token = db.value("lease_take", name=name, owner=owner, expires=expires, now=now)
    return None if token is None else Lease(name=name, owner=owner, token=token, expires_at=expires)


def lease(db: Transaction, name: str) -> Lease | None:
    row = db.row("lease_get", name=name)
    return None if row is None else _lease(row)


def leases_like(db: Transaction, start: str) -> list[Lease]:
    return [_lease(row) for row in db.rows("leases_like", start=start)]


def forget_leases(db: Transaction, start: str, before: datetime) -> None:
    db.write("leases_forget", start=start, before=before)


def renew_lease(db: Transaction, held: Lease, now: datetime, ttl_s: float) -> Lease:
    expires = now + timedelta(seconds=ttl_s)
    if db.value("lease_renew", name=held.name, token=held.token, expires=expires) is None:
        raise lost(held)
    return Lease(name=held.name, owner=held.owner, token=held.token, expires_at=expires)


def release_lease(db: Transaction, held: Lease) -> None:
    db.write("lease_release", name=held.name, token=held.token)


def fence(db: Transaction, held: Lease) -> None:
    """invariant: a process that lost its lease writes nothing, however late it wakes up.

    The row stays locked until the transaction ends: whoever takes the lease over waits for this write, and
    a write that comes after the takeover finds another token.
    """
    if db.value("lease_check", name=held.name, token=held.token) is None:
        raise lost(held)


def lost(held: Lease) -> LeaseLost:
    return LeaseLost(f"lease `{held.name}`: taken over by another process", name=held.name)


def _lease(row: Row) -> Lease:
    return Lease(name=row[0], owner=row[1], token=row[2], expires_at=time_in(row[3]))
