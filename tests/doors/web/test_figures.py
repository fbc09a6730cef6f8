"""Figures that runs tell: what was verified, which runs did not happen, how a chart is scaled."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from rowen.core.run import Mode, Run, RunStatus
from rowen.core.web.verified import Freshness
from rowen.doors.web.draw import bars, charts
from rowen.doors.web.pages.figures import slots, verified

NOW = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)
HOUR = 3600


def a_run(hours_ago: float, status: RunStatus, **counters: int) -> Run:
    at = NOW - timedelta(hours=hours_ago)
    return Run(
        id=1,
        source_id=1,
        mode=Mode.INCREMENTAL,
        status=status,
        generation=1,
        stop_reason=None,
        started_at=at,
        finished_at=at + timedelta(seconds=2),
        counters=counters,
        error=None,
        owner="test",
    )


def at(*hours: int) -> list[dict[str, Any]]:
    return [{"at": NOW + timedelta(hours=hour), "run_id": hour + 1} for hour in hours]


def test_what_was_verified_is_told_with_its_share_of_all() -> None:
    told = verified(Freshness(day=75, week=20, older=5, last=NOW))
    assert (told["fresh_day"], told["fresh_week"]) == (0.75, 0.95)
    assert told["verified_at"] == NOW
    nothing = verified(Freshness(day=0, week=0, older=0))
    assert (nothing["fresh_day"], nothing["verified_at"]) == (0.0, None)


def test_a_run_that_was_due_and_did_not_happen_is_a_gap() -> None:
    made = slots(at(0, 6, 12, 24, 30), 6 * HOUR)
    assert [one.get("missed", False) for one in made] == [False, False, False, True, False, False]
    assert made[3]["at"] == NOW + timedelta(hours=18)


def test_who_syncs_by_hand_misses_nothing() -> None:
    assert len(slots(at(0, 100, 101), 6 * HOUR)) == 3
    assert slots([], HOUR) == []


def test_one_large_run_does_not_flatten_the_others() -> None:
    drawn = [{"at": NOW, "run_id": number, "created": 3} for number in range(1, 9)]
    svg = charts.runs([*drawn, {"at": NOW, "run_id": 9, "deleted": 214, "held": True}], "/runs/")
    assert "214 would change" in svg and ">3</text>" in svg
    assert 'href="/runs/9" tabindex="0"' in svg and svg.count('tabindex="0"') == 1


def test_figures_beside_the_axes_are_as_short_as_there_is_room_for() -> None:
    for number, said in ((1124, "1,140"), (123_456, "126k"), (2_500_000, "2.52M")):
        svg = charts.runs([{"at": NOW, "run_id": 1, "created": number}], "/runs/")
        assert svg.count(f">{said}</text>") == 2, "at both ends of the axis"


def test_a_share_that_is_not_all_is_never_drawn_as_all() -> None:
    assert 'd="M0 3h63"' in bars.meter(0.999) and bars.meter(1.0).count('d="M0 3h64"') == 2
    assert bars.meter(0.0).count("<path") == 1


def test_labels_of_a_drawing_are_escaped() -> None:
    assert "<b>" not in bars.meter(0.5, label="<b>")


def test_the_chart_of_one_run_has_room_for_the_names_of_its_panels() -> None:
    svg = charts.runs([{"at": NOW, "run_id": 1, "created": 33}], "/runs/")
    assert svg.startswith(f'<svg width="{44 + 6 * 35 + 48}"')
    assert svg.count(">Changed documents<") == 1, "a second one would stand over it"
    many = charts.runs([{"at": NOW, "run_id": number, "created": 1} for number in range(9)], "/runs/")
    assert many.count(">Changed documents<") == 2, "a phone shows the right end first"
