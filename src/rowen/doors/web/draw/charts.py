"""The charts of a source: its runs, and the documents that each generation shows.

One slot for each time a run was due: a run that did not happen is a gap with a ×. The panels share one axis.
What is longer than the scale is cut, marked and labelled, so that one large run does not flatten all others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from markupsafe import Markup

from rowen.doors.words import nothing, seconds

LEFT, SLOT, BAR, RIGHT = 44, 35, 24, 48
FEWEST = 6
"""Slots that the axis has room for at least: the names of the panels stand over it."""
TWO_NAMES = 280
"""The width of an axis over which the name of a panel has room twice."""
TOP, BASE = 24, 120
"""The panel of changes: its highest line, and where its bars stand."""
TIME_BASE, TIME_HIGH = 172, 32
SAVED_BASE, SAVED_HIGH = 234, 32
HEIGHT = 262
STACK = (("created", "new"), ("updated", "upd"), ("deleted", "gone"), ("failed", "fail"))
PATTERNS = Markup(
    '<defs><pattern id="hatch" width="4" height="4" patternUnits="userSpaceOnUse"'
    ' patternTransform="rotate(45)">'
    '<path class="p-bg" d="M0 0h4v4H0z"/><path class="p-upd" d="M0 0v4"/></pattern>'
    '<pattern id="dots" width="4" height="4" patternUnits="userSpaceOnUse">'
    '<path class="p-fbg" d="M0 0h4v4H0z"/>'
    '<circle class="p-fail" cx="2" cy="2" r="1.3"/></pattern></defs>'
)


def legend() -> Markup:
    signs = (("new", "+ new"), ("upd", "~ updated"), ("gone", "− removed"), ("fail", "! failed"))
    box = Markup(
        '<span><svg width="12" height="12" aria-hidden="true">'
        '<path class="f-{}" d="M1 1h10v10h-10z"/></svg>{}</span>'
    )
    return Markup("").join([*(box.format(*one) for one in signs), Markup("<span>× did not run</span>")])


def runs(slots: Sequence[Mapping[str, Any]], where: str) -> Markup:
    """`slots` from the oldest to the newest; `where` is the address of a run without its number."""
    end = LEFT + SLOT * max(len(slots), FEWEST)
    width = end + RIGHT
    totals = [sum(int(slot.get(name) or 0) for name, _ in STACK) for slot in slots]
    scale = _scale(totals)
    drawn = [_grid(slots, scale, end), Markup('<path class="base" d="M{} {}.5H{}"/>').format(LEFT, BASE, end)]
    drawn += _stacks(slots, totals, scale)
    drawn.append(_times(slots))
    drawn.append(_saved(slots))
    drawn.append(
        Markup('<path class="base" d="M{0} {1}.5H{2}M{0} {3}.5H{2}"/>').format(
            LEFT, TIME_BASE, end, SAVED_BASE
        )
    )
    drawn.append(_hits(slots, where))
    label = f"{len(slots)} runs. The table below has the same figures."
    head = Markup(
        '<svg width="{0}" height="{1}" viewBox="0 0 {0} {1}" role="group" aria-label="{2}">'
    ).format(width, HEIGHT, label)
    return head + PATTERNS + Markup("").join(drawn) + Markup("</svg>")


def _scale(totals: Sequence[int]) -> int:
    """Where the scale ends: at the 95th percentile of what changed, in three round steps."""
    changed = sorted(total for total in totals if total)
    if not changed:
        return 3
    high = changed[min(len(changed) - 1, int(len(changed) * 0.95))]
    if len(changed) > 3 and changed[-1] > 4 * changed[-2]:
        high = changed[-2]
    step = -(-high // 3)
    size = int(10 ** max(0, len(str(step)) - 2))
    return 3 * max(1, -(-step // size) * size)


def _grid(slots: Sequence[Mapping[str, Any]], scale: int, end: int) -> Markup:
    lines, texts, last = [], [], None
    for index, slot in enumerate(slots):
        at: datetime = slot["at"]
        if at.date() != last and (index or len(slots) == 1):
            x = LEFT + SLOT * index
            lines.append(f"M{x}.5 16V238")
            texts.append(Markup('<text x="{}" y="254">{} {}</text>').format(x + 4, at.day, f"{at:%b}"))
        last = at.date()
    for part in range(4):
        y = BASE - 32 * part
        lines.append(f"M{LEFT} {y}.5H{end}")
        said = scale * part // 3
        texts.append(Markup('<text class="n" x="{}" y="{}">{}</text>').format(LEFT - 8, y + 4, _short(said)))
        texts.append(Markup('<text x="{}" y="{}">{}</text>').format(end + 8, y + 4, _short(said)))
    longest = max((float(slot.get("duration_s") or 0) for slot in slots), default=0.0)
    texts.append(Markup('<text class="n" x="{}" y="146">{}</text>').format(LEFT - 8, seconds(longest)))
    texts.append(Markup('<text class="n" x="{}" y="174">0</text>').format(LEFT - 8))
    texts.append(Markup('<text class="n" x="{}" y="210">100 %</text>').format(LEFT - 8))
    for y, word in ((12, "Changed documents"), (136, "Time taken"), (196, "Download avoided")):
        texts.append(Markup('<text class="lab" x="{}" y="{}">{}</text>').format(LEFT, y, word))
        if end - LEFT >= TWO_NAMES:
            # A phone scrolls to the newest run, where the name on the left is out of sight.
            texts.append(Markup('<text class="lab ph" x="{}" y="{}">{}</text>').format(end, y, word))
    return Markup('<path class="axis" d="{}"/>').format("".join(lines)) + Markup("").join(texts)


def _short(number: int) -> str:
    """As much as there is room for beside an axis."""
    for size, mark in ((1_000_000, "M"), (10_000, "k")):
        if number >= size:
            return f"{number / (1_000_000 if mark == 'M' else 1000):.3g}{mark}"
    return f"{number:,}"


def _stacks(slots: Sequence[Mapping[str, Any]], totals: Sequence[int], scale: int) -> list[Markup]:
    paths: dict[str, list[str]] = {colour: [] for _, colour in STACK}
    extra: list[Markup] = []
    for index, slot in enumerate(slots):
        x = LEFT + SLOT * index + (SLOT - BAR) // 2 + 1
        if slot.get("missed"):
            extra.append(Markup('<text x="{}" y="{}">×</text>').format(x + 8, BASE - 4))
            continue
        y = float(BASE)
        for name, colour in STACK:
            number = int(slot.get(name) or 0)
            if not number:
                continue
            high = max(3.0, 96 * number / scale)
            high = min(high, y - TOP + 4)
            if high > 0:
                paths[colour].append(f"M{x} {y:.0f}v-{high:.0f}h{BAR}v{high:.0f}z")
            y -= high
        if totals[index] > scale:
            word = f"{totals[index]:,} {'would change' if slot.get('held') else 'changed'}"
            left = index > len(slots) // 2
            extra.append(Markup('<path class="base" d="M{} 36l30 -8"/>').format(x - 3))
            extra.append(
                Markup('<text class="lab" x="{}" y="46" text-anchor="{}">{}</text>').format(
                    x - 8 if left else x + BAR + 8, "end" if left else "start", word
                )
            )
    bars = [
        Markup('<path class="f-{}" d="{}"/>').format(colour, "".join(shapes))
        for colour, shapes in paths.items()
        if shapes
    ]
    return [*bars, *extra]


def _times(slots: Sequence[Mapping[str, Any]]) -> Markup:
    longest = max((float(slot.get("duration_s") or 0) for slot in slots), default=0.0)
    lines = "".join(
        f"M{_middle(index)} {TIME_BASE}v-{max(1, TIME_HIGH * float(slot['duration_s']) / longest):.0f}"
        for index, slot in enumerate(slots)
        if slot.get("duration_s") and longest
    )
    return Markup('<path class="s-same" d="{}"/>').format(lines) if lines else Markup("")


def _saved(slots: Sequence[Mapping[str, Any]]) -> Markup:
    lines = "".join(
        f"M{_middle(index)} {SAVED_BASE}v-{max(1, SAVED_HIGH * float(slot['avoided'])):.0f}"
        for index, slot in enumerate(slots)
        if slot.get("avoided")
    )
    return Markup('<path class="s-acc" d="{}"/>').format(lines) if lines else Markup("")


def _middle(index: int) -> int:
    return LEFT + SLOT * index + SLOT // 2 + 1


def _hits(slots: Sequence[Mapping[str, Any]], where: str) -> Markup:
    """A link over each run; only the newest is a tab stop, arrows move between them."""
    made = []
    newest = max((index for index, slot in enumerate(slots) if slot.get("run_id")), default=-1)
    for index, slot in enumerate(slots):
        if slot.get("run_id"):
            said = ", ".join(
                f"{int(slot[name]):,} {word}"
                for name, word in (
                    ("created", "new"),
                    ("updated", "updated"),
                    ("deleted", "removed"),
                    ("failed", "failed"),
                )
                if slot.get(name)
            ) or nothing(str(slot.get("outcome") or "completed"))
            made.append(
                Markup(
                    '<a href="{}{}" tabindex="{}" data-run aria-label="Run {}: {}">'
                    '<rect x="{}"><title>Run {}: {}</title></rect></a>'
                ).format(
                    where,
                    slot["run_id"],
                    0 if index == newest else -1,
                    slot["run_id"],
                    said,
                    LEFT + SLOT * index,
                    slot["run_id"],
                    said,
                )
            )
    return Markup('<g class="hits">{}</g>').format(Markup("").join(made))


def generations(points: Sequence[Mapping[str, Any]]) -> Markup:
    """How many documents readers see, generation by generation; a held one is a branch of dashes."""
    shown = [one for one in points if not one["held"]]
    held = next((one for one in points if one["held"]), None)
    width, right = 1196, 1164
    numbers = [int(one["documents"]) for one in points]
    low, high = min(numbers), max(numbers)
    if high - low < max(4, high // 10):
        low = max(0, high - max(4, high // 10))
    gap = (right - LEFT) / max(1, len(points))

    def y(documents: int) -> float:
        return 92 - 60 * (documents - low) / max(1, high - low)

    drawn = [Markup('<path class="axis" d="M{0} 32.5H{1}M{0} 92.5H{1}"/>').format(LEFT, right)]
    for number, at in ((high, 36), (low, 96)):
        drawn.append(Markup('<text class="n" x="{}" y="{}">{}</text>').format(LEFT - 8, at, _short(number)))
    path, marks = "", []
    for index, one in enumerate(shown):
        x, height = LEFT + gap * (index + 0.5), y(int(one["documents"]))
        path += f"M{x:.0f} {height:.0f}" if not path else f"H{x:.0f}V{height:.0f}"
        marks.append(Markup('<circle class="f-acc" cx="{:.0f}" cy="{:.0f}" r="4"/>').format(x, height))
        marks.append(
            Markup('<text class="mid" x="{:.0f}" y="{:.0f}">{}</text>').format(
                x, height - 9, one["generation"]
            )
        )
    if path:
        drawn.append(Markup('<path class="step" d="{}H{}"/>').format(path, right + 13))
    if held is not None:
        x, height = LEFT + gap * (len(points) - 0.5), y(int(held["documents"]))
        start = y(int(shown[-1]["documents"])) if shown else height
        drawn.append(
            Markup('<path class="dash" d="M{0:.0f} {1:.0f}V{2:.0f}H{3}"/>').format(
                x, start, height, right + 13
            )
        )
        drawn.append(
            Markup('<rect class="f-hold" x="{:.0f}" y="{:.0f}" width="8" height="8"/>').format(
                x - 4, height - 4
            )
        )
        said = f"{held['generation']} held: {int(held['documents']):,} documents"
        drawn.append(
            Markup('<text class="hl n" x="{:.0f}" y="{:.0f}">{}</text>').format(x - 10, height - 3, said)
        )
    label = f"Documents that readers see: {numbers[0]:,} in generation {points[0]['generation']}"
    if shown:
        label += f", {int(shown[-1]['documents']):,} in generation {shown[-1]['generation']}"
    if held is not None:
        label += f". Generation {held['generation']}, held, would leave {int(held['documents']):,}"
    return (
        Markup('<svg width="{0}" height="118" viewBox="0 0 {0} 118" role="img" aria-label="{1}.">').format(
            width, label
        )
        + Markup("").join([*drawn, *marks])
        + Markup("</svg>")
    )
