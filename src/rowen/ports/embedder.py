"""Text in, vectors out, under one model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Protocol, runtime_checkable

from rowen.core.safety.secrets import Secret
from rowen.records import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Model:
    """Vectors of two models never meet: the digest of the weights is part of the identity."""

    name: str
    digest: str
    dimensions: int
    alpha: float
    """Weight of the vector list when it is fused with keywords; weak models get less."""
    related_from: float | None = field(default=None, compare=False)
    """The cosine at which two texts begin to be about one thing; None where that was not measured."""


@runtime_checkable
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


def waits(embedder: Embedder) -> bool:
    """Does it need an event loop for a question? One that works in this process says `waits = False`."""
    return bool(getattr(embedder, "waits", True))


@dataclass(frozen=True, kw_only=True, slots=True)
class EmbedderSettings:
    """What an operator chose for an embedder. Empty text and zero stand for the provider's usual value."""

    provider: str
    model: str = ""
    base_url: str = ""
    """The operator's choice, so it may be private. No redirect ever leads away from it."""
    dimensions: int = 0
    api_key: Secret | None = None
    timeout_s: float = 30.0
    options: Mapping[str, Any] = field(default_factory=dict)
    """Settings that only this provider has."""

    def as_spec(self) -> dict[str, Any]:
        """What it takes to make the same embedder again, without the key: `Embedder.spec` of a plug-in."""
        return {
            "provider": self.provider,
            "model": self.model,
            "base_url": self.base_url,
            "dimensions": self.dimensions,
            "options": dict(self.options),
        }
