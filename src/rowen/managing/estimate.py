"""Estimate what a sync would cost at the embedding provider, before it runs. Nothing is stored.

Counts are exact where the source can be counted cheaply (a folder, a portal that answers with its total);
lengths are estimated from what is stored of the source, before the first harvest from a sample of it, or from
a stated guess.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rowen.core import params as parameters
from rowen.core.rules.words import count
from rowen.core.source import Source
from rowen.core.text.tokens import CHARACTERS_PER_TOKEN
from rowen.engine import confine
from rowen.engine.kind import Kind, Sample
from rowen.engine.ports import Ports
from rowen.ports.embedder import Embedder
from rowen.records import dataclass

GUESSED_CHARS_PER_ITEM = 1200
"""Title and text of an item that was not fetched yet."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    items: int | None
    """What the source has; None when that can only be learnt by harvesting it."""
    stored: int
    """Documents readers see already."""
    new_items: int | None
    texts: int
    """Texts to embed: what is stored without vectors, and what is expected of new items."""
    tokens: int
    calls: int
    cost: float | None
    """None when no price is set."""
    model: str
    estimate: Estimate | None = None
    """What the numbers stand on before the first harvest, for kinds that can be sampled."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """What a first harvest would bring: the kind looks at a few items, which stand for the rest."""

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


async def cost_of(ports: Ports, source: Source, *, price_per_million_tokens: float) -> Cost:
    kind = ports.kinds.named(source.kind)
    settings = parameters.complete(kind.params, source.params)
    asking = confine.of_source(ports, source)
    embedder, price = ports.embedder(), price_per_million_tokens
    first = await estimate(asking, kind, source, settings)
    if first is not None:
        return Cost(
            items=first.items,
            stored=0,
            new_items=first.items,
            texts=first.passages,
            estimate=first,
            **embedding(embedder, first.passages, first.chars, price),
        )
    items = await kind.count(asking, source, settings) if kind.count else None
    stats = await ports.store.stats(source.id)
    gap = await ports.store.embedding_gap(embedder.model, source.id)
    new = None if items is None else max(0, items - stats.documents)
    texts_each = stats.sections / stats.documents if stats.documents else 1.0
    chars_each = stats.contents_bytes / stats.documents if stats.documents else GUESSED_CHARS_PER_ITEM
    texts = gap.missing + round((new or 0) * texts_each)
    chars = gap.missing_chars + (new or 0) * chars_each
    return Cost(
        items=items,
        stored=stats.documents,
        new_items=new,
        texts=texts,
        **embedding(embedder, texts, chars, price),
    )


def embedding(
    embedder: Embedder, texts: int, chars: float, price_per_million_tokens: float
) -> dict[str, Any]:
    """What it takes to embed so much: `tokens`, `calls`, `cost` and `model`."""
    tokens = round(chars / CHARACTERS_PER_TOKEN)
    return {
        "tokens": tokens,
        "calls": -(-texts // max(1, embedder.batch_size)),
        "cost": tokens / 1e6 * price_per_million_tokens if price_per_million_tokens else None,
        "model": embedder.model.name,
    }


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
