"""What a first harvest would bring, reckoned from a sample of the source.

Before the first harvest nothing is stored that a plan could reckon with. The kind looks at a few items, and
what they hold stands for the rest. Nothing is stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rowen.core.rules.words import count
from rowen.core.source import Source
from rowen.engine.kind import Kind, Sample
from rowen.engine.ports import Ports
from rowen.records import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    items: int
    exact: bool
    """The items were counted; what they hold is reckoned in any case."""
    bytes: int
    """Of their bodies, as they come over the wire."""
    passages: int
    chars: int
    sampled: int
    """Items that were read for it."""
    tried: int
    """Items that were asked for; those that were not read are no documents, or could not be had."""
    requests: int
    says: str
    """What the estimate stands on, in words."""


async def estimate(ports: Ports, kind: Kind, source: Source, settings: Mapping[str, Any]) -> Estimate | None:
    """None for a kind that cannot be sampled, and for a source that was harvested before."""
    if kind.sample is None or source.active_generation:
        return None
    return reckoned(await kind.sample(ports, source, settings))


def reckoned(sample: Sample) -> Estimate:
    read = sample.read
    share = len(read) / sample.tried if sample.tried else 1.0
    items = sample.items if sample.exact else round(sample.items * share)
    sampled_bytes = sum(one.body_bytes for one in read)
    if sample.total_bytes is not None:
        # Lengths differ much; how much text there is in a byte differs little.
        factor = sample.total_bytes / sampled_bytes * share if sampled_bytes else 0.0
    else:
        factor = items / len(read) if read else 0.0
    return Estimate(
        items=items,
        exact=sample.exact,
        bytes=round(sampled_bytes * factor) if sample.total_bytes is None else sample.total_bytes,
        passages=round(sum(one.passages for one in read) * factor),
        chars=round(sum(one.chars for one in read) * factor),
        sampled=len(read),
        tried=sample.tried,
        requests=sample.requests,
        says=_says(sample),
    )


def _says(sample: Sample) -> str:
    read, tried = len(sample.read), sample.tried
    some = f"{read} of {tried} that were tried" if read < tried else f"{read} of them"
    asked = f", {count(sample.requests, 'request')}" if sample.requests else ""
    return f"{sample.whence}; lengths from {some}{asked}"
