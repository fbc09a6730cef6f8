"""One execution of a source: its counters, how it ended, and the events it reports while it runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import field, fields
from datetime import datetime
from enum import StrEnum
from typing import Any

from rowen.core.document import Outcome
from rowen.core.rules.left_out import KEPT, LIMITS, OVER_MAX_PAGES, kept, left_out
from rowen.core.rules.words import count
from rowen.records import NamedTuple, dataclass


class Mode(StrEnum):
    FULL = "full"
    INCREMENTAL = "incremental"


class RunStatus(StrEnum):
    RUNNING = "running"
    COMPLETED = "completed"
    PARTIAL = "partial"
    """Some items failed, or it was broken off: what it did not bring stays visible as it was."""
    HELD = "held"
    """The deletion guard stopped the generation; `approve` lets it through."""
    FAILED = "failed"
    CANCELLED = "cancelled"
    LOST = "lost"
    """The process that ran it died."""

    @property
    def is_good(self) -> bool:
        return self in (RunStatus.COMPLETED, RunStatus.PARTIAL)


class StopReason(StrEnum):
    EXHAUSTED = "exhausted"
    MAX_PAGES = "max_pages"
    MAX_ITEMS = "max_items"
    WINDOW_EXHAUSTED = "window_exhausted"
    RATE_LIMITED = "rate_limited"
    HOST_UNAVAILABLE = "host_unavailable"
    TIME_LIMIT = "time_limit"
    SERVICE_WINDOW = "service_window"
    """The service lists no further than it pages; how many items are behind is counted."""
    LISTING_CUT = "listing_cut"
    """The listing broke off, moved, or has fewer items than it announced: it proves nothing to be gone."""
    DELETION_GUARD = "deletion_guard"
    CANCELLED = "cancelled"
    ERROR = "error"


@dataclass(slots=True)
class Counters:
    """What a run did and what it avoided. Counts, never times: they are the same on any machine.

    Doors show every field of this class, with its docstring as the description; nothing else lists them.
    """

    created: int = 0
    updated: int = 0
    unchanged: int = 0
    metadata_updated: int = 0
    """Among the unchanged: the text is as it was, something else (a tag, a file's address) is new."""
    deleted: int = 0
    failed: int = 0
    skipped: int = 0
    """Stored and keyword-searchable; vectors are filled in later."""
    pages: int = 0
    """Pages of a listing that were read."""
    requests: int = 0
    rate_limited: int = 0
    """Responses that refused a request because there were too many."""
    not_modified: int = 0
    resumed: int = 0
    """Among those not modified: an earlier run had stored them, and they are new to readers."""
    not_asked: int = 0
    """Among those not modified: a listing whose dates hold names the date it named before."""
    not_due: int = 0
    """Known pages that the schedule of a source with a budget leaves for a later run: not looked at."""
    claims_checked: int = 0
    """How often something that was said to be unchanged was compared with its text."""
    claims_broken: int = 0
    """How often the text was another one."""
    tables_asked: int = 0
    """Tables of datasets that were asked for their columns, a request each."""
    bytes_received: int = 0
    """Bodies of successful responses, as sent over the wire (compressed)."""
    bytes_avoided: int = 0
    """Bodies that were not sent or read again, by what they measured when they last came; 0 if not known."""
    reads: int = 0
    """Files that were opened."""
    retries: int = 0
    redirects: int = 0
    parses: int = 0
    same_body: int = 0
    """Items without validators whose bytes were the same: not parsed."""
    same_content: int = 0
    """Items with other bytes and the same text: not indexed again."""
    validators_refreshed: int = 0
    passages_reused: int = 0
    """Sections whose text was stored before."""
    passages_new: int = 0
    embeddings_computed: int = 0
    embeddings_reused: int = 0
    ignored: Counter[str] = field(default_factory=Counter)
    """Items that were found and not requested, by reason."""

    @property
    def left_out(self) -> dict[str, int]:
        """Those of `ignored` for which a limit is the reason, most first."""
        return left_out(self.ignored)

    @property
    def why_ignored(self) -> str:
        """The other reasons, and how many items each: `3 robots, 1 asset`."""
        elsewhere = LIMITS.keys() | KEPT.keys()
        others = [
            (number, reason) for reason, number in self.ignored.most_common() if reason not in elsewhere
        ]
        return ", ".join(f"{number:,} {reason.replace('_', ' ')}" for number, reason in others)

    @property
    def kept(self) -> str:
        """What was noticed about items that readers keep: `1 that was not reached`."""
        return ", ".join(kept(self.ignored))

    @property
    def changed(self) -> int:
        """Items of which readers see another version, or none any more."""
        return self.created + self.updated + self.metadata_updated + self.deleted + self.skipped

    @property
    def processed(self) -> int:
        """Items that were looked at; those with new metadata are among the unchanged."""
        return self.created + self.updated + self.unchanged + self.deleted + self.failed + self.skipped

    def add(self, outcome: Outcome, number: int = 1) -> None:
        setattr(self, outcome.value, getattr(self, outcome.value) + number)
        if outcome is Outcome.METADATA_UPDATED:
            self.unchanged += number

    def join(self, other: Counters) -> None:
        for one in fields(self):
            setattr(self, one.name, getattr(self, one.name) + getattr(other, one.name))

    def cut(self) -> Counters:
        """What was counted so far; all counters are zero afterwards."""
        so_far, fresh = Counters(), Counters()
        for one in fields(self):
            setattr(so_far, one.name, getattr(self, one.name))
            setattr(self, one.name, getattr(fresh, one.name))
        return so_far

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Counters:
        """What `as_dict` of this version or of another one returned."""
        known = {one.name for one in fields(cls)}
        found = {name: value for name, value in values.items() if name in known}
        return cls(**{**found, "ignored": Counter(found.get("ignored", {}))})

    def as_dict(self) -> dict[str, Any]:
        values: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self)}
        values["ignored"] = {reason: count for reason, count in self.ignored.items() if count}
        return values


