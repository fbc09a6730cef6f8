"""Embedders by name.

Only what an operator may choose is here; the fake one of the tests is not.
"""

from __future__ import annotations

from rowen.adapters.embedders.providers import STATIC, names
from rowen.adapters.embedders.spec import EmbedderSpec, key_variable, resolve, with_key
from rowen.ports.embedder import Embedder

NAMES = names()

__all__ = ["NAMES", "EmbedderSpec", "key_variable", "make", "with_key"]


def make(spec: EmbedderSpec | str) -> Embedder:
    """The embedder of that spec, or of that name alone. Cheap: the first text loads models and connects.

    Raises `ConfigError` for a provider that does not exist, a missing key and an address that is none.
    """
    if isinstance(spec, str):
        spec = EmbedderSpec(provider=spec)
    if spec.provider == STATIC:
        from rowen.adapters.embedders.static import StaticEmbedder

        return StaticEmbedder()
    resolved = resolve(spec)
    from rowen.adapters.embedders.remote import RemoteEmbedder

    return RemoteEmbedder(resolved)
