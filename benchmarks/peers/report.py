"""`docs/performance.md` and its charts, from `docs/performance.json`. Measures nothing.

    python -m benchmarks.peers.report [FOLDER]

The JSON has what the last runs measured: `peers` by `run.py`, `exponents` by `benchmarks/exponents.py`. Each
of them writes its part and calls this, so the page always shows what the file says.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.growth import NOISE
from benchmarks.peers import chart

ROOT = Path(__file__).resolve().parents[2]
NAMES = {
    "rowen": "Rowen",
    "cocoindex": "CocoIndex",
    "langchain": "LangChain",
    "llamaindex": "LlamaIndex",
    "scrapy": "Scrapy",
    "crawlee": "Crawlee",
    "bare_loop": "bare loop",
}
CASES = {
    "first": "First harvest",
    "unchanged": "Unchanged refresh",
    "edited": "One paragraph edited",
    "redeployed": "Re-deploy, only times changed",
}
DOES = {
    "rowen": ("follows links", "yes", "main content as Markdown", "by headings", "yes", "words and vectors"),
    "cocoindex": ("**reads the files**", "**no HTTP**", "all text of the page", "by size", "yes", "**none**"),
    "langchain": (
        "**is told the addresses**",
        "**no**",
        "all text of the page",
        "by size",
        "yes",
        "vectors (FAISS)",
    ),
    "llamaindex": ("**is told the addresses**", "**no**", "page as Markdown", "by size", "yes", "vectors"),
    "scrapy": ("follows links", "yes", "all text of the page", "**no**", "**no**", "**none**"),
    "crawlee": ("follows links", "**no**", "all text of the page", "**no**", "**no**", "**none**"),
    "bare_loop": ("**is told the addresses**", "yes", "**no**", "**no**", "**no**", "**none**"),
}
HEAD = """# Performance

This page compares Rowen with other tools, on the same pages from the same server, in one session.
`make bench-peers` measures all figures on your machine and writes this page, its charts and
[performance.json](performance.json). Compare the rows, not the seconds, which depend on the machine. The
figures of Rowen's own benchmarks are in [benchmarks.md](benchmarks.md).
"""
HOW = """## Rowen and five others

The pages: {what}, {number:,} pages, {megabytes:.0f} MB of HTML.

They are served on loopback with `ETag`, `Last-Modified` and `Cache-Control: max-age=0` by a separate process
that is not counted. Each case runs in a new process, which finds what the last run of the tool stored;
start-up is included. All tools run one case before the next case begins, in another order in each round.
{repeat}; Python {python}, {cores} cores{load}.{remark}

CPU seconds, child processes included:
"""
LEFT_OUT = """
![CPU seconds of each case](images/performance-cpu.svg)

### What each of them does not do

The tools do different amounts of work. Bold marks what a tool does not do, or does not have to do:
"""
FAIR = """
Tools that embed use Rowen's default model (static, 256 numbers). The other tools use chunks of 1,000
characters without overlap. All send three requests at a time where that can be set. Each script in
[benchmarks/peers](../benchmarks/peers/README.md) follows the tool's own documentation and uses what the tool
has to avoid repeated work: LangChain's indexing API with a record manager, LlamaIndex's document management
and cache, CocoIndex's memoisation, Scrapy's HTTP cache by RFC 2616. Crawlee has a queue that outlives the
process, but does not remember what it saw. Only Rowen keeps the old state readable until the new one is
complete.
"""
GROWTH = f"""## How costs grow

