"""Pages of one crawl that workers ask for: questions by host, host batches, and the answers.

One worker asks a host at a time. The number of the host's batch is in the store, for each host of a run, and
a ticket `fetch` names that number; a batch that was passed on cannot be passed on again, however often and
late its ticket comes. Questions and answers are the caller's own. All of it is deleted when the run ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from rowen.core.lease import Lease
from rowen.core.run import Run
from rowen.records import dataclass

FETCH = "fetch"
"""The task of a ticket that names a host of a run, and the number of its batch."""
FETCH_PRIORITY = 1
"""A host that waits to be asked is idle; what was fetched can wait."""


def fetch_payload(lease: Lease, run: Run, host: str, batch: int) -> dict[str, Any]:
    """What a worker needs to ask pages for a run: the run, the right to write for it, and its batch."""
    return {
        "run": run.id,
        "lease": lease.name,
        "token": lease.token,
        "owner": lease.owner,
        "host": host,
        # As tables and tickets of 0.1.0 name it.
        "turn": batch,
    }


@dataclass(frozen=True, slots=True)
class Question:
    id: int
    asked: Mapping[str, Any]
    attempts: int
    """How often it was taken, this time included."""


class Shards(Protocol):
    """Every call raises `LeaseLost` when the run's lease has another owner."""

    async def ask_pages(
        self, lease: Lease, run: Run, host: str, questions: Sequence[Mapping[str, Any]], *, now: datetime
    ) -> list[int]:
        """Write questions down and answer with their ids, in order.

        A host that no worker is asking gets its next batch: a ticket `fetch`, in the same transaction.
        """
        ...

    async def take_pages(
        self, lease: Lease, run: Run, host: str, batch: int, *, limit: int
    ) -> list[Question]:
        """What to ask in a batch: what it took before and has not answered; else, if this batch was not
        passed on, the oldest questions that no batch has taken.
        """
        ...

    async def pass_batch(self, lease: Lease, run: Run, host: str, batch: int, *, now: datetime) -> None:
        """This batch is over. Where questions wait the next one begins, with its ticket; else the host has
        none until there are new ones. Nothing happens for a batch that is not the host's last.
        """
        ...

    async def seize_batch(self, lease: Lease, run: Run, host: str, *, begun: bool) -> int:
        """The host's next batch without a ticket, for the run itself.

        With `begun` every question without an answer is free again; without it, other batches keep theirs.
        """
        ...

    async def answer_pages(self, lease: Lease, run: Run, answers: Mapping[int, Mapping[str, Any]]) -> None:
        """Answers by question. The first one stands; one to a question that is gone is nothing."""
        ...

    async def take_answers(self, lease: Lease, run: Run) -> dict[int, dict[str, Any]]:
        """What was answered since the last call; questions and answers are forgotten."""
        ...
