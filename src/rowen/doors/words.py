"""Words for people, the same in every door: outcomes, changes, numbers, times. JSON keeps its own names."""

from __future__ import annotations

from datetime import datetime

from rowen.core.rules.words import ago as ago
from rowen.core.rules.words import ahead as ahead
from rowen.core.rules.words import count as count
from rowen.core.rules.words import minute
from rowen.core.rules.words import size as size

OUTCOMES = {
    "created": "new",
    "updated": "updated",
    "deleted": "removed",
    "unchanged": "unchanged",
    "metadata_updated": "with new metadata",
    "failed": "failed",
    "skipped": "without vectors",
}
CHANGES = {
    "added": ("+", "new"),
    "changed": ("~", "updated"),
    "removed": ("-", "removed"),
    "source_removed": ("-", "removed as a source"),
}
"""What became of a document between two generations: its sign and its word."""

OLD_VERSION = "an old version of this page; the source has a newer one"


def nothing(status: str) -> str:
    """What is said of a run that took in nothing: only one that ended well knows that nothing is new.

    What a run did whose process ended is counted only as far as its last heartbeat.
    """
    if status in ("lost", "interrupted"):
        return "not counted"
    if status in ("completed", "capped", "partial"):
        return "nothing new"
    return "nothing yet" if status == "running" else "nothing taken in"


def seconds(value: float) -> str:
    if value < 10:
        return f"{value:.1f} s"
    if value < 120:
        return f"{value:.0f} s"
    if value < 7200:
        return f"{value / 60:.0f} min"
    return f"{value / 3600:.1f} h"


def until(moment: datetime | None) -> str:
    """To be put behind something that waits."""
    return f" until {minute(moment)}" if moment else ""


def proof(verified_at: datetime | None, by: str | None, p_fresh: float | None, now: datetime) -> str:
    """`verified 2 h ago, not modified (304), 97 % likely current`; empty where nothing was verified."""
    if verified_at is None:
        return ""
    from rowen.core.web.verified import FETCHED, WORDS

    if by == FETCHED:
        return f"fetched {ago(verified_at, now)}{and_likely(p_fresh)}"
    how = f", {WORDS[by]}" if by in WORDS else ""
    return f"verified {ago(verified_at, now)}{how}{and_likely(p_fresh)}"


def and_likely(p_fresh: float | None) -> str:
    """To be put behind when a hit was verified; empty where it cannot be told: most hits would repeat it."""
    if p_fresh is None:
        return ""
    from rowen.core.freshness.proof import likely

    return f", {likely(p_fresh)}"
