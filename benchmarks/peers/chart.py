"""Bars as SVG that reads well on light and dark pages. Values in, text out; nothing is measured here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

LEFT, RIGHT, WIDTH = 118, 66, 720
ROW, BAR, TOP, GAP = 22, 14, 30, 18
STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#333}.t{font-weight:600}.n{text-anchor:end}.v{fill:#555}"
    ".b{fill:#9db4c9}.us{fill:#2f7d4f}.floor{fill:#d3d3d3}.axis{stroke:#bbb}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}.v{fill:#bbb}.b{fill:#5b7894}.us{fill:#58b07c}"
    ".floor{fill:#555}.axis{stroke:#666}}"
)

Bars = Sequence[tuple[str, str, float | None]]
"""Name, class (`us`, `floor` or empty) and value of each; none where it was not run."""


def panels(title: str, unit: str, groups: Mapping[str, Bars]) -> str:
    """A panel of bars for each group, one below the other, each with its own scale."""
    drawn, y = [], 0
    for heading, bars in groups.items():
        drawn.append(_panel(heading, unit, bars, y))
        y += TOP + ROW * len(bars) + GAP
    label = escape(f"{title}: " + "; ".join(groups), quote=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y}" viewBox="0 0 {WIDTH} {y}" '
        f'role="img" aria-label="{label}"><title>{escape(title)}</title><style>{STYLE}</style>'
        + "".join(drawn)
        + "</svg>\n"
    )


def _panel(heading: str, unit: str, bars: Bars, y: int) -> str:
    most = max((value for _, _, value in bars if value), default=1.0)
    room = WIDTH - LEFT - RIGHT
    rows = [f'<text class="t" x="0" y="{y + 16}">{escape(heading)}</text>']
    for index, (name, kind, value) in enumerate(bars):
        top = y + TOP + ROW * index
        middle = top + BAR - 3
        rows.append(f'<text class="n" x="{LEFT - 8}" y="{middle}">{escape(name)}</text>')
        if value is None:
            rows.append(f'<text class="v" x="{LEFT + 6}" y="{middle}">not run</text>')
            continue
        wide = round(room * value / most, 1)
        rows.append(
            f'<rect class="{kind or "b"}" x="{LEFT}" y="{top}" width="{max(wide, 1)}" height="{BAR}"/>'
        )
        rows.append(f'<text class="v" x="{LEFT + wide + 6:.1f}" y="{middle}">{number(value)} {unit}</text>')
    bottom = y + TOP + ROW * len(bars) - 4
    rows.append(f'<path class="axis" d="M{LEFT} {y + TOP - 4}V{bottom}"/>')
    return "".join(rows)


def number(value: float) -> str:
    """Three digits that matter."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
