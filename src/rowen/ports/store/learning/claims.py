"""What the signals of a source claimed, and how far that was true: one row for each signal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from rowen.core.freshness.claims import Record, Signal
from rowen.core.lease import Lease


class Claims(Protocol):
    async def claims(self, source_id: int) -> dict[Signal, Record]:
        """Signals that were never checked have none."""
        ...

    async def claims_of(self, source_ids: Sequence[int]) -> dict[int, dict[Signal, Record]]:
        """The same for many sources, by source; one without records has an empty one."""
        ...

    async def save_claims(self, lease: Lease, source_id: int, records: Mapping[Signal, Record]) -> None:
        """In place of those before; a signal that is not named keeps its record."""
        ...
