"""Passages and their vectors, each stored once for all documents that use it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from rowen.core.section import Passage
from rowen.ports.embedder import Model
from rowen.records import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class PassageState:
    passage_id: int
    embedded: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class EmbeddingGap:
    passages: int
    missing: int
    missing_chars: int


class Passages(Protocol):
    async def passage_states(self, hashes: Sequence[bytes], model: Model) -> dict[bytes, PassageState]: ...

    async def save_passages(
        self, passages: Sequence[Passage], vectors: Mapping[bytes, bytes], model: Model
    ) -> None:
        """Passages and their vectors ahead of the documents that will use them."""
        ...

    async def save_vectors(self, vectors: Mapping[bytes, bytes], model: Model) -> None: ...

    async def embedding_gap(self, model: Model, source_id: int | None = None) -> EmbeddingGap:
        """How much of what readers see has no vector under this model."""
        ...

    async def unembedded(self, model: Model, *, limit: int) -> list[Passage]:
        """Visible passages that have no vector under this model."""
        ...
