"""A search that another process of this machine answers, so that it does not wait for this one's work."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from rowen.core.search.hit import Answer, Filters, SearchMode


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchCall:
    query: str
    filters: Filters
    mode: SearchMode
    limit: int
    prefix: bool


SearchElsewhere = Callable[[SearchCall], Awaitable[Answer | None]]
"""None: it could not be answered there, for whatever reason, and this process answers."""
