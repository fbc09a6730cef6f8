"""When a source is due."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from rowen.core.rules.schedule import SPREAD, due, due_at, request_due_at
from rowen.core.source import Source, Status
from rowen.core.sync_request import SyncRequest

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
    moments = {due_at(a_source(f"s{n}", NOW), NOW, default_every_s=1000) for n in range(50)}
    assert len(moments) > 40
    assert all(
        NOW + timedelta(seconds=1000) <= moment <= NOW + timedelta(seconds=1000 * (1 + SPREAD))
        for moment in moments
    )
    assert due_at(a_source("s", NOW), NOW, default_every_s=9) == due_at(
        a_source("s", NOW), NOW, default_every_s=9
    )


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


def test_a_source_whose_last_run_lies_in_the_future_is_due_now() -> None:
    ahead = a_source("s", NOW + timedelta(days=400))
    assert due([ahead], NOW, default_every_s=3600) == [ahead]
    assert due([a_source("s", NOW + timedelta(minutes=1))], NOW, default_every_s=3600) == [], "a small skew"


@pytest.mark.parametrize(
    ("location", "params", "upstream"),
    [
        ("https://d.example/a", {}, "d.example"),
        ("https://d.example:8443/a", {}, "d.example:8443"),
        ("https://d.example/a", {"bearer": "${WORK}"}, "d.example as WORK"),
        ("https://d.example/a", {"header": {"X-Key": "${HOME_KEY}"}}, "d.example as HOME_KEY"),
        ("/srv/notes", {}, "web"),
    ],
)
def test_a_pause_belongs_to_a_host_with_its_port_and_account(
    location: str, params: dict[str, object], upstream: str
) -> None:
    assert a_source("s", location=location, params=params).upstream == upstream


def test_a_request_that_was_made_in_the_future_is_carried_out_now() -> None:
    request = SyncRequest(
        source_id=1, number=1, only=None, full=False, reason="api", requested_at=NOW + timedelta(days=400)
    )
    source = a_source("s", NOW - timedelta(hours=1))
    assert request_due_at(source, request, NOW) <= NOW
    failing = replace(source, last_run_at=NOW + timedelta(days=400), consecutive_failures=2)
    assert request_due_at(failing, replace(request, requested_at=NOW), NOW) <= NOW
