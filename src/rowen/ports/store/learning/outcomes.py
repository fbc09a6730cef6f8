"""What runs said of single references that readers do not see: for questions about an address."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from rowen.core.document import Outcome
from rowen.records import NamedTuple


class Said(NamedTuple):
    """A removal that readers saw, or a failure."""

    reference: str
    outcome: Outcome
    reason: str
    detail: str | None
    at: datetime
    """When the run began that says so."""


class Outcomes(Protocol):
    async def last_said(self, source_id: int, references: Sequence[str]) -> list[Said]:
        """The last removals and failures of these references, the newest first.

        What a run found gone counts when readers have seen the generation it made.
        """
        ...

    async def reference_of(self, document_id: int) -> tuple[int, str] | None:
        """The source and the reference of a document, also of one that readers do not see any more."""
        ...
