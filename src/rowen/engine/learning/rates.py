"""Learning how fast the pages of a source change: at the end of a run, once a day at most."""

from __future__ import annotations

import asyncio
from datetime import datetime

from rowen.core.freshness.source_rates import (
    LEARN_EVERY_S,
    SAMPLE,
    WATCHED_S,
    SourceRates,
    learnt,
    watched_long_enough,
)
from rowen.core.source import Source
from rowen.ports.store.learning.rates import Rates


async def learn_rates(store: Rates, source: Source, *, now: datetime) -> SourceRates | None:
    """From a sample of the pages, as they were known before this run; None when there is nothing to learn."""
    if 0.0 <= (now - source.created_at).total_seconds() < WATCHED_S:
        # No page of it was watched for longer than it is here: none need be read to know that.
        return None
    before = await store.rates_learnt_at(source.id)
    if before is not None and 0.0 <= (now - before).total_seconds() < LEARN_EVERY_S:
        return None
    pages = await store.checked_pages(source.id, most=SAMPLE)
    if not watched_long_enough(pages):
        return None
    # In a thread: a service goes on answering meanwhile.
    return await asyncio.to_thread(learnt, pages)
