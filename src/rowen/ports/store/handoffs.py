"""Changed references on their way to readers: the durable outbox, and the ingestion that empties it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from rowen.core.document import Draft
from rowen.core.handoff import Ending, Handoff, HandoffStatus, Reason
from rowen.core.lease import Lease
from rowen.core.run import Run
from rowen.core.section import Passage, Section
from rowen.ports.embedder import Model
from rowen.records import NamedTuple, dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Staged:
    """A draft whose handoff is durable."""

    handoff_id: int
    """0 in a store whose handoffs were taken down."""
    reference_id: int
    content_id: int
    sectioned: bool
    """The content was met before: its sections and passages exist."""
    attempts: int
    """How often its ingestion was started by itself and did not end: more than 0 after crashes."""
    suspect: Reason | None
    """It was in work when a process ended: it is ingested with a few others (`RETRIED_WITH_FEW`), or by
    itself (`RETRIED_ALONE`). None for one that was not."""
    draft: Draft


@dataclass(frozen=True, slots=True)
class Settled:
    """A handoff whose part in a run has ended, and why."""

    handoff_id: int
    reference: str
    reason: str
    error: str | None


@dataclass(frozen=True, slots=True)
class Waiting:
    """A handoff whose text readers see and whose vectors are to be made in another attempt."""

    handoff_id: int
    attempts: int
    suspect: Reason | None
    """An attempt was under way when its process ended: as of `Staged`. `attempts` are those by itself."""
    is_visible: bool
    """False when a newer version of the reference took its place."""
    content_id: int | None


class Ingested(NamedTuple):
    """A staged draft with all that readers will need of it."""

    staged: Staged
    sections: Sequence[Section]
    """Empty when the content was sectioned before."""
    ending: Ending


class Handoffs(Protocol):
    async def stage(
        self,
        lease: Lease,
        run: Run,
        drafts: Sequence[Draft],
        *,
        now: datetime,
        full: bool = False,
        dispatch: bool = False,
    ) -> list[Staged]:
        """References, contents and handoffs in one transaction: the outbox.

        With `full` what was given up has another chance. With `dispatch` the transaction also submits a
        ticket `ingest` for workers, which names the lease, the run and the handoffs.
        """
        ...

    async def revive(
        self,
        lease: Lease,
        run: Run,
        references: Sequence[str],
        *,
        now: datetime,
        dispatch: bool = False,
    ) -> list[Staged]:
        """Queue the newest handoff of each reference again, its text and metadata as they were stored."""
        ...

    async def staged(
        self, run: Run, handoff_ids: Sequence[int], *, begun: bool = True, limit: int = 1000
    ) -> list[Staged]:
        """Of these handoffs, the ones this run has yet to ingest; without `begun`, only `queued` ones."""
        ...

    async def settled(self, handoff_ids: Sequence[int]) -> list[Settled]:
        """Of these handoffs, the ones that ended, or wait for an attempt after the run."""
        ...

    async def start_handoffs(
        self,
        lease: Lease,
        handoff_ids: Sequence[int],
        *,
        now: datetime,
        suspect: Reason | None = None,
    ) -> None:
        """`queued → running`; the attempt counts from here. The first one of suspects that are retried so
        counts anew.
        """
        ...

    async def put_back_handoffs(self, lease: Lease, handoff_ids: Sequence[int], *, now: datetime) -> None:
        """`running → queued`, as if the attempt had not been started."""
        ...

    async def ingest(
        self,
        lease: Lease,
        run: Run,
        ingested: Sequence[Ingested],
        passages: Sequence[Passage],
        vectors: Mapping[bytes, bytes],
        model: Model,
        *,
        now: datetime,
    ) -> None:
        """Passages, vectors, sections, documents and completed handoffs in one transaction.

        A reference's older document dies at the run's generation; the new one is born there. A handoff that
        another worker has completed is left as it is.
        """
        ...

    async def settle_handoffs(self, lease: Lease, endings: Mapping[int, Ending], *, now: datetime) -> None:
        """How the attempts at these handoffs ended."""
        ...

    async def retries(self, *, now: datetime) -> dict[int, datetime]:
        """The sources with handoffs that wait for another attempt, and when the first of each is due.

        What a clock that was ahead wrote down is due now.
        """
        ...

    async def due_retries(self, source_id: int, *, now: datetime, limit: int = 1000) -> list[Waiting]:
        """The handoffs of a source whose next attempt is due, or was under way in a process that died."""
        ...

    async def unembedded_in(self, content_ids: Sequence[int], model: Model) -> dict[int, list[Passage]]:
        """The passages of these contents that have no vector under a model, by content."""
        ...

    async def handoffs(
        self,
        *,
        source_id: int | None = None,
        status: HandoffStatus | None = None,
        reason: str | None = None,
        run_id: int | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[Handoff]: ...

    async def handoff(self, handoff_id: int) -> Handoff | None: ...

    async def handoff_counts(self, *, run_id: int | None = None) -> dict[tuple[HandoffStatus, str], int]:
        """How many there are by status and reason code, of one run or of all."""
        ...

    async def requeue_handoff(self, handoff_id: int, *, now: datetime) -> bool:
        """`failed → queued`, its attempts forgotten and the next one due. False when it had not failed."""
        ...

    async def cancel_handoff(self, lease: Lease, handoff_id: int, *, now: datetime) -> bool:
        """`queued` or `running → failed`. False when it had ended."""
        ...
