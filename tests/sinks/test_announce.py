"""Announcing: every sink at its own pace, one sender at a time, and no failure that spreads."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from rowen.alarms import raising
from rowen.core.exchange import alarm_channels
from rowen.core.exchange.alarm import Alarm
from rowen.core.exchange.sink import Sink, sink_lease_name
from rowen.core.feed import START
from rowen.core.lease import Lease
from rowen.engine.ports import Ports
from rowen.engine.register import Register
from rowen.engine.sink_kind import Sent, SinkKind
from rowen.errors import ConfigError, NotFound, ServerFailed
from rowen.ports.alarms import Route
from rowen.sinks.announce import Outcome, announce
from tests.support.receiver import Answer, Receiver
from tests.support.sinks import SinkWorld, a_sink_world

pytestmark = pytest.mark.anyio


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[SinkWorld]:
    async with a_sink_world(tmp_path) as made:
        yield made


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with Receiver() as running:
        yield running


async def test_without_sinks_nothing_is_written(world: SinkWorld) -> None:
    await world.show(await world.source(), a="one")
    await announce(world.ports)
    before = world.store.rows_written()
    assert await announce(world.ports) == []
    assert world.store.rows_written() == before


async def test_a_sink_that_fails_does_not_stop_the_others(
    world: SinkWorld, receiver: Receiver, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    await world.sink("a-file", "export", file=str(folder / "all.jsonl"))
    await world.sink("b-hook", "webhook", url="http://127.0.0.1:1/")
    await world.sink("c-hook", "webhook", url=receiver.url)
    folder.rmdir()
    await world.show(await world.source(), a="one")
    done = await world.announce()
    outcomes = {name: one.outcome for name, one in done.items()}
    assert outcomes == {"a-file": Outcome.FAILED, "b-hook": Outcome.FAILED, "c-hook": Outcome.SENT}
    assert receiver.changes == [("a", "added")]


async def test_a_bug_in_one_sink_stops_nothing_and_is_kept(
    world: SinkWorld, receiver: Receiver, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    await world.sink("a-hook", "webhook", url=receiver.url)
    await world.sink("b-hook", "webhook", url=receiver.url)
    await world.show(await world.source(), a="one")
    calls, real = 0, world.store.feed

    async def broken_once(*arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise ZeroDivisionError("in the middle of it")
        return await real(*arguments, **named)

    monkeypatch.setattr(world.store, "feed", broken_once)
    done = await world.announce()
    # Sinks run beside each other: which of them meets the bug is not said.
    first, second = sorted(done, key=lambda name: done[name].outcome is Outcome.SENT)
    assert (done[first].outcome, done[second].outcome) == (Outcome.FAILED, Outcome.SENT)
    assert (await world.stored(first)).last_error == "ZeroDivisionError: in the middle of it"
    assert "Traceback" in caplog.text


async def test_two_announcers_at_once_send_once(world: SinkWorld, receiver: Receiver) -> None:
    await world.sink("index", "webhook", url=receiver.url)
    source = await world.source()
    await world.show(source, **{f"p{n}": "text" for n in range(20)})
    first, second = await asyncio.gather(world.announce(), world.announce())
    outcomes = {first["index"].outcome, second["index"].outcome}
    assert Outcome.SENT in outcomes
    assert outcomes & {Outcome.BUSY, Outcome.NOTHING}
    assert len(receiver.asked) == 1


async def test_a_sink_that_somebody_else_sends_to_is_passed_over(
    world: SinkWorld, receiver: Receiver
) -> None:
    await world.sink("index", "webhook", url=receiver.url)
    await world.show(await world.source(), a="one")
    now = world.clock.now()
    held = await world.store.acquire_lease(sink_lease_name("index"), "another", now=now, ttl_s=60)
    assert held is not None
    assert (await world.announce())["index"].outcome is Outcome.BUSY
    assert receiver.asked == []
    await world.store.release_lease(held)
    assert (await world.announce())["index"].outcome is Outcome.SENT


async def test_a_sender_that_lost_its_lease_writes_nothing_more(
    world: SinkWorld, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.sink("index", "webhook", url=receiver.url)
    await world.show(await world.source(), a="one")
    real = world.store.feed

    async def slept_through(*arguments: Any, **named: Any) -> Any:
        now = world.clock.now()
        world.clock.advance(3600)
        later = world.clock.now()
        assert later > now
        await world.store.acquire_lease(sink_lease_name("index"), "another", now=later, ttl_s=60)
        return await real(*arguments, **named)

    monkeypatch.setattr(world.store, "feed", slept_through)
    before = await world.stored("index")
    assert (await world.announce())["index"].outcome is Outcome.BUSY
    assert await world.stored("index") == before


async def test_a_sink_of_a_kind_nobody_knows_is_written_down(world: SinkWorld) -> None:
    await world.store.save_sink("old", kind="telegraph", settings={}, cursor=START)
    await world.show(await world.source(), a="one")
    done = await world.announce()
    assert done["old"].error is not None
    assert "no such kind of sink" in done["old"].error.message
    assert (await world.stored("old")).failures == 1


async def test_a_name_that_is_no_sink_is_said(world: SinkWorld, receiver: Receiver) -> None:
    await world.sink("index", "webhook", url=receiver.url)
    with pytest.raises(NotFound, match="sink `indx`: no such sink"):
        await world.announce("indx")


async def test_only_the_named_sinks_are_sent_to(world: SinkWorld, receiver: Receiver) -> None:
    for name in ("one", "two"):
        await world.sink(name, "webhook", url=receiver.url)
    await world.show(await world.source(), a="one")
    assert list(await world.announce("two")) == ["two"]
    assert [one.json["sink"] for one in receiver.taken] == ["two"]


async def test_alarms_hear_of_a_sink_that_fails_and_works_again(
    world: SinkWorld, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    told: list[Alarm] = []

    async def deliver(route: Route, alarm: Alarm) -> None:
        told.append(alarm)

    object.__setattr__(world.ports, "deliver_alarm", deliver)
    await raising.save_channels(world.ports.store, alarm_channels.read([{"kind": "log"}], where="here"))
    await world.sink("index", "webhook", url=receiver.url)
    await world.show(await world.source(), a="one")
    receiver.answers += [Answer(500)] * 3
    for _ in range(2):
        await world.announce()
    assert [(alarm.what.value, alarm.sink) for alarm in told] == [("sink", "index"), ("recovered", "index")]


async def test_companies_that_cannot_be_read_stop_no_sink(
    world: SinkWorld, receiver: Receiver, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(ports: object) -> int:
        raise ZeroDivisionError

    monkeypatch.setattr("rowen.offers.companies.project", broken)
    await world.sink("index", "webhook", url=receiver.url)
    await world.show(await world.source(), a="one")
    assert (await world.announce())["index"].outcome is Outcome.SENT
    assert "companies_failed" in caplog.text


async def test_a_sink_that_was_removed_meanwhile_is_no_bug(
    world: SinkWorld, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.sink("index", "webhook", url=receiver.url)
    await world.show(await world.source(), a="one")
    real = world.store.acquire_lease

    async def removed_meanwhile(name: str, *arguments: Any, **named: Any) -> Any:
        await world.store.remove_sink("index")
        return await real(name, *arguments, **named)

    monkeypatch.setattr(world.store, "acquire_lease", removed_meanwhile)
    done = await world.announce()
    assert done["index"].outcome is Outcome.FAILED
    assert receiver.asked == []


async def test_what_a_sink_remembers_of_its_failure_is_kept(
    world: SinkWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    until = world.clock.now() + timedelta(hours=3)
    answers = [
        Sent(sent=2, state={"seen": 1}, waiting_until=until, error=ServerFailed("half of it")),
        Sent(sent=1, state={"seen": 2}, waiting_until=until),
        Sent(sent=0, waiting_until=until),
        Sent(sent=3, state={"seen": 3}),
    ]

    async def send(ports: Ports, sink: Sink, lease: Lease, *, force: bool) -> Sent:
        return answers.pop(0)

    odd = SinkKind(send=send, check=lambda ports, entry: {}, stale=lambda sink, sources: True)
    world.ports = replace(world.ports, sinks=Register("sink", {"odd": lambda: odd}))
    await world.sink("odd", "odd")
    await world.show(await world.source(), a="one")
    done = (await world.announce())["odd"]
    assert (done.outcome, done.sent, done.until) == (Outcome.FAILED, 2, until)
    stored = await world.stored("odd")
    assert (stored.last_error, stored.state, stored.failures) == ("half of it", {"seen": 1}, 1)
    done = (await world.announce())["odd"]
    assert (done.outcome, done.sent) == (Outcome.WAITS, 1)
    stored = await world.stored("odd")
    assert (stored.last_error, stored.state) == (None, {"seen": 2})
    await world.announce()
    assert await world.stored("odd") == stored
    await world.announce()
    # It does not read the feed, and still has everything that is in it.
    assert (await world.stored("odd")).cursor == await world.store.feed_end()


async def test_whoever_comes_second_finds_nothing_left(
    world: SinkWorld, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.sink("index", "webhook", url=receiver.url)
    await world.show(await world.source(), a="one")
    real = world.store.acquire_lease

    async def another_first(*arguments: Any, **named: Any) -> Any:
        monkeypatch.setattr(world.store, "acquire_lease", real)
        assert (await world.announce())["index"].outcome is Outcome.SENT
        return await real(*arguments, **named)

    monkeypatch.setattr(world.store, "acquire_lease", another_first)
    assert (await world.announce())["index"].outcome is Outcome.NOTHING
    assert len(receiver.asked) == 1


async def test_settings_that_have_become_wrong_are_written_down(world: SinkWorld) -> None:
    await world.store.save_sink("people", kind="sheets", settings={"sheet": ""}, cursor=START)
    await world.show(await world.source(), a="one")
    assert (await world.announce())["people"].outcome is Outcome.FAILED
    assert (await world.stored("people")).failures == 1


@pytest.mark.parametrize(("kind", "setting"), [("webhook", "url"), ("export", "file"), ("atom", "file")])
async def test_a_sink_that_leads_nowhere_is_refused(world: SinkWorld, kind: str, setting: str) -> None:
    with pytest.raises(ConfigError, match=f"sink `x`: setting `{setting}`: missing"):
        await world.sink("x", kind)


async def test_a_spreadsheet_waits_for_its_night_without_a_write(world: SinkWorld) -> None:
    world.clock.advance(12 * 3600)
    sheet = "https://docs.google.com/spreadsheets/d/abcdefghijklmnop/edit"
    await world.sink("people", "sheets", spreadsheet=sheet, credentials="${KEY}")
    await world.show(await world.source(), a="one")
    await announce(world.ports)
    before = world.store.rows_written()
    done = await world.announce()
    assert done["people"].outcome is Outcome.WAITS
    assert f"{done['people'].until:%H:%M}" == "02:00"
    assert world.store.rows_written() == before
