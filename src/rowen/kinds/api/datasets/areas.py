"""Areas of datasets, as portals write them: four numbers, GeoJSON (also inside a text), WKT. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from rowen.kinds.api.datasets import dataset

_MAX_CHARS = 200_000
_MAX_DEPTH = 8
_NUMBER = r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
_FOUR = re.compile(rf"\s*({_NUMBER})[\s,]+({_NUMBER})[\s,]+({_NUMBER})[\s,]+({_NUMBER})\s*")
_ENVELOPE = re.compile(
    rf"\s*ENVELOPE\s*\(\s*({_NUMBER})\s*,\s*({_NUMBER})\s*,\s*({_NUMBER})\s*,\s*({_NUMBER})\s*\)",
    re.IGNORECASE,
)
_WKT = re.compile(r"\s*(?:<[^<>]*>\s*)?(?:MULTI)?(?:POINT|LINESTRING|POLYGON)\s*Z?\s*\(", re.IGNORECASE)
_PAIR = re.compile(rf"({_NUMBER})\s+({_NUMBER})(?:\s+{_NUMBER})?")


class Area(NamedTuple):
    west: float
    south: float
    east: float
    north: float


def of_text(text: str) -> Area | None:
    """From four numbers: west, south, east, north."""
    found = _FOUR.fullmatch(text)
    return _checked(*(float(one) for one in found.groups())) if found else None


def of_value(value: Any) -> Area | None:
    """From what stands in a record; None where no area is told."""
    if isinstance(value, str):
        if len(value) > _MAX_CHARS:
            return None
        text = value.strip()
        if text.startswith("{"):
            return of_value(dataset.map_in(text))
        if found := _ENVELOPE.match(text):
            west, east, north, south = (float(one) for one in found.groups())
            return _checked(west, south, east, north)
        if _WKT.match(text):
            return _around((float(one), float(other)) for one, other in _PAIR.findall(text))
        return of_text(text.strip("[]"))
    if isinstance(value, dict):
        for name in ("coordinates", "bbox", "geometry", "geometries", "value"):
            if value.get(name) is not None:
                return of_value(value[name])
        return None
    if isinstance(value, list):
        if len(value) == 4 and all(_is_number(one) for one in value):
            return _checked(*value)
        return _around(_points(value, 0))
    return None


def meet(one: Area, other: Area) -> bool:
    return (
        one.west <= other.east
        and other.west <= one.east
        and one.south <= other.north
        and other.south <= one.north
    )


def _points(value: Any, depth: int) -> Iterator[tuple[float, float]]:
    if not isinstance(value, list) or depth > _MAX_DEPTH:
        return
    if len(value) >= 2 and all(_is_number(one) for one in value[:2]):
        yield value[0], value[1]
        return
    for one in value:
        if isinstance(one, dict):
            yield from _points(one.get("coordinates"), depth + 1)
        else:
            yield from _points(one, depth + 1)


def _around(points: Iterator[tuple[float, float]]) -> Area | None:
    found = list(points)
    if not found:
        return None
    across, up = [one for one, _ in found], [one for _, one in found]
    return _checked(min(across), min(up), max(across), max(up))


def _checked(west: float, south: float, east: float, north: float) -> Area | None:
    fits = all(math.isfinite(one) for one in (west, south, east, north)) and west <= east and south <= north
    return Area(west, south, east, north) if fits else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
