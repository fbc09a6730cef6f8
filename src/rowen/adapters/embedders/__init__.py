"""Embedders by name.

Only what an operator may choose is here; the fake one of the tests is not.
"""

from __future__ import annotations

from rowen.adapters.embedders.spec import EmbedderSpec, key_variable, names, resolve, unknown_provider
from rowen.ports.embedder import Embedder

NAMES = names()

__all__ = ["NAMES", "EmbedderSpec", "key_variable", "make"]


def make(spec: EmbedderSpec | str) -> Embedder:
    """The embedder of that spec, or of that name alone. Cheap: models and connections come with the first text.

    Raises `ConfigError` for a provider that does not exist, a key that is missing and an address that is none.
    """
    if isinstance(spec, str):
        spec = EmbedderSpec(provider=spec)
    if spec.provider not in NAMES:
        raise unknown_provider(spec.provider)
    if spec.provider == "static":
        from rowen.adapters.embedders.static import StaticEmbedder

        return StaticEmbedder()
    resolved = resolve(spec)
    from rowen.adapters.embedders.remote import RemoteEmbedder

    return RemoteEmbedder(resolved)
