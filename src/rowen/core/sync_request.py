"""A stored request to sync a source soon: by a web hook, an API call or a person.

There is at most one for a source; another request joins it. What arrives while a run is under way is left for
the next one.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from rowen.records import dataclass

MAX_ONLY = 1000
"""More references than this, and the whole source is asked."""


WEBHOOK, PUSH = "webhook", "push"
HOOKS = frozenset({WEBHOOK, PUSH})
"""The reasons of requests that came by a web hook."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SyncRequest:
    source_id: int
    number: int
    """Grows with each request that joins, so that a run removes only what it knew of."""
    only: tuple[str, ...] | None
    """These references; None for everything."""
    full: bool
    """Fetched anew, without validators."""
    reason: str
    requested_at: datetime

    @property
    def hooked(self) -> tuple[str, ...]:
        """What web hooks named; nothing when another caller has joined, whose names are not told apart."""
        return self.only or () if self.reason in HOOKS else ()


def joined(one: Sequence[str] | None, other: Sequence[str] | None) -> tuple[str, ...] | None:
    """What two requests ask for together."""
    if one is None or other is None:
        return None
    together = tuple(dict.fromkeys((*one, *other)))
    return together if len(together) <= MAX_ONLY else None


def joined_reason(before: str, reason: str) -> str:
    """The reason of two requests together: that of a web hook only when both came by one."""
    return before if reason in HOOKS and before not in HOOKS else reason
