"""What asking for a page is worth, and how fresh a copy is.

A page that changes at rate λ and was checked t ago is current with probability e^(−λt). Kept by a check every
t, its copy is current for the share (1 − e^(−λt))/(λt) of the time. Asking at t instead of a little later
gains w·(1/λ − (t + 1/λ)·e^(−λt)): the rule "ask where this is largest" spends any budget at its best, because
at the optimum it is the same for every page that is asked at all. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

TINY, NARROW = 1e-4, 1e-5


def p_fresh(rate: float, age_s: float) -> float:
    """The probability that a page is as it was when it was last checked, that long ago."""
    return math.exp(-rate * max(age_s, 0.0))


def gain(rate: float, age_s: float, weight: float = 1.0) -> float:
    """What asking now is worth: it grows with the age, up to weight/rate for a page that surely changed."""
    z = rate * max(age_s, 0.0)
    if z < TINY:
        # 1 − (1 + z)·e^(−z) loses its digits when z is small.
        return weight * age_s * (z / 2.0 - z * z / 3.0) if age_s > 0.0 else 0.0
    return weight * -(math.expm1(-z) + z * math.exp(-z)) / rate


def share_fresh(rate: float, interval_s: float) -> float:
    """The share of time in which the copy of a page is current that is checked at this interval."""
    z = rate * interval_s
    return 1.0 - z / 2.0 if z < TINY else -math.expm1(-z) / z


def interval_for(rate: float, weight: float, level: float, longest_s: float) -> float:
    """After how long a page is worth `level`; at most `longest_s`."""
    if gain(rate, longest_s, weight) <= level:
        return longest_s
    low, high = 0.0, longest_s
    for _ in range(60):
        middle = (low + high) / 2.0
        if gain(rate, middle, weight) < level:
            low = middle
        else:
            high = middle
        if high - low < 1e-6 * high:
            break
    return high


def spent_at(level: float, pages: Sequence[tuple[float, float]], longest_s: float) -> tuple[float, float]:
    """The requests per second, and the weighted share of fresh hits, when pages are asked once worth `level`.

    Pages are pairs of rate and weight.
    """
    requests = fresh = total = 0.0
    for rate, weight in pages:
        interval = interval_for(rate, weight, level, longest_s)
        requests += 1.0 / interval
        fresh += weight * share_fresh(rate, interval)
        total += weight
    return requests, fresh / total if total else 1.0


def level_of_freshness(pages: Sequence[tuple[float, float]], share: float, longest_s: float) -> float:
    """At which level, the highest there is, this share of the hits is fresh."""
    high = max((gain(rate, longest_s, weight) for rate, weight in pages), default=0.0)
    low = high * 1e-9
    if not high or spent_at(high, pages, longest_s)[1] >= share:
        return high
    if spent_at(low, pages, longest_s)[1] < share:
        return low
    while high > low * (1.0 + NARROW):
        middle = math.sqrt(low * high)
        if spent_at(middle, pages, longest_s)[1] >= share:
            low = middle
        else:
            high = middle
    return low
