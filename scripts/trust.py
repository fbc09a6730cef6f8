"""Print what the torture suite did and found, as docs/trust.md shows it.

`make torture` writes the figures to `.venv/torture.json`. `--write` puts the tables into docs/trust.md
between its two marks.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FIGURES = ROOT / ".venv" / "torture.json"
PAGE = ROOT / "docs" / "trust.md"
BEGIN = "<!-- the figures, written by scripts/trust.py -->\n"
END = "<!-- end of the figures -->\n"
KINDS = ("kills", "faults", "inputs", "histories", "simulated days")


def tables(found: dict[str, Any]) -> str:
    verdicts = ", ".join(f"{number} {verdict}" for verdict, number in found["verdicts"].items())
    compared = (
        f"{found['documents compared']:,} documents and {found['reports compared']:,} reports were compared"
    )
    tests = f"{found['passed']} tests passed, {found['failed']} failed"
    lines = [
        f"Seed {found['seed']}, {found['duration_s']} s: {tests}.",
        f"**{verdicts}** ({compared} with what they have to be).",
        "",
        "| | in all | of them |",
        "|---|---|---|",
    ]
    for kind in KINDS:
        parts = "; ".join(f"{name} {number:,}" for name, number in found[kind].items())
        lines.append(f"| {kind} | {sum(found[kind].values()):,} | {parts} |")
    lines += ["", "When kills came, by tenths of the time that the work takes without them:", ""]
    lines += ["| work | " + " | ".join(f"{n}0 %" for n in range(1, 11)) + " |", "|---" * 11 + "|"]
    lines += [
        f"| {work} | " + " | ".join(map(str, tenths)) + " |" for work, tenths in found["moments"].items()
    ]
    steps = sorted(found["steps"].items(), key=lambda one: -one[1])
    lines += ["", "What was under way: " + ", ".join(f"{name} {number}" for name, number in steps) + "."]
    return "\n".join(lines) + "\n"


def page_with_figures(page: str, found: dict[str, Any]) -> str:
    head, _, rest = page.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return head + BEGIN + tables(found) + END + tail


def main() -> None:
    if not FIGURES.exists():
        raise SystemExit("there are no figures yet: run `make torture` first")
    found = json.loads(FIGURES.read_text("utf-8"))
    if "--write" in sys.argv[1:]:
        PAGE.write_text(page_with_figures(PAGE.read_text("utf-8"), found), "utf-8")
    else:
        print(tables(found), end="")


if __name__ == "__main__":
    main()
