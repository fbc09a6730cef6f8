"""Our own embedding providers by name. Plug-ins have others; the register knows both."""

from __future__ import annotations

from rowen.adapters.children.cores import half_of_the_cores
from rowen.adapters.embedders.providers import MINILM, PROVIDERS, STATIC
from rowen.adapters.embedders.spec import EmbedderSpec, key_variable, resolve, with_key
from rowen.errors import ConfigError
from rowen.ports.embedder import Embedder

NAMES = (STATIC, MINILM, *PROVIDERS)

__all__ = ["NAMES", "EmbedderSpec", "key_variable", "make", "with_key"]


def make(spec: EmbedderSpec) -> Embedder:
    """The embedder of one of our providers. Cheap: the first text loads models and connects.

    Raises `ConfigError` for a missing key and an address that is none.
    """
    if spec.options:
        raise ConfigError(
            f"setting `embedding.options`: provider `{spec.provider}` has no options",
            hint="leave it out; only plug-ins have options",
            provider=spec.provider,
        )
    if spec.provider == STATIC:
        from rowen.adapters.embedders.static import StaticEmbedder

        return StaticEmbedder(children=half_of_the_cores(), cache=spec.cache)
    if spec.provider == MINILM:
        from rowen.adapters.embedders.minilm import MiniLmEmbedder

        return MiniLmEmbedder()
    resolved = resolve(spec)
    from rowen.adapters.embedders.remote import RemoteEmbedder

    return RemoteEmbedder(resolved)
