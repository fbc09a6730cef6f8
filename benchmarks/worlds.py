"""Worlds of pages that change at random, and what a policy of asking achieves in them.

Time is counted in uniform intervals: in one, the budget asks for every page once. A page changes as a Poisson
process; between checks the simulation adds up how many changes are expected, so freshness is computed from
the true rates and not counted, and chance blurs only what a policy learns. Used by `freshness.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from heapq import nlargest
from random import Random

from rowen.core.freshness.evidence import Evidence
from rowen.core.freshness.gain import gain, p_fresh
from rowen.core.freshness.plan import SWEEPS, Page
from rowen.core.freshness.schedule import DAY_S, Sweep, choose
from rowen.core.freshness.source_rates import HALF_LIFE_S, learnt, seen_changed, seen_quiet
from rowen.engine.learning.turns import pages_of
from rowen.ports.store.learning.rates import CheckedPage

RUNS = 24
"""Runs in a uniform interval: each asks for that part of the pages."""
HITS = 3
"""Readers are shown so many hits in a uniform interval for each page of the site."""
INTERVAL_S = HALF_LIFE_S / 10.0
"""A uniform interval is nine days: the half-life of evidence is the product's, ten of them."""
BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass
class World:
    name: str
    rates: list[float]
    weights: list[float]
    folders: list[str]
    intervals: int
    later: list[float] | None = None
    """Rates from the middle on."""
    releases: dict[int, str] = field(default_factory=dict)
    """Before which run which folder has a release."""
    at_release: float = 0.0
    """With this probability a page of the folder changes at a release."""

    def rates_at(self, run: int) -> list[float]:
        return self.later if self.later is not None and run >= self.intervals * RUNS / 2 else self.rates

    def known_rates(self, run: int) -> list[float]:
        """The true rates, with releases spread evenly over the time: what the optimum knows."""
        jump = -math.log1p(-self.at_release) / self.intervals
        jumps = [jump * sum(folder == one for one in self.releases.values()) for folder in self.folders]
        return [rate + more for rate, more in zip(self.rates_at(run), jumps, strict=True)]


@dataclass
class Result:
    fresh: list[float]
    """By uniform interval: the share of hits that were current."""
    predicted: list[float]
    """What the policy expected of it; the same as `fresh` for one that does not learn."""
    longest: float
    """The longest that any page waited after the first sweeps, in uniform intervals."""

    def at_last(self) -> tuple[float, float]:
        """Achieved and expected in the last quarter of the time."""
        begin = len(self.fresh) * 3 // 4
        number = len(self.fresh) - begin
        return sum(self.fresh[begin:]) / number, sum(self.predicted[begin:]) / number


class Policy:
    """Chooses the pages of a run; `ages` are the times since each was checked."""

    def choose(self, run: int, ages: Sequence[float], requests: int) -> list[int]:
        raise NotImplementedError

    def learn(self, run: int, page: int, age: float, changed: bool) -> None: ...

    def shown(self, page: int) -> None: ...

    def expect(self, ages: Sequence[float]) -> float | None:
        """The share of hits it expects to be current."""
        return None


class Uniform(Policy):
    def choose(self, run: int, ages: Sequence[float], requests: int) -> list[int]:
        return nlargest(requests, range(len(ages)), key=ages.__getitem__)


