"""How a cost grows with size: the exponent of the power that fits what was measured, beside its bound."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

NOISE = 0.1
"""An exponent is fitted to a few times of a busy machine."""


@dataclass(frozen=True)
class Series:
    what: str
    unit: str
    cost_unit: str
    bound: float
    sizes: Sequence[int]
    costs: Sequence[float]

    @property
    def exponent(self) -> float:
        return fitted(self.sizes, self.costs)

    @property
    def good(self) -> bool:
        return self.exponent <= self.bound + NOISE

    def as_dict(self) -> dict[str, Any]:
        exponent = round(self.exponent, 3)
        return {**self.__dict__, "exponent": exponent, "costs": [round(cost, 5) for cost in self.costs]}

    def __str__(self) -> str:
        costs = "  ".join(
            f"{size:,} {self.unit} {cost:.3g} {self.cost_unit}"
            for size, cost in zip(self.sizes, self.costs, strict=True)
        )
        verdict = "" if self.good else "   ABOVE IT"
        return f"{self.what:<44}{costs}   exponent {self.exponent:.2f}, at most {self.bound:g}{verdict}"


def fitted(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """The slope of the straight line through the logarithms, by least squares."""
    points = [(math.log(size), math.log(cost)) for size, cost in zip(sizes, costs, strict=True)]
    x, y = (sum(values) / len(points) for values in zip(*points, strict=True))
    spread = sum((one - x) ** 2 for one, _ in points)
    return sum((one - x) * (other - y) for one, other in points) / spread
