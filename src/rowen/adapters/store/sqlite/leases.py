"""Leases and their fence in SQLite. Each function is one unit of work on an open transaction."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import apsw

from rowen.adapters.store.sqlite.queries import sql
from rowen.adapters.store.sqlite.rows import time_in, time_out
from rowen.core.lease import Lease
from rowen.errors import LeaseLost


def acquire_lease(db: apsw.Connection, name: str, owner: str, now: datetime, ttl_s: float) -> Lease | None:
    expires = now + timedelta(seconds=ttl_s)
    values = {"name": name, "owner": owner, "expires": time_out(expires), "now": time_out(now)}
    token = db.execute(sql("lease_take"), values).get
    return None if token is None else Lease(name=name, owner=owner, token=token, expires_at=expires)


def lease(db: apsw.Connection, name: str) -> Lease | None:
    row = db.execute(sql("lease_get"), (name,)).get
    return None if row is None else _lease(row)


def leases_like(db: apsw.Connection, start: str) -> list[Lease]:
    found = (_lease(row) for row in db.execute(sql("leases_like"), (start, start)))
    return [one for one in found if one is not None]


def forget_leases(db: apsw.Connection, start: str, before: datetime) -> None:
    db.execute(sql("leases_forget"), {"start": start, "before": time_out(before)})


def _lease(row: tuple[Any, ...]) -> Lease | None:
    """None for one that was let go."""
    expires = time_in(row[3])
    return Lease(name=row[0], owner=row[1], token=row[2], expires_at=expires) if expires else None


def renew_lease(db: apsw.Connection, held: Lease, now: datetime, ttl_s: float) -> Lease:
    expires = now + timedelta(seconds=ttl_s)
    values = {"name": held.name, "token": held.token, "expires": time_out(expires)}
    if db.execute(sql("lease_renew"), values).get is None:
        raise lost(held)
    return Lease(name=held.name, owner=held.owner, token=held.token, expires_at=expires)


def release_lease(db: apsw.Connection, held: Lease) -> None:
    db.execute(sql("lease_release"), {"name": held.name, "token": held.token})


def fence(db: apsw.Connection, held: Lease) -> None:
    """invariant: a process that lost its lease writes nothing, however late it wakes up."""
    if db.execute(sql("lease_check"), {"name": held.name, "token": held.token}).get is None:
        raise lost(held)


def lost(held: Lease) -> LeaseLost:
    return LeaseLost(f"lease `{held.name}`: taken over by another process", name=held.name)
