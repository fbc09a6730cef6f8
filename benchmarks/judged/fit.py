"""Fit the weights of `core/search/likelihood.py`: which scores mean how likely a hit is the answer.

Two logistic fits, as the scores are made: first whether a question is on topic, from the nearest cosine and
the share of its words in the best hit; then whether a hit is right, from its rank score, whether what it
defines is what the question names, and whether it is the first. What the search hands to those functions is
recorded while judged questions are asked, so nothing of the search is rebuilt here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rowen.core.search import likelihood
from rowen.core.search.rank import Ranked
from rowen.core.search.symbols import Fit

from . import judging
from .judging import Outcome, area

Array = NDArray[np.float64]

STEPS = 50
RIDGE = 0.5
"""Keeps weights small where few questions speak for them."""
BINS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.01)


@dataclass
class Seen:
    """One question as the likelihood functions saw it."""

    named: bool = False
    covered: float = 0.0
    nearest: float | None = None
    hits: list[Ranked] = field(default_factory=list)
    outcome: Outcome | None = None

    @property
    def real(self) -> bool:
        assert self.outcome is not None
        return bool(self.outcome.question.answers)

    @property
    def right(self) -> list[bool]:
        assert self.outcome is not None
        return [page is not None for page in self.outcome.found]


class Recorder:
    def __init__(self) -> None:
        self.seen: list[Seen] = []

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Write down what the search hands over, and what came of the question."""
        on_topic, likelihoods, outcome = likelihood.on_topic, likelihood.likelihoods, judging.outcome

        def topic(best: Ranked, terms: Sequence[str], **near: Any) -> float:
            covered = likelihood.coverage(best.place, terms)
            self.seen.append(Seen(best.fit > Fit.MENTIONED, covered, near["nearest"]))
            return on_topic(best, terms, **near)

        def likely(ranked: Sequence[Ranked], topic: float) -> list[float]:
            if ranked:
                self.seen[-1].hits = list(ranked)
            return likelihoods(ranked, topic)

        def judged(question: Any, answer: Any) -> Outcome:
            said = outcome(question, answer)
            if answer.hits:
                self.seen[-1].outcome = said
            return said

        likelihood.on_topic, likelihood.likelihoods, judging.outcome = topic, likely, judged
        try:
            yield
        finally:
            likelihood.on_topic, likelihood.likelihoods, judging.outcome = on_topic, likelihoods, outcome


def logistic(value: Any) -> Any:
    return 1 / (1 + np.exp(-value))


def fitted(given: Array, came: Array) -> Array:
    """Weights by Newton's method; the first column of `given` is the constant."""
    weights = np.zeros(given.shape[1])
    for _ in range(STEPS):
        expected = logistic(given @ weights)
        slope = given.T @ (came - expected) - RIDGE * weights
        curve = (given * (expected * (1 - expected))[:, None]).T @ given + RIDGE * np.eye(len(weights))
        weights += np.linalg.solve(curve, slope)
    return weights


def report(recorder: Recorder) -> None:
    seen = [one for one in recorder.seen if one.outcome is not None]
    by_vector = [one for one in seen if one.nearest is not None]
    words = [one for one in seen if one.nearest is None]
    weights = _topic(by_vector, "by vector and words", nearest=True) if by_vector else None
    if words:
        _topic(words, "by words alone", nearest=False)
    if weights is not None:
        _right(by_vector, weights)


def _features(one: Seen, *, nearest: bool) -> list[float]:
    return [1.0, one.nearest or 0.0, one.covered] if nearest else [1.0, one.covered]


def _topic(seen: list[Seen], title: str, *, nearest: bool) -> Array:
    """Names are on topic by being defined: the fit is about the others."""
    others = [one for one in seen if not one.named]
    given = np.array([_features(one, nearest=nearest) for one in others])
    came = np.array([one.real for one in others], float)
    weights = fitted(given, came)
    expected = logistic(given @ weights)
    print(f"\non topic, {title}: {len(others)} questions, {int(came.sum())} of them real")
    if nearest:
        print(f"  vector {weights[1]:.2f} from {-weights[0] / weights[1]:.3f} on, words {weights[2]:.2f}")
    else:
        print(f"  constant {weights[0]:.2f}, words {weights[1]:.2f}")
    print(f"  area under the curve {area(expected[came == 1].tolist(), expected[came == 0].tolist()):.3f}")
    _calibration(expected, came)
    return weights


def _right(seen: list[Seen], topic: Array) -> None:
    rows: list[list[float]] = []
    came: list[bool] = []
    real: list[bool] = []
    on_topic: list[float] = []
    for one in seen:
        about = 1.0 if one.named else float(logistic(np.array(_features(one, nearest=True)) @ topic))
        for number, (hit, right) in enumerate(zip(one.hits, one.right, strict=True)):
            rows.append([1.0, hit.score, float(hit.fit > Fit.MENTIONED), float(number == 0)])
            came.append(right)
            real.append(one.real)
            on_topic.append(about)
    given, right_ones, of_real = np.array(rows), np.array(came, float), np.array(real)
    weights = fitted(given[of_real], right_ones[of_real])
    print(f"\na hit is right: {int(of_real.sum())} hits of real questions")
    print(
        f"  constant {weights[0]:.2f}, ranked {weights[1]:.2f}, "
        f"named {weights[2]:.2f}, first {weights[3]:.2f}"
    )
    print("\nthe score of a hit")
    _calibration(np.array(on_topic) * logistic(given @ weights), right_ones)


def _calibration(expected: Array, came: Array) -> None:
    print(f"  {'score':<12}{'number':>8}{'said':>8}{'true':>8}")
    for low, high in pairwise(BINS):
        inside = (expected >= low) & (expected < high)
        if inside.any():
            print(
                f"  {low:.2f}-{min(high, 1):.2f}   {int(inside.sum()):>8}"
                f"{expected[inside].mean():>8.3f}{came[inside].mean():>8.3f}"
            )
