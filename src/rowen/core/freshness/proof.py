"""Proof of freshness: when and how a copy was last known to be right, and how likely it is current now.

The probability comes from the rate at which the page changes, which runs have learnt, and from the time since
the copy was verified. Where no rate was learnt there is none: a guess is not a proof. Pure.
"""

from __future__ import annotations

from datetime import datetime

from rowen.core.freshness.gain import p_fresh
from rowen.core.rules.clocks import is_ahead
from rowen.records import NamedTuple

NOT_KNOWN = "rate of change not known yet"


class Proof(NamedTuple):
    at: datetime
    """When the document was last known to be right."""
    by: str | None
    """How, as `core.web.verified` names the ways; None for a way that was not kept."""
    rate: float | None = None
    """Changes per second, as learnt; None before there was something to learn from."""

    def p_fresh(self, now: datetime) -> float | None:
        """The probability that the copy is current now; None when that cannot be told."""
        # A time in the future was written by a clock that was ahead: how long ago that was is not known.
        if self.rate is None or is_ahead(self.at, now):
            return None
        return p_fresh(self.rate, (now - self.at).total_seconds())


def likely(p: float | None) -> str:
    """The probability in words. It is rounded down: `99 % likely current` is never less."""
    if p is None:
        return NOT_KNOWN
    if p < 0.01:
        return "less than 1 % likely current"
    return f"{'more than 99' if p > 0.99 else int(p * 100)} % likely current"
