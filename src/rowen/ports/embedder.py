"""Text in, vectors out, under one model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, kw_only=True, slots=True)
class Model:
    """Vectors of two models never meet: the digest of the weights is part of the identity."""

    name: str
    digest: str
    dimensions: int
    alpha: float
    """Weight of the vector list when it is fused with keywords; weak models get less."""


class Embedder(Protocol):
    """One call of its provider per `embed`: no retries, no waiting, so that the breaker counts truly."""

    @property
    def model(self) -> Model: ...

    @property
    def batch_size(self) -> int:
        """The most texts of one call."""
        ...

    @property
    def spec(self) -> Mapping[str, Any]:
        """What it takes to make it again (provider, model, base_url, dimensions); never a secret."""
        ...

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        """One vector a text, as signed bytes of a unit vector times 127. Raises `EmbedderUnavailable`."""
        ...

    async def embed_query(self, text: str) -> bytes: ...

    async def close(self) -> None: ...
