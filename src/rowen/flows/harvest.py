"""What a kind of source answers: before it is added, and when it has been through its source once."""

from __future__ import annotations

from dataclasses import dataclass

from rowen.core.run import StopReason
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

    @classmethod
    def stopped(cls, reason: StopReason, error: RowenError, *, root_answered: bool) -> Harvested:
        return cls(stop_reason=reason, error=error, root_answered=root_answered)
