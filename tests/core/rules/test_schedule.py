"""When a source is due."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from rowen.core.rules.schedule import SPREAD, due, due_at
from rowen.core.source import Source, Status

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def a_source(name: str, last_run_at: datetime | None = None, **changes: object) -> Source:
    values: dict[str, object] = {
        "id": 1,
        "key": f"web:{name}:x",
        "kind": "web",
        "name": name,
        "version": "",
        "location": "https://d.example/",
        "params": {},
        "status": Status.SUCCESS,
        "active_generation": 1,
        "last_generation": 1,
        "held_generation": None,
        "held_reason": None,
        "last_run_at": last_run_at,
        "last_success_at": None,
        "last_error_at": None,
        "last_error": None,
        "watermark": None,
        "last_processed_date": None,
        "consecutive_failures": 0,
        "metadata": {},
        "created_at": NOW,
    }
    return Source(**values | changes)  # type: ignore[arg-type]


def test_sources_are_spread_each_always_by_the_same_amount() -> None:
    moments = {due_at(a_source(f"s{n}", NOW), default_every_s=1000) for n in range(50)}
    assert len(moments) > 40
    assert all(
        NOW + timedelta(seconds=1000) <= moment <= NOW + timedelta(seconds=1000 * (1 + SPREAD))
        for moment in moments
    )
    assert due_at(a_source("s", NOW), default_every_s=9) == due_at(a_source("s", NOW), default_every_s=9)


def test_the_longest_waiting_comes_first_and_a_new_one_before_all() -> None:
    waiting = [
        a_source("old", NOW - timedelta(days=9)),
        a_source("older", NOW - timedelta(days=19)),
        a_source("new"),
        a_source("fresh", NOW),
        a_source("paused", paused=True),
        a_source("broken", status=Status.ERROR, metadata={"fatal": True}),
    ]
    assert [one.name for one in due(waiting, NOW, default_every_s=3600)] == ["new", "older", "old"]


def test_an_unfinished_round_goes_on_at_once_after_all_others() -> None:
    waiting = [
        a_source("slow", NOW - timedelta(days=1), metadata={"unfinished": True}),
        a_source("late", NOW - timedelta(hours=2)),
        a_source("fresh", NOW),
    ]
    assert [one.name for one in due(waiting, NOW, default_every_s=3600)] == ["late", "slow"]
