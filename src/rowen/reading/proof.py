"""How likely what readers are shown is current at this moment: for hits and for documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from rowen.core.feed import Document, FeedItem
from rowen.core.freshness.proof import Proof
from rowen.core.search.hit import Answer, Hit
from rowen.ports.store.search import Search


def proven_hits(answer: Answer, now: datetime) -> Answer:
    """The search has brought what is known of each hit; only the time was missing."""
    return replace(answer, hits=tuple(_proven_hit(hit, now) for hit in answer.hits))


def _proven_hit(hit: Hit, now: datetime) -> Hit:
    if hit.verified_at is None or hit.change_rate is None:
        return hit
    return replace(hit, p_fresh=Proof(hit.verified_at, hit.verified_by, hit.change_rate).p_fresh(now))


async def proven(store: Search, documents: Sequence[Document], now: datetime) -> list[Document]:
    """These visible documents, with one question to the store for all of them."""
    proofs = await store.proofs([one.id for one in documents])
    return [
        replace(one, p_fresh=proofs[one.id].p_fresh(now)) if one.id in proofs else one for one in documents
    ]


async def proven_items(store: Search, items: Sequence[FeedItem], now: datetime) -> list[FeedItem]:
    """The same for the documents of a change feed."""
    found = await proven(store, [item.document for item in items if item.document is not None], now)
    documents = iter(found)
    return [replace(item, document=next(documents)) if item.document is not None else item for item in items]
