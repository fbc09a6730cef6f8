"""The run lock: a lease with a heartbeat and a fencing token.

The owner of a source's lease may write its next generation. The token grows with each new owner and
travels with every write, so a process that slept through its lease cannot write over its successor.
"""

from __future__ import annotations

from datetime import datetime

from rowen.records import dataclass

LEASE_TTL_S = 60.0
HEARTBEAT_S = 15.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Lease:
    name: str
    owner: str
    token: int
    expires_at: datetime


SOURCE = "source:"
"""Begins the names of the leases of sources."""


def source_lease_name(source_id: int) -> str:
    return f"{SOURCE}{source_id}"
