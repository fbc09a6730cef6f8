"""Whose turn it is in a run with a budget, and when a source is worth its next run."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from rowen.core.freshness.claims import Signal, Standing
from rowen.core.freshness.plan import SWEEPS, Page
from rowen.core.freshness.schedule import Sweep, choose, interval, pages_a_day
from rowen.core.freshness.source_rates import SAMPLE, SourceRates
from rowen.core.freshness.weights import weights
from rowen.core.source import SWEEP, UNFINISHED, Source
from rowen.ports.store.learning.rates import CheckedPage
from rowen.records import NamedTuple

if TYPE_CHECKING:
    from rowen.ports.store.store import Store

UNKNOWN_RATE = 1e-6
"""Of pages of a source that has learnt nothing yet: then only their age differs."""


class Turn(NamedTuple):
    """The pages that a run asks for, of those readers see."""

    asked: tuple[str, ...]
    of: int
    sweep: Sweep


async def turn_of(store: Store, source: Source, settings: Mapping[str, Any], *, now: datetime) -> Turn | None:
    """Which pages a run that begins now asks for; None for a run that asks for everything.

    After an edit, a rollback or a run that was cut off everything is asked for: a budget comes after that. So
    it is where the sitemap says truly what changed, since that costs few requests anyway.
    """
    budget, share = settings.get("budget"), settings.get("freshness")
    before = source.whole_run_at
    if (budget is None and share is None) or before is None or not source.active_generation:
        return None
    rolled_back = source.active_generation < source.last_generation
    if source.edited or rolled_back or source.metadata.get(UNFINISHED) or source.held_generation is not None:
        return None
    lastmod = (await store.claims(source.id)).get(Signal.LASTMOD)
    if lastmod is not None and lastmod.standing is Standing.TRUSTED:
        return None
    rates, known = await store.pages_to_schedule(source.id)
    if not known:
        return None
    elapsed_s = (now - before).total_seconds()
    shown = await store.shown(source.id)

    def decided() -> Turn | None:
        # What was learnt from runs that asked for everything stands for the first sweeps.
        started = Sweep(0 if rates is None else SWEEPS, now)
        sweep = (Sweep.of(source.metadata.get(SWEEP)) or started).after(
            min(one.verified_at for one in known), now
        )
        pages = pages_of(rates, known, now, sweep, shown)
        asked = choose(pages, pages_a_day(pages, budget=budget, share=share), elapsed_s=elapsed_s)
        return None if asked is None else Turn(tuple(page.reference for page in asked), len(known), sweep)

    # In a thread: a service goes on answering meanwhile.
    return await asyncio.to_thread(decided)


async def interval_of(
    store: Store,
    source: Source,
    settings: Mapping[str, Any],
    *,
    now: datetime,
    rates: SourceRates | None = None,
) -> float | None:
    """After how many whole minutes a source is worth its next run, in seconds; None while nothing was learnt.

    `rates` are those that were just learnt, if any were.
    """
    before, known = await store.pages_to_schedule(source.id)
    learnt = rates or before
    if learnt is None or not known:
        return None
    step = -(-len(known) // SAMPLE)
    shown = await store.shown(source.id)

    def decided() -> float:
        pages = pages_of(learnt, known[::step], now, Sweep(SWEEPS, now), shown)
        budget, share = settings.get("budget"), settings.get("freshness")
        # A sample has its share of the budget.
        return interval(pages, budget=None if budget is None else budget / step, share=share)

    return round(await asyncio.to_thread(decided) / 60.0) * 60.0


def pages_of(
    rates: SourceRates | None,
    known: Sequence[CheckedPage],
    now: datetime,
    sweep: Sweep,
    shown: Mapping[str, float],
) -> list[Page]:
    """The pages as the rules see them. In the first sweeps those not asked for yet come first.

    `shown` is how often readers were shown each, by reference.
    """
    counts = weights(shown, [one.reference for one in known])
    found = (
        [UNKNOWN_RATE] * len(known)
        if rates is None
        else rates.rates((one.reference, one.evidence) for one in known)
    )
    sweeping = sweep.done < SWEEPS
    return [
        Page(
            reference=one.reference,
            rate=rate,
            age_s=max((now - one.verified_at).total_seconds(), 0.0),
            weight=counts[one.reference],
            checks=0 if sweeping and one.verified_at < sweep.since else SWEEPS,
        )
        for one, rate in zip(known, found, strict=True)
    ]
