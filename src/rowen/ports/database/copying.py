"""Moving a whole store: its rows out in pages, its rows in, each page one transaction.

Ids are kept, so cursors, handoffs and runs mean the same in the copy. What a database makes from the rows
(an index of words, embeddings) it makes while it takes them in, as it does when a run ingests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from rowen.core.exchange.store_copy import Key, Page, Part, Progress, Row
from rowen.core.lease import Lease


class View(Protocol):
    """The store as it was at the first question, without what was written since."""

    async def counts(self) -> Mapping[str, int]:
        """How many rows there are, by part; without those whose table was taken down."""
        ...

    async def issued(self) -> Mapping[str, int]:
        """The highest numbers ever given to rows, by table, where the database remembers them."""
        ...

    async def page(
        self, part: Part, *, after: Key | None, until: Key | None = None, max_rows: int, max_bytes: int
    ) -> Page:
        """The next rows in the order of their keys: not more than so many, and of about this size.

        The rows of one key are never torn apart.
        """
        ...


class Copying(Protocol):
    """Every write takes the lease and raises `LeaseLost` when its token is not the newest."""

    async def identity(self) -> str:
        """What tells this store from all others; made by the first call."""
        ...

    async def is_empty(self) -> bool:
        """Nothing that would be copied is in it."""
        ...

    def view(self) -> AbstractAsyncContextManager[View]: ...

    async def load(self, lease: Lease, part: Part, rows: Sequence[Row], progress: Progress) -> None:
        """These rows, and how far the copy has come with them, in one transaction."""
        ...

    async def clear(self, lease: Lease, progress: Progress) -> None:
        """Empty again, but for the note that says whose copy it will be."""
        ...

    async def prepare(self) -> None:
        """Build what makes a store that was filled at once as fast as one that has grown."""
        ...

    async def finish(self, lease: Lease, issued: Mapping[str, int], progress: Progress) -> None:
        """New rows get numbers beyond those that were ever given, here or there."""
        ...
