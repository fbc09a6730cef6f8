"""Tickets: work that any process may do. Handled at least once, also when a process dies over one.

A ticket is small and carries ids, never data. What a handler does must be safe to do twice: attempts, fencing
and uniqueness are the store's business, an engine only carries tickets. Work that belongs to a change in the
store is submitted by the store, in the transaction of that change.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from rowen.core.lease import Lease
from rowen.core.run import Run
from rowen.eventloop import asyncio
from rowen.records import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Ticket:
    id: int
    task: str
    payload: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Done:
    """There is nothing left to do; the ticket goes."""


@dataclass(frozen=True, slots=True)
class Later:
    """Not now: the ticket comes back after so many seconds."""

    seconds: float
    reason: str


INGEST = "ingest"
"""The task of a ticket that names handoffs of a run."""


RETRY = "retry"
"""The task of a ticket that names a source with handoffs that wait for another attempt."""


def retry_payload(source_id: int) -> dict[str, Any]:
    return {"source": source_id}


def ingest_payload(lease: Lease, run: Run, handoff_ids: Sequence[int]) -> dict[str, Any]:
    """What a worker needs to ingest for a run: the run, the right to write for it, and which handoffs."""
    return {
        "run": run.id,
        "lease": lease.name,
        "token": lease.token,
        "owner": lease.owner,
        "handoffs": list(handoff_ids),
    }


Answer = Done | Later
Handler = Callable[[Ticket], Awaitable[Answer]]
"""An exception is a bug: it is logged, and the ticket comes back after a while."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Backlog:
    waiting: int
    """Tickets that no process works on, those that come back later included."""
    running: int
    oldest_at: datetime | None
    """Since when the longest waiting one waits."""


class Dispatcher(Protocol):
    async def submit(
        self,
        task: str,
        payloads: Sequence[Mapping[str, Any]],
        *,
        delay_s: float = 0.0,
        priority: int = 0,
    ) -> None:
        """Tickets in a transaction of their own; the higher priority goes first."""
        ...

    async def run(self, handlers: Mapping[str, Handler], *, concurrency: int, stop: asyncio.Event) -> None:
        """Handle tickets until `stop` is set, then end when what is under way has ended.

        A database that goes away is waited for. Cancelled, it gives what it holds back at once.
        """
        ...

    async def backlog(self) -> Backlog: ...

    async def outstanding(self, task: str) -> list[Mapping[str, Any]]:
        """The payloads of a task's tickets that are not done."""
        ...
