"""What the torture suite did and what it found: counted by each test, added up over all workers.

A test writes into its `Tally`, which travels with the test's report. The summary of the session adds them
up, prints them, and writes them to the file that `ROWEN_TORTURE_FIGURES` names, for `scripts/trust.py`.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

PROPERTY = "tally"
KINDS = ("kills", "faults", "inputs", "histories", "simulated days")
VERDICTS = ("lost", "mixed", "wrongly deleted", "falsely reported")
TENTHS = 10


class Tally:
    """One test's share: `counts` is plain data, because it crosses from a worker to the session."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self._problems: list[str] = []

    def add(self, kind: str, of: str, number: int = 1) -> None:
        """So many kills, faults, inputs or histories of one sort."""
        if kind not in KINDS:
            raise ValueError(kind)
        self._count(f"{kind}/{of}", number)

    def moment(self, work: str, share: float) -> None:
        """When in the work a kill came: 0 at its beginning, 1 at its end."""
        self._count(f"moments/{work}/{min(int(share * TENTHS), TENTHS - 1)}")

    def step(self, name: str) -> None:
        """Which call of the store was under way when a kill came."""
        self._count(f"steps/{name}")

    def checked(self, number: int = 1) -> None:
        """So many documents were compared with what they have to be."""
        self._count("documents compared", number)

    def problem(self, verdict: str, detail: str) -> None:
        if verdict not in VERDICTS:
            raise ValueError(verdict)
        self._count(f"verdicts/{verdict}")
        self._problems.append(f"{verdict}: {detail[:500]}")

    def compare(self, expected: Mapping[str, Any], found: Mapping[str, Any], *, when: str) -> None:
        """What readers see, by reference, against what they have to see."""
        self.checked(len(expected))
        for reference in sorted(expected.keys() - found.keys()):
            self.problem("lost", f"{reference} {when}")
        for reference in sorted(found.keys() - expected.keys()):
            self.problem("mixed", f"{reference} should not be there {when}")
        for reference in sorted(expected.keys() & found.keys()):
            if expected[reference] != found[reference]:
                self.problem("mixed", f"{reference} has another text {when}")

    def keeps(self, before: Collection[str], after: Collection[str], *, when: str) -> None:
        """Nothing that was there may be gone."""
        self.checked(len(before))
        for reference in sorted(set(before) - set(after)):
            self.problem("wrongly deleted", f"{reference} {when}")

    def honest(self, true: bool, *, when: str) -> None:
        """Does what a run said of itself agree with what happened?"""
        self._count("reports compared")
        if not true:
            self.problem("falsely reported", when)

    def verify(self) -> None:
        assert not self._problems, "\n".join(self._problems[:20])

    def _count(self, key: str, number: int = 1) -> None:
        self.counts[key] = self.counts.get(key, 0) + number


def added_up(reports: Iterable[Any]) -> Counter[str]:
    total: Counter[str] = Counter()
    for report in reports:
        for name, counts in report.user_properties:
            if name == PROPERTY:
                total.update(counts)
    return total


def figures(total: Mapping[str, int]) -> dict[str, Any]:
    """The counts as `scripts/trust.py` reads them."""
    grouped: dict[str, Any] = {kind: {} for kind in KINDS}
    grouped |= {"moments": {}, "steps": {}, "verdicts": dict.fromkeys(VERDICTS, 0)}
    for key, number in sorted(total.items()):
        kind, _, rest = key.partition("/")
        if kind == "moments":
            work, _, tenth = rest.rpartition("/")
            grouped["moments"].setdefault(work, [0] * TENTHS)[int(tenth)] += number
        elif rest:
            grouped[kind][rest] = number
        else:
            grouped[kind] = number
    return grouped


def summarise(reporter: pytest.TerminalReporter, seed: int) -> None:
    ended = [one for outcome in ("passed", "failed") for one in reporter.stats.get(outcome, [])]
    total = added_up(one for one in ended if one.when == "call")
    if not total:
        return
    found = figures(total)
    sums = {kind: sum(found[kind].values()) for kind in KINDS}
    shown = (f"{number:,} {kind}" for kind, number in sums.items() if number)
    reporter.write_line(f"torture, seed {seed}: {', '.join(shown)}")
    for work, tenths in found["moments"].items():
        reporter.write_line(f"  kills by tenths of its time, {work}: {' '.join(map(str, tenths))}")
    if found["steps"]:
        steps = Counter(found["steps"]).most_common()
        reporter.write_line("  kills by call: " + ", ".join(f"{name} {number}" for name, number in steps))
    verdicts = ", ".join(f"{number} {verdict}" for verdict, number in found["verdicts"].items())
    compared = total["documents compared"], total["reports compared"]
    reporter.write_line(f"  {verdicts} ({compared[0]:,} documents and {compared[1]:,} reports compared)")
    if target := os.environ.get("ROWEN_TORTURE_FIGURES"):
        duration_s = round(reporter._session_start.elapsed().seconds)
        failed = len(reporter.stats.get("failed", [])) + len(reporter.stats.get("error", []))
        passed = len(reporter.stats.get("passed", []))
        said = {"seed": seed, "duration_s": duration_s, "passed": passed, "failed": failed, **found}
        Path(target).write_text(json.dumps(said, indent=2) + "\n", "utf-8")
