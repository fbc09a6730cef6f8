"""When a source is due, and what its last run means for the next one.

Pure: times and states come in, decisions go out.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from rowen.core.rules.clocks import is_ahead
from rowen.core.rules.duration import text_of
from rowen.core.run import RunStatus
from rowen.core.source import UNFINISHED, Source
from rowen.records import dataclass

if TYPE_CHECKING:
    from rowen.core.sync_request import SyncRequest

SPREAD = 0.1
"""Sources of the same interval are spread over this share of it, each always by the same amount."""
REQUEST_RETRY_BASE_S, LONGEST_REQUEST_RETRY_S = 60.0, 3600.0
"""A sync request whose run failed is retried after a minute, then two, at last every hour."""
LONGEST_PAUSE_S = 86_400.0
"""A client that wants to be left alone for longer is asked once a day whether it still does."""
PAUSE_S = 6 * 3600.0
"""How long a client that limits us is left alone when it does not say."""
ATTEMPTS = 3
CUT_SHORT = frozenset({RunStatus.CANCELLED, RunStatus.LOST})
AGAIN_S = 900.0
"""A source whose run was cancelled or lost is due again so long after it, not after its whole interval."""
BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)


class Failure(StrEnum):
    RATE_LIMIT = "RATE_LIMIT"
    """The client limits us: it is paused, others go on."""
    TRANSIENT = "TRANSIENT"
    """Worth another attempt."""
    FATAL = "FATAL"
    """Settings or credentials are wrong: this source stops until they are fixed and it is resumed."""


def due_at(source: Source, now: datetime, *, default_every_s: float) -> datetime:
    """When a source should run next; one that never ran is due since the beginning of time."""
    if source.whole_run_at is None or is_ahead(source.whole_run_at, now):
        return BEGINNING
    if source.metadata.get(UNFINISHED):
        return source.whole_run_at
    every_s = source.own_every_s or default_every_s
    if source.result is not None and source.result.outcome in CUT_SHORT:
        return source.whole_run_at + timedelta(seconds=min(every_s, AGAIN_S))
    share = zlib.crc32(source.key.encode("utf-8", "surrogatepass")) / 2**32
    return source.whole_run_at + timedelta(seconds=every_s * (1 + SPREAD * share))


def request_due_at(source: Source, request: SyncRequest, now: datetime) -> datetime:
    """When a sync request should be carried out: at once, or later the more often that failed."""
    failures, last = source.consecutive_failures, source.last_run_at
    if not failures or last is None or last < request.requested_at or is_ahead(last, now):
        return min(request.requested_at, now)
    doublings = min(failures - 1, 10)
    return last + timedelta(seconds=min(REQUEST_RETRY_BASE_S * 2.0**doublings, LONGEST_REQUEST_RETRY_S))


@dataclass(frozen=True, slots=True)
class NextRun:
    """When `rowen serve` runs a source next; `at` is now for one that is due."""

    at: datetime
    why: str
    """In words: `every 1d`, `first run`, `requested: push`."""


def next_run(
    source: Source,
    now: datetime,
    *,
    default_every_s: float,
    request: SyncRequest | None = None,
    quiet_until: datetime | None = None,
) -> NextRun | None:
    """When a source is run next and why; None for one that waits for a person.

    `quiet_until` is when its upstream may be asked again.
    """
    if source.rests or (source.is_broken and request is None):
        return None
    candidates = []
    if request is not None:
        words = f"requested: {request.reason.replace('_', ' ')}"
        candidates.append((request_due_at(source, request, now), words))
    if not source.is_broken:
        at = due_at(source, now, default_every_s=default_every_s)
        candidates.append((at, _why_due(source, at, default_every_s)))
    at, why = min(candidates)
    if quiet_until is not None and quiet_until > max(at, now):
        return NextRun(quiet_until, f"{why}, when `{source.upstream}` may be asked again")
    return NextRun(max(at, now), why)


def _why_due(source: Source, at: datetime, default_every_s: float) -> str:
    if at == BEGINNING:
        return "first run" if source.last_run_at is None else "its last run lies in the future"
    if source.metadata.get(UNFINISHED):
        return "goes on where its last run stopped"
    if source.result is not None and source.result.outcome in CUT_SHORT:
        return "its last run was cut short"
    if source.is_auto and source.own_every_s:
        return f"every {text_of(source.own_every_s)}, chosen by how fast it changes"
    return f"every {text_of(source.every_s or default_every_s)}"


def due(sources: Iterable[Source], now: datetime, *, default_every_s: float) -> list[Source]:
    """The sources to run now, the longest waiting first; a paused, pinned or broken one is not due.

    What goes on with an unfinished round comes after all others.
    """
    waiting = [
        (bool(source.metadata.get(UNFINISHED)), due_at(source, now, default_every_s=default_every_s), source)
        for source in sources
        if not source.rests and not source.is_broken
    ]
    waiting.sort(key=lambda one: (*one[:2], one[2].key))
    return [source for _, moment, source in waiting if moment <= now]
