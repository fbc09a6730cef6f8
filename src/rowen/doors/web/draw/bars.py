"""Small drawings that stand in a line of text: meters, run bars, sparklines."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

COUNTERS = (("created", "new"), ("updated", "upd"), ("deleted", "gone"), ("failed", "fail"))


def meter(share: float, *, width: int = 64, label: str = "", second: float = 0.0) -> Markup:
    """A bar that is full at 1; `second` is a wider share behind it."""
    tracks = [Markup('<path class="t" d="M0 3h{}"/>').format(width)]
    if second > share:
        tracks.append(Markup('<path class="t2" d="M0 3h{}"/>').format(_part(second, width)))
    if share > 0:
        tracks.append(Markup('<path d="M0 3h{}"/>').format(_part(share, width)))
    return _svg("mt", width, 6, label, Markup("").join(tracks))


def run_bar(counters: Mapping[str, Any], most: int, *, width: int = 104) -> Markup:
    """What a run changed; `most` is the longest bar of the table, so that rows can be compared."""
    drawn, x = [Markup('<path class="axis" d="M0 9.5h{}"/>').format(width)], 1.0
    for name, colour in COUNTERS:
        if number := int(counters.get(name) or 0):
            wide = max(3.0, (width - 6) * number / max(most, 1))
            wide = min(wide, width - 1 - x)
            if wide > 0:
                drawn.append(
                    Markup('<path class="f-{}" d="M{:.0f} 1h{:.0f}v8h-{:.0f}z"/>').format(
                        colour, x, wide, wide
                    )
                )
            x += wide + 1
    return _svg("", width, 10, "", Markup("").join(drawn))


def spark(days: Sequence[int]) -> Markup:
    """Changes by day, the newest on the right; a square root shows small days beside large ones."""
    if not any(days):
        return Markup('<span class="soft">none</span>')
    most = max(days)
    width = 3 * len(days)
    lines = "".join(
        f"M{3 * index + 1} 24v-{max(2, round(24 * math.sqrt(number / most)))}"
        for index, number in enumerate(days)
        if number
    )
    label = f"{sum(days):,} changes, at most {most:,} a day"
    inner = Markup('<path class="axis" d="M0 23.5h{}"/><path class="spark" d="{}"/>').format(width, lines)
    return _svg("", width, 24, label, inner)


def _part(share: float, width: int) -> int:
    """At least one pixel of something, and never all of what is not all."""
    if share >= 1:
        return width
    return min(width - 1, max(1, round(width * share)))


def _svg(css: str, width: int, height: int, label: str, inner: Markup) -> Markup:
    seen = Markup('role="img" aria-label="{}"').format(label) if label else Markup('aria-hidden="true"')
    return Markup('<svg class="{}" width="{}" height="{}" {}>{}</svg>').format(
        css, width, height, seen, inner
    )
