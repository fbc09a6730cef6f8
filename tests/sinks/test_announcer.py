"""Sending beside other work: a slow sink waits alone, and loses nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from rowen.core.exchange.sink import Sink
from rowen.core.lease import Lease
from rowen.engine.ports import Ports
from rowen.engine.register import Register
from rowen.engine.sink_kind import Sent, SinkKind
from rowen.sinks import announce, announcer
from rowen.sinks.announce import Outcome
from rowen.sinks.announcer import Announcer
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


class Slow:
    """A kind of sink that sends when the test lets it."""

    def __init__(self, world: SinkWorld, *, writes_files: bool = False) -> None:
        self.begun = asyncio.Event()
        self.go = asyncio.Event()
        self.turns = 0
        kind = SinkKind(send=self._send, check=lambda ports, entry: {}, writes_files=writes_files)
        ours = world.ports.sinks
        names = {"slow": lambda: kind, "webhook": lambda: ours.named("webhook")}
        world.ports = replace(world.ports, sinks=Register("sink", names))

    async def _send(self, ports: Ports, sink: Sink, lease: Lease, *, force: bool) -> Sent:
        self.turns += 1
        end = await ports.store.feed_end()
        self.begun.set()
        await self.go.wait()
        return Sent(sent=1, cursor=end)


async def test_a_sink_that_hangs_holds_up_no_other_and_goes_on_with_the_next_sender(
    world: SinkWorld, receiver: Receiver
) -> None:
    slow = Slow(world)
    await world.sink("a-slow", "slow")
    await world.sink("b-hook", "webhook", url=receiver.url)
    source = await world.source()
    async with Announcer(world.ports) as first:
        for text in ("one", "two"):
            await world.show(source, a=text)
            first.notify()
            assert await first.idle(only={"b-hook"}, wait_s=30)
        assert first.busy == ["a-slow"]
        assert receiver.changes == [("a", "added"), ("a", "changed")]
    assert slow.turns == 1
    slow.go.set()
    async with Announcer(world.ports) as second:
        second.notify()
        assert await second.finish() == []
    assert second.done["a-slow"].outcome is Outcome.SENT
    assert (await world.stored("a-slow")).cursor == await world.store.feed_end()


async def test_what_is_shown_while_a_sink_is_sent_to_is_sent_after_it(world: SinkWorld) -> None:
    slow = Slow(world)
    await world.sink("slow", "slow")
    source = await world.source()
    async with Announcer(world.ports) as sending:
        await world.show(source, a="one")
        sending.notify()
        await asyncio.wait_for(slow.begun.wait(), 60)
        for text in ("two", "three"):
            await world.show(source, a=text)
            sending.notify()
            await sending.looked()
        slow.go.set()
        assert await sending.idle(wait_s=60)
    assert slow.turns == 2
    assert (await world.stored("slow")).cursor == await world.store.feed_end()


@pytest.mark.parametrize("writes_files", [False, True])
async def test_a_command_waits_a_moment_for_a_receiver_and_to_the_end_for_a_file(
    world: SinkWorld, monkeypatch: pytest.MonkeyPatch, writes_files: bool
) -> None:
    monkeypatch.setattr(announcer, "MOMENT_S", 0.02)
    monkeypatch.setattr(announcer, "NOTICED_S", 0.01)
    slow = Slow(world, writes_files=writes_files)
    await world.sink("slow", "slow")
    await world.show(await world.source(), a="one")
    told: list[list[str]] = []
    noticed = asyncio.Event()

    def on_wait(busy: list[str]) -> None:
        told.append(busy)
        noticed.set()

    async with Announcer(world.ports) as sending:
        sending.notify()
        finishing = asyncio.create_task(sending.finish(on_wait))
        if writes_files:
            await asyncio.wait_for(noticed.wait(), 60)
            assert not finishing.done()
            slow.go.set()
        assert await finishing == ([] if writes_files else ["slow"])
    assert told == [["slow"]]


async def test_an_attempt_that_takes_hours_is_a_failure(
    world: SinkWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(announce, "TURN_S", 0.01)
    Slow(world)
    await world.sink("slow", "slow")
    await world.show(await world.source(), a="one")
    assert (await world.announce())["slow"].outcome is Outcome.FAILED
    assert "sending did not end within" in str((await world.stored("slow")).last_error)


async def test_a_sink_that_always_fails_rests_and_the_announcer_knows_until_when(
    world: SinkWorld, receiver: Receiver
) -> None:
    await world.sink("index", "webhook", url=receiver.url)
    await world.show(await world.source(), a="one")
    receiver.answers += [Answer(500)] * 100
    async with Announcer(world.ports) as sending:
        for _ in range(announce.PATIENCE + 3):
            sending.notify()
            await sending.idle()
        assert len(receiver.asked) == announce.PATIENCE * (1 + announce.RETRY.retries)
        assert sending.openings(world.clock.now()) == [sending.done["index"].until]


async def test_two_servers_send_every_change_once_and_in_order(world: SinkWorld, receiver: Receiver) -> None:
    await world.sink("index", "webhook", url=receiver.url)
    source = await world.source()
    other = replace(world.ports, owner="other")
    async with Announcer(world.ports) as one, Announcer(other) as two:
        for number in range(6):
            await world.show(source, **{f"p{number}": "text"})
            one.notify()
            two.notify()
        for sending in (one, two, one):
            sending.notify()
            await sending.idle(wait_s=60)
    assert receiver.changes == [(f"p{number}", "added") for number in range(6)]
