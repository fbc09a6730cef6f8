"""Is a store complete, or is another one still being copied into it? Checked whenever a store is opened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rowen.errors import StoreUnusable

COPY = "copy"
"""The note of a store that was made by copying, or is being made."""


def check_complete(note: Mapping[str, Any] | None, name: str) -> None:
    """Raises `StoreUnusable`: half a store gives wrong answers, and what is written to it may be lost."""
    if note is not None and not note["complete"]:
        raise StoreUnusable(
            f"store `{name}`: the copy of `{note['name']}` into it is not complete",
            hint="run the same `rowen db copy` again: it goes on from there",
            store=name,
        )
