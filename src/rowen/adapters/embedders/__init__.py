"""Embedders by name.

Only what an operator may choose is here; the fake one of the tests is not.
"""

from __future__ import annotations

from difflib import get_close_matches

from rowen.errors import ConfigError
from rowen.ports.embedder import Embedder

NAMES = ("static",)


def make(name: str) -> Embedder:
    """The embedder of that name. Cheap: models are loaded when first used."""
    if name == "static":
        from rowen.adapters.embedders.static import StaticEmbedder

        return StaticEmbedder()
    close = get_close_matches(name, NAMES, n=1, cutoff=0.5)
    known = ", ".join(f"`{one}`" for one in NAMES)
    raise ConfigError(
        f"embedder `{name}` does not exist",
        hint=f"did you mean `{close[0]}`?" if close else f"choose one of {known}",
        name=name,
        known=NAMES,
    )
