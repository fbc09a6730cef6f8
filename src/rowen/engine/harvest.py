"""What a kind of source answers: before it is added, and when it has been through its source once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rowen.core.run import Mode, StopReason
from rowen.core.window import Window
from rowen.errors import RowenError


@dataclass(frozen=True, kw_only=True, slots=True)
class Prepared:
    """A location as it will be remembered."""

    kind: str
    location: str
    findings: tuple[str, ...] = ()
    """What was found there, in sentences."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Harvested:
    stop_reason: StopReason
    error: RowenError | None = None
    """Why it stopped early."""
    root_answered: bool = True
    """The source itself (a root page, a listing) answered well. If not, deletions wait for a person."""
    hint: str | None = None
    """What a person should know, also when all went well."""
    mode: Mode | None = None
    """What kind of run it turned out to be, when the source knows better than the call."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """What the source wants to remember (when it last listed everything); kept when the run succeeds."""
    remember: Mapping[str, Any] = field(default_factory=dict)
    """The same, kept after every run that shows something or finds nothing new."""
    given_up: int = 0
    """Failures that hold nothing up: these items failed again and again."""
    window: Window | None = None
    """The stretch of time that was asked for, by a source that is read in windows."""
    complete: bool = True
    """Everything that was asked for came; if not, watermark and history stay where they are."""
    more: bool = False
    """There is more to take in right now: history that one run does not reach."""

    @classmethod
    def stopped(cls, reason: StopReason, error: RowenError, *, root_answered: bool) -> Harvested:
        return cls(stop_reason=reason, error=error, root_answered=root_answered)
