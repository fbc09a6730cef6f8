"""Numbered states of a source: which is visible, what differs, and forgetting old ones."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from rowen.records import dataclass

if TYPE_CHECKING:
    from rowen.core.generation import Activation, Change, Generation, Replacement, Shown, Version


@dataclass(frozen=True, kw_only=True, slots=True)
class Vacuumed:
    documents: int = 0
    contents: int = 0
    passages: int = 0
    vectors: int = 0
    handoffs: int = 0
    references: int = 0
    """Addresses that nothing leads to any more."""
    bytes_before: int = 0
    bytes_after: int = 0


class Generations(Protocol):
    async def generations(self, source_id: int) -> list[Generation]: ...

    async def activations(self, source_id: int, *, limit: int = 100) -> list[Activation]:
        """When, why and by whom the generations that are kept were shown, the newest first."""
        ...

    async def activations_since(
        self, source_id: int, since: datetime, *, limit: int = 1000
    ) -> list[Activation]:
        """What was shown since a moment, oldest first, led by what was visible at that moment.

        With `Activation.documents` this is the line of how much readers saw; of more than `limit` the newest.
        """
        ...

    async def shown_at(self, at: datetime) -> list[Shown]:
        """What readers saw of each source at a moment, whether it is kept or not."""
        ...

    async def oldest_seen(self, source_id: int, since: datetime) -> int | None:
        """The oldest generation that readers saw at a moment or after it; None before the first."""
        ...

    async def removed_since(self, at: datetime) -> list[tuple[str, datetime]]:
        """Sources that were removed after a moment, by their labels, and when."""
        ...

    async def activate(
        self, source_id: int, generation: int, *, now: datetime, by: str | None = None, pin: bool = False
    ) -> None:
        """Move the pointer: rollback and approval. Takes no lease; the caller has checked for a run.

        `by` is who decided it. With `pin` the source stays there, as `Sources.set_pinned` says.
        """
        ...

    async def changes(self, source_id: int, from_generation: int, to_generation: int) -> list[Change]: ...

    async def versions(
        self, source_id: int, reference: str, *, text_at: tuple[int, int] = (-1, -1)
    ) -> list[Version]:
        """The versions of a reference that are kept, oldest first, a held one included.

        Those that are visible at one of the two generations `text_at` come with their texts.
        """
        ...

    async def replacements(self, source_id: int, generation: int) -> list[Replacement]:
        """What is born at a generation, held or yet to be shown, beside what it replaces."""
        ...

    async def vacuum(
        self, floors: Mapping[int, int], *, handoffs_before: datetime | None = None, everything: bool
    ) -> Vacuumed:
        """Forget what died at or before each source's floor, then what no document uses.

        Finished handoffs lose their texts with their generation, and go when they ended before
        `handoffs_before`; unfinished ones stay.
        `everything` also scans for contents no document ever used and gives the space back to the disk.
        """
        ...
