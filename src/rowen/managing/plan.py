"""Estimate what a sync would cost at the embedding provider, before it runs.

Counts are exact where the source can be counted cheaply (a folder, a portal that answers with its total);
lengths are estimated from what is stored of the source, before the first harvest from a sample of it, or from
a stated guess.
"""

from __future__ import annotations

from rowen.core import params as parameters
from rowen.core.rules.tokens import CHARACTERS_PER_TOKEN
from rowen.core.source import Source
from rowen.engine import confine
from rowen.engine.ports import Ports
from rowen.managing.estimate import Estimate, estimate
from rowen.ports.embedder import Embedder
from rowen.records import dataclass

GUESSED_CHARS_PER_ITEM = 1200
"""Title and text of an item that was not fetched yet."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
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


async def plan(ports: Ports, source: Source, *, price_per_million_tokens: float) -> Plan:
    kind = ports.kinds.named(source.kind)
    settings = parameters.complete(kind.params, source.params)
    asking = confine.of_source(ports, source)
    embedder = ports.embedder()
    first = await estimate(asking, kind, source, settings)
    if first is not None:
        return _first(first, embedder, price_per_million_tokens)
    items = await kind.count(asking, source, settings) if kind.count else None
    stats = await ports.store.stats(source.id)
    gap = await ports.store.embedding_gap(embedder.model, source.id)
    new = None if items is None else max(0, items - stats.documents)
    texts_each = stats.sections / stats.documents if stats.documents else 1.0
    chars_each = stats.contents_bytes / stats.documents if stats.documents else GUESSED_CHARS_PER_ITEM
    texts = gap.missing + round((new or 0) * texts_each)
    tokens = round((gap.missing_chars + (new or 0) * chars_each) / CHARACTERS_PER_TOKEN)
    return Plan(
        items=items,
        stored=stats.documents,
        new_items=new,
        texts=texts,
        tokens=tokens,
        calls=-(-texts // max(1, embedder.batch_size)),
        cost=tokens / 1e6 * price_per_million_tokens if price_per_million_tokens else None,
        model=embedder.model.name,
    )


def _first(made: Estimate, embedder: Embedder, price_per_million_tokens: float) -> Plan:
    """Before the first harvest, when nothing is stored."""
    tokens = round(made.chars / CHARACTERS_PER_TOKEN)
    return Plan(
        items=made.items,
        stored=0,
        new_items=made.items,
        texts=made.passages,
        tokens=tokens,
        calls=-(-made.passages // max(1, embedder.batch_size)),
        cost=tokens / 1e6 * price_per_million_tokens if price_per_million_tokens else None,
        model=embedder.model.name,
        estimate=made,
    )