CAPS = frozenset({StopReason.MAX_PAGES.value, StopReason.MAX_ITEMS.value})
"""A run that ends at a limit of its own settings did all it may: a success, and said to be capped."""
_BROKEN_OFF = {
    StopReason.RATE_LIMITED.value: "the upstream limits us",
    StopReason.HOST_UNAVAILABLE.value: "the upstream did not answer",
    StopReason.TIME_LIMIT.value: "its time was over",
    StopReason.ERROR.value: "an error",
}


def asked_of(processed: int, not_due: int, queued: int = 0) -> str:
    """`asked 500 of 10,000 pages`, of a run with a budget; empty for one that asks for everything."""
    return f"asked {processed:,} of {count(processed + queued + not_due, 'page')}" if not_due else ""


@dataclass(frozen=True, slots=True)
class Result:
    """How a run ended and what it did not bring: the same words in every door."""

    outcome: RunStatus
    stop_reason: str | None = None
    failed: int = 0
    """Items that failed; what was visible of them stays."""
    over_cap: int = 0
    """Items beyond the limit at which it ended, where they were counted."""
    mode: str | None = None
    """`full` or `incremental`, where that was written down."""
    processed: int = 0
    """Items that were looked at, with every outcome."""
    bytes_received: int = 0
    bytes_avoided: int = 0
    not_due: int = 0
    """Pages that were left for a later run."""

    @classmethod
    def of(
        cls, outcome: RunStatus, stop_reason: str | None, counters: Counters, mode: Mode | None = None
    ) -> Result:
        return cls(
            outcome,
            stop_reason,
            counters.failed,
            counters.ignored[OVER_MAX_PAGES],
            mode.value if mode else None,
            counters.processed,
            counters.bytes_received,
            counters.bytes_avoided,
            counters.not_due,
        )

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Result:
        return cls(
            RunStatus(values["outcome"]),
            values["stop_reason"],
            values["failed"],
            values.get("over_cap", 0),
            values.get("mode"),
            values.get("processed", 0),
            values.get("bytes_received", 0),
            values.get("bytes_avoided", 0),
            values.get("not_due", 0),
        )

    def as_dict(self) -> dict[str, Any]:
        return {
            "outcome": self.outcome.value,
            "stop_reason": self.stop_reason,
            "failed": self.failed,
            "over_cap": self.over_cap,
            "mode": self.mode,
            "processed": self.processed,
            "bytes_received": self.bytes_received,
            "bytes_avoided": self.bytes_avoided,
            "not_due": self.not_due,
        }

    @property
    def asked_some(self) -> str:
        """What a run with a budget asked for, in words; empty for one that asked for everything."""
        return asked_of(self.processed, self.not_due)

    @property
    def state(self) -> str:
        """One word: `completed`, `capped`, `partial`, `held`, `failed`, `cancelled` or `interrupted`."""
        if self.outcome is RunStatus.COMPLETED and self.stop_reason in CAPS:
            return "capped"
        return "interrupted" if self.outcome is RunStatus.LOST else self.outcome.value

    @property
    def missing(self) -> str:
        """What it did not bring, in words; empty when there is nothing to say beside its state."""
        said = [f"{count(self.failed, 'item')} failed"] if self.failed else []
        if self.state == "capped":
            said.append(f"stopped at `{self.stop_reason}`")
            if self.over_cap:
                said.append(f"{self.over_cap:,} left out")
        elif self.stop_reason == StopReason.SERVICE_WINDOW:
            said.append("the service lists no further")
        elif self.stop_reason == StopReason.LISTING_CUT:
            said.append("the listing is not complete")
        elif self.outcome is RunStatus.PARTIAL and self.stop_reason in _BROKEN_OFF:
            said.append(f"broken off, {_BROKEN_OFF[self.stop_reason]}")
        if self.asked_some:
            said.append(self.asked_some)
        return ", ".join(said)

    @property
    def words(self) -> str | None:
        """Its state and what it did not bring; None when everything came."""
        if self.state == "completed":
            return self.asked_some or None
        return f"{self.state}: {self.missing}" if self.missing else self.state


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    id: int
    source_id: int
    mode: Mode
    status: RunStatus
    generation: int
    """The generation that was active when the run ended; while it runs, the one it stages."""
    stop_reason: str | None
    started_at: datetime
    finished_at: datetime | None
    counters: dict[str, Any]
    error: str | None
    owner: str
    window: dict[str, Any] | None = None
    """The period it asked for: `since`, `until`, `seeding`."""

    @property
    def result(self) -> Result:
        return Result.of(self.status, self.stop_reason, Counters.from_dict(self.counters), self.mode)

    @property
    def duration_s(self) -> float | None:
        """None while it runs."""
        return (self.finished_at - self.started_at).total_seconds() if self.finished_at else None


class RunItem(NamedTuple):
    """What became of one reference in one run, and why."""

    reference: str
    outcome: Outcome
    reason: str
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened in a run. The bar, server-sent events and callbacks all read these."""

    source: str
    kind: str
    """`waiting`, `started`, `item`, `phase` or `finished`."""
    reference: str | None = None
    outcome: Outcome | None = None
    reason: str | None = None
    deleted: bool = False
    counters: Counters | None = None
    queued: int = 0
    """Items known to be ahead, for a bar; grows while a crawl discovers."""
    detail: str | None = None
    run_id: int | None = None
    """Of `started` and `finished`; what happens in between belongs to the run that started last."""
