"""Who works for a store: each worker keeps a lease in its own name, and whoever asks sees the living ones."""

from __future__ import annotations

from rowen.core.lease import Lease
from rowen.engine.ports import Ports

WORKER = "worker:"


def worker_lease_name(owner: str) -> str:
    return WORKER + owner


async def workers(ports: Ports) -> list[Lease]:
    """The workers that gave a sign of life lately and are not certainly dead."""
    now = ports.clock.now()
    found = await ports.store.leases_like(WORKER)
    return [lease for lease in found if lease.expires_at > now and not ports.is_dead(lease.owner)]


async def others(ports: Ports) -> list[Lease]:
    """The workers that are not this process."""
    return [lease for lease in await workers(ports) if lease.owner != ports.owner]
