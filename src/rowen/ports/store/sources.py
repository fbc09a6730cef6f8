"""Which sources there are, with their settings and schedules."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Protocol

from rowen.core.source import NewSource, Source
from rowen.records import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceStats:
    documents: int
    sections: int
    contents_bytes: int


class Sources(Protocol):
    async def add_source(self, new: NewSource, *, now: datetime) -> Source:
        """Raises `Conflict` when the name and version, or the key, exist."""
        ...

    async def remove_source(self, source_id: int, *, now: datetime) -> None:
        """Forget a source and everything stored of it; the change feed tells of it."""
        ...

    async def removed_sources(self) -> list[str]:
        """The labels that sources had which were removed; one of them may be in use again."""
        ...

    async def source(self, source_id: int) -> Source | None:
        """One source, without reading the others. None when it was removed."""
        ...

    async def sources(self) -> list[Source]: ...

    async def document_counts(self) -> dict[int, int]:
        """How many documents readers see of each source, as its generation was counted when it was made."""
        ...

    async def stats(self, source_id: int) -> SourceStats: ...

    async def set_schedule(self, source_id: int, every_s: float | None) -> None: ...

    async def set_params(self, source_id: int, params: Mapping[str, Any]) -> None:
        """Other settings that fetch the same: key and history stay, and that it was broken is forgotten."""
        ...

    async def change_source(
        self,
        source_id: int,
        *,
        key: str,
        params: Mapping[str, Any],
        metadata: Mapping[str, Any],
        forget: bool,
    ) -> None:
        """Settings that are part of the key, in place: documents and history stay.

        With `forget` they fetch something else: how far the source was read, and remembered listings, belong
        to the old settings and are forgotten.
        """
        ...

    async def set_paused(
        self, source_id: int, paused: bool, *, by: str | None = None, now: datetime | None = None
    ) -> None:
        """Of a source that is paused already, since when and by whom stays.

        Resuming also forgets that the source was broken: a person has looked at it.
        """
        ...

    async def set_pinned(
        self, source_id: int, pinned: bool, *, by: str | None = None, now: datetime | None = None
    ) -> None:
        """Readers stay at what they see; of a source that is pinned already, since when and by whom stays."""
        ...