These tables show CPU time by size, and the exponent of the power law that fits best: with 1, time is
proportional to size; with 0, it does not depend on size. `benchmarks/exponents.py` measures it, takes up to
{NOISE:g} above a bound for the noise of the clock, and ends with exit code 1 above that.
"""


def write(folder: Path) -> None:
    """The page and its charts beside the JSON."""
    figures = json.loads((folder / "performance.json").read_text("utf-8"))
    images = folder / "images"
    images.mkdir(exist_ok=True)
    parts = [HEAD]
    if "peers" in figures:
        for name, svg in charts(figures["peers"]).items():
            (images / f"performance-{name}.svg").write_text(svg, "utf-8")
        parts += [peers(figures["peers"])]
    if "exponents" in figures:
        parts += [exponents(figures["exponents"])]
    (folder / "performance.md").write_text("\n".join(parts), "utf-8")


def charts(figures: Mapping[str, Any]) -> dict[str, str]:
    """CPU time and memory of every case, as SVG."""
    made = {}
    for name, key, unit in (("cpu", "cpu_s", "s"), ("memory", "peak_mb", "MB")):
        title = {"cpu": "CPU seconds", "memory": "Peak memory"}[name]
        groups = {f"{heading}: {title}": _bars(figures, case, key) for case, heading in CASES.items()}
        made[name] = chart.panels(title, unit, groups)
    return made


def _bars(figures: Mapping[str, Any], case: str, key: str) -> chart.Bars:
    kinds = {"rowen": "us", "bare_loop": "floor"}
    return [
        (NAMES[name], kinds.get(name, ""), figures["figures"].get(name, {}).get(case, {}).get(key))
        for name in _shown(figures)
    ]


def _shown(figures: Mapping[str, Any]) -> list[str]:
    return [name for name in NAMES if name in figures["figures"] or name in figures["missing"]]


def peers(figures: Mapping[str, Any]) -> str:
    pages, machine = figures["pages"], figures["machine"]
    shown = _shown(figures)
    load = machine.get("load")
    lines = [
        HOW.format(
            what=pages["what"],
            number=pages["number"],
            megabytes=pages["bytes"] / 1e6,
            repeat="One round" if figures["repeat"] == 1 else f"Medians of {figures['repeat']} rounds",
            python=machine["python"],
            cores=machine["cores"],
            remark=f" {figures['remark']}" if figures.get("remark") else "",
            load=f", load {load[0]} at the beginning and {load[1]} at most" if load else "",
        ),
        *_table(
            ["", *CASES.values()],
            [[NAMES[name], *(_cell(figures, name, case, "cpu_s") for case in CASES)] for name in shown],
        ),
        LEFT_OUT,
        *_table(
            ["", "pages", "conditional requests", "text", "chunks", "vectors", "index"],
            [[NAMES[name], *DOES[name]] for name in shown],
        ),
        FAIR,
    ]
    for case, heading in CASES.items():
        lines += [f"### {heading}\n", *_table(*_case(figures, case, shown)), ""]
    lines += ["![Peak memory of each case](images/performance-memory.svg)\n", "### Versions\n"]
    for name in shown:
        if name in figures["missing"]:
            lines.append(f"- {NAMES[name]}: not run here: {figures['missing'][name]}")
        elif name in figures["versions"]:
            said = ", ".join(f"{one} {version}" for one, version in figures["versions"][name].items())
            lines.append(f"- {NAMES[name]}: {said}")
    return "\n".join(lines) + "\n"


def _case(figures: Mapping[str, Any], case: str, shown: list[str]) -> tuple[list[str], list[list[str]]]:
    keys = {
        "cpu_s": "CPU s",
        "wall_s": "wall s",
        "peak_mb": "peak MB",
        "requests": "requests",
        "not_modified": "of them 304",
        "bodies": "bodies sent",
        "embeddings": "texts embedded",
    }
    rows = [[NAMES[name], *(_cell(figures, name, case, key) for key in keys)] for name in shown]
    return ["", *keys.values()], rows


def _cell(figures: Mapping[str, Any], name: str, case: str, key: str) -> str:
    if name in figures["missing"]:
        return "not run"
    value = figures["figures"][name][case][key]
    return chart.number(value) if key in ("cpu_s", "wall_s", "peak_mb") else f"{value:,.0f}"


def _table(head: list[str], rows: list[list[str]]) -> list[str]:
    return [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)]


def exponents(figures: Mapping[str, Any]) -> str:
    lines = [GROWTH]
    for series in figures["series"]:
        sizes = [f"{size:,} {series['unit']}" for size in series["sizes"]]
        measured = [f"{cost:.3g} {series['cost_unit']}" for cost in series["costs"]]
        bound = f"{series['exponent']:.2f} (at most {series['bound']})"
        lines += [*_table([series["what"], *sizes, "exponent"], [["", *measured, bound]]), ""]
    return "\n".join(lines)


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs")
