"""What a rescue saved of a damaged store and what it lost, by table and by source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from rowen.records import dataclass


@dataclass(slots=True)
class TableRescue:
    saved: int = 0
    lost: int = 0
    """Rows that are known to have been there: an index names them, or something of them could be read."""
    pages: int = 0
    """Unreadable pages. Where no index names their rows, more rows may be lost than are counted."""
    rebuilt: int = 0
    """Rows that were made again from others."""

    @property
    def whole(self) -> bool:
        return not (self.lost or self.pages)


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceRescue:
    source: str
    documents: int
    """Visible ones that were saved."""
    lost: int
    """Visible ones that were not."""
    asked_again: bool
    """Its next sync asks for everything it may lack, not only for what the source says has changed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rescued:
    tables: Mapping[str, TableRescue]
    sources: Sequence[SourceRescue]
    lost_sources: Sequence[str] = field(default_factory=tuple)
    """Sources of which only the name could be read."""

    @property
    def lost(self) -> int:
        return sum(one.lost for one in self.tables.values())

    @property
    def whole(self) -> bool:
        return all(one.whole for one in self.tables.values())
