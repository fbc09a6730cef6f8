"""The rate at which a page changes: maximum likelihood from its own checks, with a prior from its neighbours.

An interval of length t in which a page changed has the likelihood 1 − e^(−λt), one in which it did not
e^(−λt). Rates of pages of one site differ by factors, so the prior is normal in log λ; its mean and width are
learnt from the pages themselves (expectation and maximisation), first for all of a source, then for each
folder, then for each kind of page in it. A group of few pages leans on the one above it. Pure.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence

from rowen.core.freshness.evidence import Evidence
from rowen.records import dataclass

LEAN = 10.0
"""A group leans on the one above it as if that were so many pages."""
DOUBT = 2.0
"""That pages of a source differ by factors is expected as if so many pages had shown it."""
ROUNDS = 12
ENOUGH = 2e-3
"""At most so many rounds of fitting a prior, and none after one that moved it by less than this."""
NARROWEST, WIDEST = 0.05, 2.5
"""Bounds of a prior's width in log λ: pages that are all alike, and pages that differ by factors of 1000."""
STEPS, CLOSE = 40, 1e-5

Group = tuple[Hashable, ...]
"""The groups of a page, the widest first: its folder, its kind. The source is above all of them."""


@dataclass(frozen=True, slots=True)
class Prior:
    """What is expected of a page before it was checked: log λ is about `mean`, give or take `width`."""

    mean: float
    width: float


@dataclass(frozen=True, slots=True)
class Estimate:
    rate: float
    """Changes per second (or per the unit of the evidence)."""
    spread: float
    """The uncertainty of its logarithm."""


def estimate(evidence: Evidence, prior: Prior) -> Estimate:
    """The most likely rate of a page. The slope falls with log λ, so there is one; Newton's steps find it."""
    precision = 1.0 / prior.width**2
    interval = evidence.changed_s / evidence.changes if evidence.changes > 0.0 else 0.0
    low, high = -math.inf, math.inf
    x = prior.mean
    bend = precision
    for _ in range(STEPS):
        rate = math.exp(x)
        quiet = rate * evidence.unchanged_s
        news, news_bend = _changed(rate * interval)
        slope = evidence.changes * news - quiet - (x - prior.mean) * precision
        bend = evidence.changes * news_bend + quiet + precision
        if slope > 0.0:
            low = x
        else:
            high = x
        step = max(-2.0, min(2.0, slope / bend))
        following = x + step
        if not low <= following <= high:
            following = (low + high) / 2.0
        x = following
        if abs(step) < CLOSE:
            break
    return Estimate(math.exp(x), 1.0 / math.sqrt(bend))


def _changed(z: float) -> tuple[float, float]:
    """What an interval with a change says, if z are expected in it, and how that falls with log z."""
    if z < 1e-6:
        return 1.0 - z / 2.0, z / 2.0
    if z > 300.0:
        return 0.0, 0.0
    grown = math.expm1(z)
    return z / grown, z * (z * (grown + 1.0) - grown) / grown**2


def fit(pages: Iterable[tuple[Evidence, int]], above: Prior | None = None) -> Prior:
    """The prior of a group from its pages; each evidence stands for so many pages that share it."""
    known = [(evidence, count) for evidence, count in pages if evidence.changes + evidence.unchanged_s > 0.0]
    number = sum(count for _, count in known)
    if not number:
        return above or Prior(math.log(1e-6), 1.0)
    start = above or Prior(_pooled(known), 1.0)
    lean, doubt = (LEAN, LEAN) if above is not None else (0.0, DOUBT)
    mean, width = start.mean, start.width
    for _ in range(ROUNDS):
        prior = Prior(mean, width)
        found = [(estimate(evidence, prior), count) for evidence, count in known]
        logs = [(math.log(one.rate), one.spread, count) for one, count in found]
        mean = (lean * start.mean + sum(x * count for x, _, count in logs)) / (lean + number)
        square = sum(((x - mean) ** 2 + spread**2) * count for x, spread, count in logs)
        width = math.sqrt((doubt * start.width**2 + square) / (doubt + number))
        width = min(max(width, NARROWEST), WIDEST)
        if abs(mean - prior.mean) < ENOUGH and abs(width - prior.width) < ENOUGH:
            break
    return Prior(mean, width)


def _pooled(pages: Sequence[tuple[Evidence, int]]) -> float:
    """log λ if all pages had the same rate: half a change is added, so that a site without any has a rate."""
    changes = sum(evidence.changes * count for evidence, count in pages) + 0.5
    seconds = sum((evidence.unchanged_s + evidence.changed_s / 2.0) * count for evidence, count in pages)
    return math.log(changes / max(seconds, 1e-9))


def priors_of(pages: Iterable[tuple[Evidence, Group]]) -> dict[Group, Prior]:
    """What is expected of a page of each group that has pages; the empty group is the whole source."""
    counts = Counter((group, rounded(evidence, 2)) for evidence, group in pages)
    members: dict[Group, list[tuple[Evidence, int]]] = defaultdict(list)
    for (group, evidence), count in counts.items():
        for depth in range(len(group) + 1):
            members[group[:depth]].append((evidence, count))
    priors: dict[Group, Prior] = {(): fit(members.get((), ()))}
    for group in sorted(filter(None, members), key=len):
        priors[group] = fit(members[group], priors[group[:-1]])
    return priors


def rounded(evidence: Evidence, digits: int) -> Evidence:
    """About the same, so that many pages share it."""

    def about(number: float) -> float:
        return float(f"{number:.{digits - 1}e}")

    return Evidence(
        changes=about(evidence.changes),
        changed_s=about(evidence.changed_s),
        unchanged_s=about(evidence.unchanged_s),
    )
