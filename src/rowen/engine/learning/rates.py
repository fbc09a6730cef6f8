"""Learning how fast the pages of a source change: at the end of a run, once a day at most."""

from __future__ import annotations

import asyncio
from datetime import datetime

from rowen.core.freshness.source_rates import LEARN_EVERY_S, SAMPLE, SourceRates, learnt, watched_long_enough
from rowen.ports.store.learning.rates import Rates


async def learn_rates(store: Rates, source_id: int, *, now: datetime) -> SourceRates | None:
    """From a sample of the pages, as they were known before this run; None when there is nothing to learn."""
    before = await store.rates_learnt_at(source_id)
    if before is not None and 0.0 <= (now - before).total_seconds() < LEARN_EVERY_S:
        return None
    pages = await store.checked_pages(source_id, most=SAMPLE)
    if not watched_long_enough(pages):
        return None
    # In a thread: a service goes on answering meanwhile.
    return await asyncio.to_thread(learnt, pages)
