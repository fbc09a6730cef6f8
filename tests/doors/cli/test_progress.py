"""Progress reads events and is cheap; receipts name what matters."""

from __future__ import annotations

import io

from rowen.core.document import Outcome
from rowen.core.run import Counters, Event
from rowen.doors import words
from rowen.doors.cli.drawing.console import Console
from rowen.doors.cli.progress import FAILURES_TOLD, BarProgress, LineProgress
from tests.support.fakes import FakeClock


def item(counters: Counters, outcome: Outcome = Outcome.UNCHANGED, *, queued: int = 0) -> Event:
    counters.add(outcome)
    return Event("docs", "item", "http://h/x", outcome, "a_reason", counters=counters, queued=queued)


def lines_of(clock: FakeClock) -> tuple[LineProgress, list[str]]:
    lines: list[str] = []
    return LineProgress(lines.append, clock.monotonic), lines


def test_lines_come_every_500_items() -> None:
    progress, lines = lines_of(FakeClock())
    counters = Counters()
    progress(Event("docs", "started"))
    for left in range(1200, 0, -1):
        progress(item(counters, queued=left))
    progress(Event("docs", "finished", counters=counters, detail="completed"))
    assert [line.split(",")[0] for line in lines] == [
        "docs: started",
        "docs: 500 of 1",
        "docs: 1",
        "docs: completed",
    ]
    assert "500 of 1,201 known pages" in lines[1]


def test_lines_come_every_few_seconds_when_items_are_slow() -> None:
    clock = FakeClock()
    progress, lines = lines_of(clock)
    counters = Counters()
    progress(Event("docs", "started"))
    for _ in range(64):
        clock.advance(0.5)
        progress(item(counters))
    assert len(lines) == 1 + 4
    assert lines[-1].endswith("0 failed, 2/s")


def test_each_failure_has_a_line_up_to_a_point() -> None:
    progress, lines = lines_of(FakeClock())
    counters = Counters()
    progress(Event("docs", "started"))
    for _ in range(FAILURES_TOLD + 10):
        progress(item(counters, Outcome.FAILED))
    assert lines[1] == "docs: failed: http://h/x (a_reason)"
    assert len(lines) == 1 + FAILURES_TOLD + 1
    assert "rowen runs docs --items" in lines[-1]


def test_the_bar_shows_pages_changes_errors_rate_and_time_left() -> None:
    clock = FakeClock()
    console = Console(io.StringIO(), width=120, terminal=True, colours=False)
    progress = BarProgress(console, clock.monotonic)

    def drawn() -> str:
        return console.drawn(progress.frame())

    assert drawn().strip() == ""
    counters = Counters()
    progress(Event("docs", "started"))
    assert "docs" in drawn()
    progress(item(counters, queued=100))
    drawn()
    clock.advance(2)
    for _ in range(19):
        counters.not_modified += 1
        progress(item(counters, queued=80))
    progress(item(counters, Outcome.UPDATED, queued=79))
    progress(item(counters, Outcome.FAILED, queued=78))
    line = drawn()
    console.width = 80
    assert len(drawn().rstrip()) <= 80
    for shown in ("22/100 pages", "1 changed", "1 failed", "11/s", "0:07 left"):
        assert shown in line, line


def test_lines_and_bar_say_how_much_a_limit_leaves_out() -> None:
    clock = FakeClock()
    progress, lines = lines_of(clock)
    console = Console(io.StringIO(), width=120, terminal=True, colours=False)
    bar = BarProgress(console, clock.monotonic)
    counters = Counters()
    for told in (progress, bar):
        told(Event("docs", "started"))
        told(item(counters, queued=1))
    assert "left out" not in console.drawn(bar.frame())
    counters.ignored["over_max_pages"] = 1600
    counters.ignored["robots"] = 7
    bar(item(counters, queued=1))
    assert "1,600 left out" in console.drawn(bar.frame())
    progress(Event("docs", "finished", counters=counters, detail="capped"))
    assert lines[-1] == "docs: capped, 0 changed, 0 not modified, 0 failed, 1,600 left out"


def test_the_bar_is_gone_after_the_run() -> None:
    screen = io.StringIO()
    console = Console(screen, width=100, terminal=True, colours=True)
    with BarProgress(console) as progress:
        progress(item(Counters()))
    assert screen.getvalue().endswith("\x1b[2K")


def test_numbers_are_written_for_people() -> None:
    assert words.size(999) == "999 B"
    assert words.size(18_500) == "18.5 kB"
    assert words.size(123_456_789) == "123 MB"
    assert words.size(5 * 10**15) == "5000.0 TB"
    assert words.seconds(0.31) == "0.3 s"
    assert words.seconds(75) == "75 s"
    assert words.seconds(600) == "10 min"
    assert words.seconds(9000) == "2.5 h"
    assert words.count(1, "retry", "retries") == "1 retry"
    assert words.count(2000, "retry", "retries") == "2,000 retries"


def test_moments_are_told_by_their_age() -> None:
    clock = FakeClock()
    moment = clock.now()
    said = []
    for wait in (1, 20, 300, 7200, 4 * 86_400):
        clock.advance(wait)
        said.append(words.ago(moment, clock.now()))
    assert said == ["just now", "21 s ago", "5 min ago", "2 h ago", "4 days ago"]
    assert words.ago(None, moment) == "never"
