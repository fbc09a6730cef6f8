"""The change feed: what readers saw change, in the order in which it was shown to them.

Every activation (a run, an approval, a rollback) has a number; each carries the references it touched. A
cursor is a place in that order. Reading from a cursor gives every touched reference at least once, with what
is visible of it now: state, not history, so that reading late, or twice, does no harm.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rowen.errors import UserError


@dataclass(frozen=True, order=True, slots=True)
class Cursor:
    activation: int = 0
    item: int = 0

    def __str__(self) -> str:
        return f"{self.activation}.{self.item}"

    @classmethod
    def parse(cls, text: str) -> Cursor:
        activation, dot, item = text.partition(".")
        # `isdigit` also accepts the digits of other scripts; a database takes 18 digits.
        if dot and all(p.isascii() and p.isdigit() and len(p) <= 18 for p in (activation, item)):
            return cls(int(activation), int(item))
        raise UserError(f"cursor `{text}`: not one that was given out", hint="leave it away to start over")


START = Cursor()
LAST_ITEM = 10**17
"""Beyond every item: in the cursor of an activation that was read to its end."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """A visible version of a reference."""

    id: int
    source_id: int
    source: str
    """The label: name and version."""
    kind: str
    reference: str
    url: str
    title: str
    metadata: Mapping[str, Any]
    content_type: str
    content_hash: bytes
    generation: int
    """The one readers see."""
    born: int
    """The generation this version came with."""
    fetched_at: datetime
    text: str | None = None
    """Only when it was asked for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedItem:
    cursor: Cursor
    source_id: int
    source: str
    kind: str
    """Of the source."""
    generation: int
    """The one whose activation touched it."""
    reference: str
    change: str
    """`added`, `changed` or `removed`, as readers see it now."""
    at: datetime
    document: Document | None
    """None when readers do not see it any more."""