class Optimum(Policy):
    """Knows the true rates and weights, and need not come back to a page that it gains nothing from."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.rates: list[float] = []

    def choose(self, run: int, ages: Sequence[float], requests: int) -> list[int]:
        if run == 0 or run == self.world.intervals * RUNS // 2:
            self.rates = self.world.known_rates(run)
        gains = list(map(gain, self.rates, ages, self.world.weights))
        return nlargest(requests, range(len(ages)), key=lambda page: (gains[page], ages[page]))


class Schedule(Policy):
    """Rowen's schedule: what the engine calls in a run with a budget, on what a harvester sees."""

    def __init__(self, world: World) -> None:
        self.names = [f"https://site/{folder}/{page}" for page, folder in enumerate(world.folders)]
        self.places = {name: page for page, name in enumerate(self.names)}
        number = len(self.names)
        self.a_day = number / INTERVAL_S * DAY_S
        self.before: list[Evidence | None] = [None] * number
        # The first harvest was a run earlier: its look is none of the two sweeps.
        harvested = BEGINNING - timedelta(seconds=INTERVAL_S / RUNS)
        self.fetched = [harvested] * number
        self.verified = [harvested] * number
        self.hits: dict[str, float] = {}
        self.sweep = Sweep(0, BEGINNING)
        self.pages: list[Page] = []
        self.now = BEGINNING

    def choose(self, run: int, ages: Sequence[float], requests: int) -> list[int]:
        self.now = BEGINNING + timedelta(seconds=run * INTERVAL_S / RUNS)
        swept = self.sweep.after(min(self.verified), self.now)
        # Estimates move slowly: made anew twice in an interval, and when a sweep is over.
        if run % (RUNS // 2) == 0 or swept != self.sweep:
            self.sweep = swept
            self.pages = self._estimated()
        pages = [
            replace(page, age_s=age * INTERVAL_S, checks=0 if self._is_awaited(at) else SWEEPS)
            for at, (page, age) in enumerate(zip(self.pages, ages, strict=True))
        ]
        # As long after the run before as this many pages take; the half keeps it clear of rounding.
        chosen = choose(pages, self.a_day, elapsed_s=(requests + 0.5) / self.a_day * DAY_S)
        return [self.places[page.reference] for page in chosen or pages]

    def _is_awaited(self, page: int) -> bool:
        return self.sweep.done < SWEEPS and self.verified[page] < self.sweep.since

    def _estimated(self) -> list[Page]:
        known = [
            CheckedPage(name, seen_quiet(before, fetched, verified), verified)
            for name, before, fetched, verified in zip(
                self.names, self.before, self.fetched, self.verified, strict=True
            )
        ]
        sample = [(one.reference, one.evidence) for one in known]
        rates = (
            learnt(sample)
            if any(evidence.unchanged_s or evidence.changes for _, evidence in sample)
            else None
        )
        return pages_of(rates, known, self.now, self.sweep, self.hits)

    def learn(self, run: int, page: int, age: float, changed: bool) -> None:
        if changed:
            self.before[page] = seen_changed(
                self.before[page], self.fetched[page], self.verified[page], self.now
            )
            self.fetched[page] = self.now
        self.verified[page] = self.now

    def shown(self, page: int) -> None:
        name = self.names[page]
        self.hits[name] = self.hits.get(name, 0.0) + 1.0

    def expect(self, ages: Sequence[float]) -> float | None:
        if self.sweep.done < SWEEPS:
            return None
        aged = [replace(page, age_s=age * INTERVAL_S) for page, age in zip(self.pages, ages, strict=True)]
        total = sum(page.weight for page in aged)
        return sum(page.weight * p_fresh(page.rate, page.age_s) for page in aged) / total if total else 1.0


def simulate(world: World, policy: Policy, random: Random) -> Result:
    """Runs through the world, each with its share of the budget."""
    number = len(world.rates)
    ages, expected = [0.0] * number, [0.0] * number
    result = Result([], [], 0.0)
    total = sum(world.weights)
    jump = -math.log1p(-world.at_release)
    fresh = predicted = 0.0
    for run in range(world.intervals * RUNS):
        if released := world.releases.get(run):
            expected = [
                one + jump * (folder == released) for one, folder in zip(expected, world.folders, strict=True)
            ]
        requests = (run + 1) * number // RUNS - run * number // RUNS
        for page in policy.choose(run, ages, requests):
            changed = random.random() < -math.expm1(-expected[page])
            policy.learn(run, page, ages[page], changed)
            ages[page] = expected[page] = 0.0
        for page in random.choices(range(number), world.weights, k=HITS * number // RUNS):
            policy.shown(page)
        # Readers search all the time: measured in the middle between two runs.
        half = [rate / RUNS / 2 for rate in world.rates_at(run)]
        ages = [age + 0.5 / RUNS for age in ages]
        expected = [one + more for one, more in zip(expected, half, strict=True)]
        now = sum(w * math.exp(-one) for w, one in zip(world.weights, expected, strict=True)) / total
        guess = policy.expect(ages)
        fresh, predicted = fresh + now, predicted + (now if guess is None else guess)
        ages = [age + 0.5 / RUNS for age in ages]
        expected = [one + more for one, more in zip(expected, half, strict=True)]
        if run >= (SWEEPS + 1) * RUNS:
            result.longest = max(result.longest, max(ages))
        if run % RUNS == RUNS - 1:
            result.fresh.append(fresh / RUNS)
            result.predicted.append(predicted / RUNS)
            fresh = predicted = 0.0
    return result


def worlds(pages: int, intervals: int, seed: int) -> list[World]:
    makers: list[Callable[[int, int, Random], World]] = [
        documentation,
        zipf,
        lognormal,
        same,
        releases,
        turned,
    ]
    return [make(pages, intervals, Random(f"{make.__name__} {seed}")) for make in makers]


def _zipf(pages: int, random: Random, power: float = 1.0) -> list[float]:
    ranks = list(range(1, pages + 1))
    random.shuffle(ranks)
    return [1.0 / rank**power for rank in ranks]


def documentation(pages: int, intervals: int, random: Random) -> World:
    """Folders of a documentation site: reference, guides, news, and indexes that change all the time."""
    kinds = {"reference": (0.6, 0.05), "guide": (0.25, 0.4), "news": (0.1, 1.5), "index": (0.05, 6.0)}
    folders = random.choices(list(kinds), [share for share, _ in kinds.values()], k=pages)
    rates = [kinds[folder][1] * random.lognormvariate(0.0, 0.6) for folder in folders]
    return World("documentation mix", rates, _zipf(pages, random, 0.8), folders, intervals)


def zipf(pages: int, intervals: int, random: Random) -> World:
    """Readers see few pages often; how fast a page changes has nothing to do with it."""
    rates = [0.5 * random.lognormvariate(0.0, 0.5) for _ in range(pages)]
    return World("Zipf weights", rates, _zipf(pages, random), [""] * pages, intervals)


def lognormal(pages: int, intervals: int, random: Random) -> World:
    """One page in twenty changes fifty times as fast as another one in twenty; no folder gives them away."""
    rates = [0.4 * random.lognormvariate(0.0, 1.2) for _ in range(pages)]
    return World("lognormal rates", rates, [1.0] * pages, [""] * pages, intervals)


def same(pages: int, intervals: int, random: Random) -> World:
    """All pages alike: nothing is better than uniform here."""
    return World("all alike", [0.7] * pages, [1.0] * pages, [""] * pages, intervals)


def releases(pages: int, intervals: int, random: Random) -> World:
    """Half of what happens to a page happens at a release of its part, in which a third of it changes."""
    folders = [random.choice(("core", "api", "tools", "blog")) for _ in range(pages)]
    rates = [0.15 * random.lognormvariate(0.0, 1.0) for _ in folders]
    moments = {
        random.randrange(intervals * RUNS): random.choice(("core", "api")) for _ in range(intervals // 2)
    }
    return World(
        "bursts at releases", rates, _zipf(pages, random, 0.6), folders, intervals, None, moments, 0.35
    )


def turned(pages: int, intervals: int, random: Random) -> World:
    """What was quiet becomes busy halfway, and the other way round."""
    rates = [0.4 * random.lognormvariate(0.0, 1.0) for _ in range(pages)]
    later = random.sample(rates, pages)
    return World("rates change halfway", rates, _zipf(pages, random, 0.6), [""] * pages, intervals, later)
