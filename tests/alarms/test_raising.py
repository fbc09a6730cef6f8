"""Alarms in the life of sources and sinks: raised once, after the retries, and never at a run's cost."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rowen.alarms import raising
from rowen.core.exchange import alarm_channels
from rowen.core.exchange.alarm import Alarm, What
from rowen.core.exchange.sink import Sink
from rowen.core.feed import START
from rowen.core.run import RunStatus
from rowen.doors.mcp.refreshing import alone, through
from rowen.engine.ports import no_alarms
from rowen.engine.receipt import Receipt
from rowen.engine.run import sync
from rowen.errors import ServerFailed, StoreBusy, TransientError, UserError
from rowen.ports.alarms import Route
from rowen.reading import history
from rowen.service.attempts import run_source
from rowen.service.serve import serve
from rowen.service.sync_queue import SyncQueue
from tests.support.site import Site, html
from tests.support.world import World, a_page, a_world

pytestmark = pytest.mark.anyio


class Told:
    """A channel that keeps what it is told."""

    def __init__(self) -> None:
        self.alarms: list[Alarm] = []
        self.routes: list[Route] = []
        self.failures: list[Exception] = []

    async def __call__(self, route: Route, alarm: Alarm) -> None:
        self.routes.append(route)
        if self.failures:
            raise self.failures.pop(0)
        self.alarms.append(alarm)

    @property
    def what(self) -> list[str]:
        return [alarm.what.value for alarm in self.alarms]


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
async def world(tmp_path: Path, told: Told) -> AsyncIterator[World]:
    with Site({"/": html("Home", "barley")}) as site:
        async with a_world(tmp_path, site) as made:
            made.ports = replace(made.ports, deliver_alarm=told)
            yield made


async def attempt(world: World, name: str = "docs") -> Receipt:
    """One result of a source, as the orchestrator does it."""
    before = await world.source(name)
    receipt = await run_source(world.ports, before)
    assert isinstance(receipt, Receipt)
    world.clock.advance(7 * 3600)
    return receipt


async def channels(world: World, *tables: dict[str, Any]) -> None:
    await raising.save_channels(world.ports.store, alarm_channels.read(tables, where="test"))


async def test_a_source_that_works_raises_nothing_and_writes_nothing(world: World, told: Told) -> None:
    await world.add()
    before = await world.source()
    receipt = await sync(world.ports, before)
    written = world.store.rows_written()
    await raising.after_source(world.ports, before, receipt)
    assert told.alarms == []
    assert world.store.rows_written() == written


async def test_a_streak_of_failures_is_told_once_and_so_is_its_end(world: World, told: Told) -> None:
    await world.add()
    await attempt(world)
    world.site.everything_answers(500)
    await attempt(world)
    await attempt(world)
    (alarm,) = told.alarms
    assert (alarm.what, alarm.source, alarm.failures) == (What.ERROR, "docs", 3)
    assert "500 from the server" in alarm.message
    world.site.everything_answers(None)
    await attempt(world)
    await attempt(world)
    assert told.what == ["error", "recovered"]
    assert told.alarms[1].text == "source `docs` works again"
    world.site.everything_answers(500)
    await attempt(world)
    assert told.what == ["error", "recovered", "error"]


async def test_wrong_credentials_are_told_as_fatal_with_what_to_do(world: World, told: Told) -> None:
    await world.add()
    await attempt(world)
    world.site.everything_answers(403)
    await attempt(world)
    (alarm,) = told.alarms
    assert alarm.what is What.FATAL
    assert alarm.hint


async def test_a_failure_that_becomes_fatal_is_told_again(world: World, told: Told) -> None:
    await world.add()
    await attempt(world)
    for status in (500, 403, 500):
        world.site.everything_answers(status)
        await attempt(world)
    assert told.what == ["error", "fatal"]


async def test_a_held_generation_is_told_until_a_person_has_approved_it(world: World, told: Told) -> None:
    paths = [f"/p{number}.html" for number in range(30)]
    for path in paths:
        world.site.set(path, a_page(path))
    world.site.set("/", html("Home", links=paths))
    await world.add()
    await attempt(world)
    world.site.set("/", html("Home", links=paths[:1]))
    await attempt(world)
    await attempt(world)
    assert told.what == ["held"]
    assert "rowen approve docs" in (told.alarms[0].hint or "")
    await history.approve(world.ports, await world.source())
    await attempt(world)
    assert told.what == ["held", "recovered"]


async def test_a_client_that_limits_us_is_no_alarm_until_it_does_nothing_else(
    world: World, told: Told
) -> None:
    await world.add()
    await attempt(world)
    world.site.everything_answers(429)
    for _ in range(2):
        await attempt(world)
    assert told.alarms == []
    await attempt(world)
    assert told.what == ["error"]


async def test_a_recovery_by_hand_ends_the_streak(world: World, told: Told) -> None:
    await world.add()
    await attempt(world)
    world.site.everything_answers(500)
    await attempt(world)
    world.site.everything_answers(None)
    await world.sync()
    world.site.everything_answers(500)
    await attempt(world)
    assert told.what == ["error", "error"]


async def test_a_source_that_was_removed_leaves_no_mark_on_the_next_of_its_name(
    world: World, told: Told
) -> None:
    source = await world.add()
    world.site.everything_answers(500)
    await attempt(world)
    await world.store.remove_source(source.id, now=world.clock.now())
    world.site.everything_answers(None)
    await world.add()
    world.site.everything_answers(500)
    await attempt(world)
    assert told.what == ["error", "error"]


async def test_channels_are_told_what_they_want(world: World, told: Told) -> None:
    await channels(
        world,
        {"kind": "log", "name": "all"},
        {"kind": "log", "name": "others", "sources": ["other*"]},
        {"kind": "log", "name": "patient", "after": 4},
        {"kind": "log", "name": "sinks", "on": ["sink"]},
    )
    await world.add()
    world.site.everything_answers(500)
    await attempt(world)
    assert [route.name for route in told.routes] == ["all"]
    await attempt(world)
    assert [route.name for route in told.routes] == ["all", "patient"]


async def test_no_channels_means_silence(world: World, told: Told) -> None:
    await channels(world)
    await world.add()
    world.site.everything_answers(500)
    await attempt(world)
    assert told.routes == []
    await raising.save_channels(world.ports.store, None)
    assert await raising.channels(world.ports.store) == [alarm_channels.DEFAULT]


async def test_secrets_are_filled_in_when_they_are_needed(world: World, told: Told) -> None:
    await channels(world, {"kind": "webhook", "url": "${HOOK_URL}", "secret": "${HOOK_SECRET}"})
    world.secrets |= {"HOOK_URL": "https://hooks.example/T0K3N", "HOOK_SECRET": "hush"}
    await world.add()
    world.site.everything_answers(500)
    await attempt(world)
    (route,) = told.routes
    assert route.settings == {"url": "https://hooks.example/T0K3N", "secret": "hush"}
    assert "T0K3N" not in repr(route)
    stored = json.dumps(await world.store.note(raising.NOTE))
    assert "T0K3N" not in stored
    assert "${HOOK_URL}" in stored


async def test_a_channel_that_fails_is_logged_and_told_the_next_time(
    world: World, told: Told, caplog: pytest.LogCaptureFixture
) -> None:
    await channels(world, {"kind": "webhook", "url": "https://hooks.example/x", "secret": "${HUSH}"})
    world.secrets["HUSH"] = "hush-hush"
    await world.add()
    world.site.everything_answers(500)
    told.failures = [UserError("the secret is hush-hush")]
    receipt = await attempt(world)
    assert not receipt.good
    assert "alarm_not_delivered channel=webhook" in caplog.text
    assert "the secret is ***" in caplog.text
    assert "hush-hush" not in caplog.text
    await attempt(world)
    assert told.what == ["error"]


async def test_a_missing_secret_is_logged(world: World, told: Told, caplog: pytest.LogCaptureFixture) -> None:
    await channels(world, {"kind": "webhook", "url": "${HOOK_URL}"}, {"kind": "log"})
    await world.add()
    world.site.everything_answers(500)
    await attempt(world)
    assert "variable `HOOK_URL`: not set, and setting `alarms.webhook.url` needs it" in caplog.text
    assert [route.name for route in told.routes] == ["log"]


async def test_a_channel_is_tried_three_times_when_that_may_help(world: World, told: Told) -> None:
    await world.add()
    world.site.everything_answers(500)
    told.failures = [TransientError("away"), TransientError("away")]
    await attempt(world)
    assert told.what == ["error"]
    assert len(told.routes) == 3


async def test_a_channel_that_stays_away_costs_nobody_anything(
    world: World, told: Told, caplog: pytest.LogCaptureFixture
) -> None:
    await world.add()
    world.site.everything_answers(500)
    told.failures = [TransientError("away") for _ in range(3)]
    await attempt(world)
    assert told.alarms == []
    assert "error='away'" in caplog.text


async def test_a_bug_in_a_channel_fails_no_run(
    world: World, told: Told, caplog: pytest.LogCaptureFixture
) -> None:
    await world.add()
    world.site.everything_answers(500)
    told.failures = [ZeroDivisionError("a bug")]
    await attempt(world)
    assert "ZeroDivisionError: a bug" in caplog.text


async def test_a_store_that_is_busy_fails_no_run(
    world: World, told: Told, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.add()
    world.site.everything_answers(500)

    async def busy(name: str, value: Any) -> None:
        raise StoreBusy("the store is busy")

    monkeypatch.setattr(world.store, "save_note", busy)
    await attempt(world)
    assert "alarm_failed" in caplog.text


async def test_without_the_adapter_it_is_logged(world: World, caplog: pytest.LogCaptureFixture) -> None:
    world.ports = replace(world.ports, deliver_alarm=no_alarms)
    await world.add()
    world.site.everything_answers(500)
    await attempt(world)
    assert "no channels for alarms were set up" in caplog.text


async def a_sink(world: World) -> Sink:
    (sink,) = await world.store.sinks()
    return sink


async def test_a_sink_raises_one_alarm_for_a_streak_and_says_when_it_is_over(
    world: World, told: Told
) -> None:
    await world.store.save_sink("people", kind="sheets", settings={}, cursor=START)
    error = ServerFailed("spreadsheet `x`: 503 from Google", hint="wait")
    for outcome in (error, error, None, None, error):
        before = await a_sink(world)
        lease = await world.store.acquire_lease("sink:people", "me", now=world.clock.now(), ttl_s=60)
        assert lease is not None
        await world.store.move_sink(
            lease,
            "people",
            cursor=None,
            state=None,
            error=outcome.message if outcome else None,
            now=world.clock.now(),
        )
        await world.store.release_lease(lease)
        await raising.after_sink(world.ports, before, outcome)
    assert told.what == ["sink", "recovered", "sink"]
    first, second, _ = told.alarms
    assert (first.sink, first.message, first.hint) == ("people", error.message, "wait")
    assert second.text == "sink `people` works again"


async def test_a_cancelled_run_is_nobodys_alarm(world: World, told: Told) -> None:
    await world.add()
    before = await world.source()
    receipt = await sync(world.ports, before)
    cancelled = replace(receipt, status=RunStatus.CANCELLED, failure=None)
    await raising.after_source(world.ports, before, cancelled)
    assert told.routes == []


@pytest.mark.parametrize("asked_by", ["a call that waits", "a call that does not wait", "a hook", "MCP"])
async def test_a_run_raises_its_alarm_once_whoever_asked_for_it(
    world: World, told: Told, asked_by: str
) -> None:
    source = await world.add()
    world.site.everything_answers(500)
    async with SyncQueue(world.ports) as queue:
        if asked_by == "a call that waits":
            await asyncio.gather(queue.sync(source), queue.sync(source))
        elif asked_by == "a call that does not wait":
            await queue.begin(source)
        elif asked_by == "a hook":
            await world.store.request_sync(source.id, only=None, reason="push", now=world.clock.now())
        else:
            await through(queue)(world.ports, source, on_event=lambda event: None)
        looking = serve(
            world.ports, default_every_s=86_400.0, run=queue.run_source, announcer=queue.announcer
        )
        if asked_by != "a call that waits" and asked_by != "MCP":
            async with aclosing(looking):
                await anext(looking)
    assert told.what == ["error"]


async def test_a_run_for_an_assistant_that_started_the_server_raises_alarms_too(
    world: World, told: Told
) -> None:
    source = await world.add()
    world.site.everything_answers(500)
    await alone(world.ports, source, on_event=lambda event: None)
    assert told.what == ["error"]


async def test_a_hold_that_nobody_decides_for_three_days_is_told_once_more(world: World, told: Told) -> None:
    pages = {f"/{n}": a_page(f"/{n}", "oats") for n in range(30)}
    for path, body in pages.items():
        world.site.set(path, body)
    world.site.set("/", html("Home", "barley", links=list(pages)))
    await world.add()
    await attempt(world)
    for path in list(pages)[:20]:
        world.site.set(path, "gone", status=404)
    assert (await attempt(world)).status is RunStatus.HELD
    await raising.about_holds(world.ports, [await world.source()])
    assert told.what == ["held"]
    world.clock.advance(3 * 86_400)
    for _ in range(2):
        await raising.about_holds(world.ports, [await world.source()])
    assert told.what == ["held", "still_held"]
    assert "readers still see generation 1" in told.alarms[-1].message
    await history.approve(world.ports, await world.source())
    await raising.about_holds(world.ports, [await world.source()])
    await attempt(world)
    assert told.what == ["held", "still_held", "recovered"]
