"""How much a page counts: how often readers were shown it, without taking chance for preference.

Counts are Poisson around what a page is worth, and those worths spread by a gamma distribution whose shape
the counts themselves tell. Where they differ no more than chance makes them differ, all pages count about the
same. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

EVEN = 1e6
"""The shape of worths that do not differ."""


def weights(shown: Mapping[str, float], references: Iterable[str]) -> dict[str, float]:
    """By reference, how often a page is expected to be shown, from how often each was; 1 where none was."""
    every = list(references)
    counts = [shown.get(reference, 0.0) for reference in every]
    if not any(counts):
        return dict.fromkeys(every, 1.0)
    mean = sum(counts) / len(counts)
    spread = sum((count - mean) ** 2 for count in counts) / len(counts)
    shape = min(mean**2 / (spread - mean), EVEN) if spread > mean else EVEN
    # The rarer a page is shown, the less its count says beside that of the others.
    return {
        reference: (shape + count) * mean / (shape + mean)
        for reference, count in zip(every, counts, strict=True)
    }
