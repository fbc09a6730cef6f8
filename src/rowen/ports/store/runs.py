"""Runs of a source: how they begin, what they write down, how they end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, Protocol

from rowen.core.freshness.source_rates import SourceRates
from rowen.core.lease import Lease
from rowen.core.run import Counters, Mode, Run, RunItem, RunStatus
from rowen.core.source import Source, Status
from rowen.core.web.verified import Looked, LookedAtSome
from rowen.core.window import Window
from rowen.records import NamedTuple, dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class RunEnd:
    """How a run ends, decided by `engine/ending.py`, written in one transaction."""

    status: RunStatus
    mode: Mode
    stop_reason: str
    counters: Counters
    error: str | None
    items: Sequence[RunItem]
    activate: int | None = None
    """Move the pointer to this generation."""
    hold: int | None = None
    hold_reason: str | None = None
    documents: int = 0
    """How many documents the generation that is activated or held has."""
    source_status: Status
    watermark: datetime | None = None
    """None leaves it where it is."""
    last_processed_date: date | None = None
    """None leaves it where it is."""
    window: Window | None = None
    """The stretch of time the run asked for, where a source is asked by date."""
    looked: Looked | LookedAtSome | None = None
    """How a run found what it looked at: all that readers see, or some; None changes nothing."""
    rates: SourceRates | None = None
    """How fast the pages change, when that was learnt; kept with `looked`."""
    metadata: Mapping[str, Any] | None = None
    answered: str | None = None
    """The upstream that answered without a complaint: its pause is lifted."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RunDay:
    """What the runs of a source did on one day, in UTC."""

    source_id: int
    day: date
    runs: int
    created: int
    updated: int
    deleted: int
    failed: int

    @property
    def changed(self) -> int:
        return self.created + self.updated + self.deleted


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """Items of a run that did not come in as they should, by the reason they have in common."""

    outcome: str
    """`failed`, or `skipped` for what has no vectors yet."""
    reason: str
    items: int
    reference: str
    """One of them."""
    detail: str | None


class Begun(NamedTuple):
    """A run that has begun, and its source as it was then."""

    source: Source
    run: Run | None
    """None when the source is pinned: what lies beyond the pin stays, and no run was opened."""


class Runs(Protocol):
    async def begin_run(self, lease: Lease, source_id: int, *, full: bool, now: datetime) -> Begun | None:
        """Discard what lies beyond the active generation, close runs left open, open this one.

        A source without an active generation has a full run. None when the source was removed.
        """
        ...

    async def finish_run(self, lease: Lease, run: Run, end: RunEnd, *, now: datetime) -> None:
        """The whole end of a run; activation is one UPDATE of one row inside it."""
        ...

    async def save_items(self, lease: Lease, run: Run, items: Sequence[RunItem]) -> None:
        """What became of these items. A long run writes them down as it goes."""
        ...

    async def save_progress(self, lease: Lease, run: Run, counters: Counters) -> None:
        """How far a run has come, for other processes that show it."""
        ...

    async def close_lost_run(self, lease: Lease, source_id: int, *, now: datetime) -> bool:
        """A source left RUNNING by a process that is gone is in ERROR. False when it was not."""
        ...

    async def runs(self, source_id: int, *, limit: int) -> list[Run]: ...

    async def runs_since(self, source_id: int, since: datetime, *, limit: int = 1000) -> list[Run]:
        """The runs of a source that began since a moment, oldest first; of more than `limit` the newest."""
        ...

    async def run_days(self, since: datetime) -> list[RunDay]:
        """What the runs of all sources did, by source and day; days without a run are left out."""
        ...

    async def problems(self, run_id: int) -> list[Problem]:
        """What went wrong with items of a run, by reason, most first."""
        ...

    async def run(self, run_id: int) -> Run | None: ...

    async def run_items(self, run_id: int) -> list[RunItem]:
        """The items a run wrote down: all but those answered "not modified"."""
        ...

    async def save_share(self, run_id: int, counters: Counters) -> None:
        """What a worker did for a run."""
        ...

    async def shares(self, run_id: int) -> list[Mapping[str, Any]]:
        """The counters that workers saved for a run."""
        ...

    async def forget_tickets(self, run_id: int) -> None:
        """A run is over: what is left of its tickets and of its questions is deleted."""
        ...
