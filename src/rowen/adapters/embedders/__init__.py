"""Our own embedding providers by name. Plug-ins have others; the register knows both."""

from __future__ import annotations

from rowen.adapters.children.cores import cores
from rowen.adapters.embedders.providers import MINILM, PROVIDERS, STATIC
from rowen.adapters.embedders.spec import EmbedderSpec, key_variable, resolve, with_key
from rowen.errors import ConfigError
from rowen.ports.embedder import Embedder

NAMES = (STATIC, MINILM, *PROVIDERS)

__all__ = ["NAMES", "EmbedderSpec", "key_variable", "local_children", "make", "with_key"]


def local_children() -> int:
    """How many processes the local model may use in a harvest: half of the cores, none where there is one."""
    return cores() // 2


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

        return StaticEmbedder(children=local_children(), cache=spec.cache)
    if spec.provider == MINILM:
        from rowen.adapters.embedders.minilm import MiniLmEmbedder

        return MiniLmEmbedder()
    resolved = resolve(spec)
    from rowen.adapters.embedders.remote import RemoteEmbedder

    return RemoteEmbedder(resolved)
