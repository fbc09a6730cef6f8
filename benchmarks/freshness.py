"""How fresh a copy is for a budget of requests: uniform sweeps, Rowen's schedule and the optimum.

    python benchmarks/freshness.py [pages] [seeds] [file.svg] [--intervals 28] [--half-life 45] [--course]

`--half-life` is how long evidence counts, in days; `--course` prints what share of the optimum is reached in
each interval.

In each of the simulated worlds (`worlds.py`) every policy has the same requests. The optimum knows the true
rates of change and how often readers see each page, and need not come back to a page that gains nothing. The
schedule is the code of `rowen.core.freshness` and knows what a harvester knows: which of the pages it asked
for had changed, and which ones readers were shown. Counted is the last quarter of the time. The exit code is
1 when a figure misses its bound: 99 % of the optimum, not below uniform, expected within 2 points of that.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from worlds import Optimum, Result, Schedule, Uniform, World, simulate, worlds

from rowen.core.freshness import source_rates
from rowen.core.freshness.schedule import DAY_S

INTERVALS = 72
OF_OPTIMUM, WITHIN, NOISE = 0.99, 0.02, 0.001
COLOURS = {"uniform": "#8a8f98", "schedule": "#1f6feb", "optimum": "#2da44e"}


@dataclass
class Line:
    """One world: the shares of fresh hits that the three policies reach, and what the schedule expected."""

    name: str
    uniform: float
    schedule: float
    optimum: float
    expected: float
    longest: float
    course: dict[str, list[float]]

    @property
    def holds(self) -> bool:
        return (
            self.schedule >= OF_OPTIMUM * self.optimum
            and self.schedule >= self.uniform - NOISE
            and abs(self.expected - self.schedule) <= WITHIN
        )


def measure(world: World, seed: int) -> Line:
    found: dict[str, Result] = {}
    for name, policy in (
        ("uniform", Uniform()),
        ("schedule", Schedule(world)),
        ("optimum", Optimum(world)),
    ):
        found[name] = simulate(world, policy, Random(f"{world.name} {seed}"))
    fresh = {name: result.at_last()[0] for name, result in found.items()}
    schedule = found["schedule"]
    return Line(
        world.name,
        **fresh,
        expected=schedule.at_last()[1],
        longest=schedule.longest,
        course={name: result.fresh for name, result in found.items()},
    )


def average(lines: Sequence[Line]) -> Line:
    """The mean of the same world grown from several seeds; the longest wait is that of all."""

    def mean(values: Sequence[float]) -> float:
        return sum(values) / len(values)

    return Line(
        lines[0].name,
        mean([line.uniform for line in lines]),
        mean([line.schedule for line in lines]),
        mean([line.optimum for line in lines]),
        mean([line.expected for line in lines]),
        max(line.longest for line in lines),
        {
            name: [mean(values) for values in zip(*(line.course[name] for line in lines), strict=True)]
            for name in lines[0].course
        },
    )


def table(lines: Sequence[Line]) -> str:
    head = "| world | uniform | schedule | optimum | schedule / optimum | expected | longest wait | |"
    rows = [head, "|---|---|---|---|---|---|---|---|"]
    rows += [
        f"| {line.name} | {line.uniform:.2%} | {line.schedule:.2%} | {line.optimum:.2%} "
        f"| {line.schedule / line.optimum:.2%} | {line.expected:.2%} | {line.longest:.2f} "
        f"| {'holds' if line.holds else 'misses'} |"
        for line in lines
    ]
    return "\n".join(rows)


WIDE, HIGH, LEFT, TOP, GAP = 250, 120, 40, 34, 46


def drawing(lines: Sequence[Line]) -> str:
    """One panel a world, three to a row: the share of fresh hits over time."""
    rows = (len(lines) + 2) // 3
    width, height = 3 * (WIDE + GAP) + LEFT, rows * (HIGH + GAP) + TOP
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"'
        f' height="{height}" font-family="sans-serif" font-size="11">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for place, (name, colour) in enumerate(COLOURS.items()):
        x = LEFT + place * 110
        drawn.append(f'<line x1="{x}" x2="{x + 18}" y1="12" y2="12" stroke="{colour}" stroke-width="2"/>')
        drawn.append(f'<text x="{x + 24}" y="16" fill="#24292f">{name}</text>')
    for place, line in enumerate(lines):
        drawn += _panel(line, LEFT + place % 3 * (WIDE + GAP), TOP + 16 + place // 3 * (HIGH + GAP))
    return "\n".join([*drawn, "</svg>", ""])


def _panel(line: Line, left: int, top: int) -> list[str]:
    every = [value for values in line.course.values() for value in values[1:]]
    low, high = min(every), max(every)
    span = max(high - low, 0.02)

    def y(value: float) -> float:
        return top + HIGH - (value - low) / span * HIGH

    drawn = [
        f'<text x="{left}" y="{top - 6}" fill="#24292f" font-weight="bold">{line.name}</text>',
        f'<rect x="{left}" y="{top}" width="{WIDE}" height="{HIGH}" fill="none" stroke="#d0d7de"/>',
    ]
    drawn += [
        f'<text x="{left - 4}" y="{y(value) + 4:.0f}" text-anchor="end" fill="#57606a">{value:.0%}</text>'
        for value in (low, low + span)
    ]
    for name, values in line.course.items():
        step = WIDE / (len(values) - 2)
        points = " ".join(
            f"{left + (at - 1) * step:.1f},{y(value):.1f}" for at, value in enumerate(values) if at
        )
        drawn.append(f'<polyline points="{points}" fill="none" stroke="{COLOURS[name]}" stroke-width="1.5"/>')
    return drawn


def main(
    pages: int = 300,
    seeds: int = 2,
    svg: str = "",
    *,
    intervals: int = INTERVALS,
    half_life: float | None = None,
    course: bool = False,
) -> int:
    if half_life is not None:
        source_rates.HALF_LIFE_S = half_life * DAY_S
    grown = [worlds(pages, intervals, seed) for seed in range(1, seeds + 1)]
    lines = []
    for same in zip(*grown, strict=True):
        lines.append(average([measure(world, seed) for seed, world in enumerate(same, 1)]))
        print(f"{lines[-1].name}: {lines[-1].schedule:.2%}", file=sys.stderr)
    print(f"{pages} pages, {intervals} uniform intervals, {seeds} seeds; shares of hits that are current\n")
    print(table(lines))
    for line in lines if course else ():
        pairs = zip(line.course["schedule"], line.course["optimum"], strict=True)
        print(f"\n{line.name}: " + " ".join(f"{have / best:.1%}" for have, best in pairs))
    if svg:
        Path(svg).write_text(drawing(lines), encoding="utf-8")
    return 0 if all(line.holds for line in lines) else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("pages", type=int, nargs="?", default=300)
    parser.add_argument("seeds", type=int, nargs="?", default=2)
    parser.add_argument("svg", nargs="?", default="")
    parser.add_argument("--intervals", type=int, default=INTERVALS)
    parser.add_argument("--half-life", type=float)
    parser.add_argument("--course", action="store_true")
    sys.exit(main(**vars(parser.parse_args())))
