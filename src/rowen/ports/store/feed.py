"""What readers and sinks ask of the store: visible documents, the change feed, how far a sink has come."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from rowen.core.exchange.sink import Sink
from rowen.core.feed import Cursor, Document, FeedItem
from rowen.core.lease import Lease
from rowen.core.web.folders import Folder
from rowen.core.web.verified import Freshness


class Feed(Protocol):
    async def documents(
        self,
        source_id: int,
        *,
        references: Sequence[str] | None = None,
        after: str = "",
        limit: int = 1000,
        text: bool = False,
        shown: Mapping[int, int] | None = None,
    ) -> list[Document]:
        """What readers see, in the order of references; these references only, or a page after one.

        With `shown`, generations by source, it is what they saw when these were visible.
        """
        ...

    async def document(self, document_id: int, *, shown: Mapping[int, int] | None = None) -> Document | None:
        """One visible document with its text; with `shown`, one that was visible then."""
        ...

    async def freshness(self, source_id: int, *, now: datetime) -> Freshness:
        """How many documents were verified within a day, a week, or before."""
        ...

    async def same_text(self, document_id: int, *, limit: int = 20) -> list[Document]:
        """Other visible documents, of any source, that say exactly what this one says."""
        ...

    async def folders(self, source_id: int, under: str = "") -> list[Folder]:
        """What readers see of a source as a tree, one level of it: what lies right under a folder."""
        ...

    async def feed(
        self,
        after: Cursor,
        *,
        source_ids: Collection[int] | None = None,
        removed: Collection[str] = (),
        limit: int = 500,
    ) -> list[FeedItem]:
        """What was touched after a cursor, in the order in which readers saw it: of all sources, or of these.

        With `source_ids`, removals of sources are told for the labels in `removed`.
        """
        ...

    async def feed_end(self) -> Cursor:
        """The cursor after everything that was shown so far."""
        ...

    async def sinks(self) -> list[Sink]: ...

    async def save_sink(self, name: str, *, kind: str, settings: Mapping[str, Any], cursor: Cursor) -> None:
        """A new sink starts at `cursor`; one that is known keeps its place and takes the new settings."""
        ...

    async def remove_sink(self, name: str) -> None: ...

    async def move_sink(
        self,
        lease: Lease,
        name: str,
        *,
        cursor: Cursor | None,
        state: Mapping[str, Any] | None,
        error: str | None,
        now: datetime,
    ) -> None:
        """How an attempt to send went: None leaves the cursor or the state as it is. Raises `LeaseLost`."""
        ...
