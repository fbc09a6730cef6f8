"""A run that has begun, for tests that look at a store in the middle of one."""

from __future__ import annotations

from datetime import datetime

from rowen.core.lease import Lease
from rowen.core.run import Run
from rowen.ports.store.runs import Runs


async def begun(store: Runs, lease: Lease, source_id: int, *, full: bool = True, now: datetime) -> Run:
    started = await store.begin_run(lease, source_id, full=full, now=now)
    assert started is not None
    return started.run
