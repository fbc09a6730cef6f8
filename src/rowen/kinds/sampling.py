"""A few items of a source, read to estimate what all of them would cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from rowen.core.split import passages, split
from rowen.engine.kind import SampledItem

ITEMS = 12
"""So many items are read for a sample, at most."""

T = TypeVar("T")


def evenly(all_of_them: Sequence[T], number: int) -> list[T]:
    """So many of them, spread over the whole: neighbours are alike, and a site begins with its long pages."""
    if len(all_of_them) <= number:
        return list(all_of_them)
    return [all_of_them[index * len(all_of_them) // number] for index in range(number)]


def item(text: str, *, body_bytes: int) -> SampledItem:
    made = passages(split(text)).values()
    return SampledItem(
        body_bytes=body_bytes, passages=len(made), chars=sum(len(passage.text) for passage in made)
    )
