"""What carries tickets between processes promises the same on every database."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from rowen import config as settings
from rowen import wiring
from rowen.engine.ports import Ports
from rowen.errors import LeaseLost
from rowen.ports.dispatcher import INGEST, Answer, Dispatcher, Done, Handler, Later, Ticket
from tests.contract.helpers import NOW, a_draft, a_run, a_source
from tests.support.waiting import until

pytestmark = pytest.mark.anyio

HELD_S = 2.0
"""For the one test that waits for it."""
A, B = "https://docs.example/a", "https://docs.example/b"

HANGS = """
import asyncio, sys
from rowen import config as settings, wiring

async def main():
    config, _ = settings.load(db=sys.argv[1], environment={"ROWEN_WORKERS_HELD_S": sys.argv[2]})

    async def hang(ticket):
        print("holding", flush=True)
        await asyncio.Event().wait()

    async with wiring.open_ports(config) as ports:
        await ports.dispatcher().run({"work": hang}, concurrency=1, stop=asyncio.Event())

asyncio.run(main())
"""


@asynccontextmanager
async def opened(url: str, *, held_s: float = 30.0) -> AsyncIterator[Ports]:
    config, _ = settings.load(db=url, environment={"ROWEN_WORKERS_HELD_S": str(held_s)})
    async with wiring.open_ports(config) as ports:
        yield ports


class Working:
    """A dispatcher that runs beside the test until it is told to stop."""

    def __init__(self, dispatcher: Dispatcher, handler: Handler, *, concurrency: int = 1) -> None:
        self.stop = asyncio.Event()
        self.task = asyncio.create_task(
            dispatcher.run({"work": handler}, concurrency=concurrency, stop=self.stop)
        )

    async def __aenter__(self) -> Working:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.stop.set()
        await asyncio.gather(self.task, return_exceptions=True)


def counting(met: list[int], *, enough: int, done: asyncio.Event) -> Handler:
    async def handle(ticket: Ticket) -> Answer:
        met.append(ticket.payload["n"])
        if len(met) >= enough:
            done.set()
        return Done()

    return handle


async def emptied(dispatcher: Dispatcher) -> None:
    async def empty() -> bool:
        backlog = await dispatcher.backlog()
        return backlog.waiting == backlog.running == 0

    await until(empty)


async def test_every_ticket_is_handled_once_the_urgent_ones_first(engine: str) -> None:
    async with opened(engine) as ports:
        dispatcher = ports.dispatcher()
        await dispatcher.submit("work", [{"n": n} for n in range(5)])
        await dispatcher.submit("work", [{"n": 100}], priority=5)
        assert (await dispatcher.backlog()).waiting == 6
        assert [p["n"] for p in await dispatcher.outstanding("work")] == [0, 1, 2, 3, 4, 100]
        met: list[int] = []
        done = asyncio.Event()
        async with Working(dispatcher, counting(met, enough=6, done=done)):
            await asyncio.wait_for(done.wait(), 120)
            await emptied(dispatcher)
        assert met == [100, 0, 1, 2, 3, 4]
        assert (await dispatcher.backlog()).oldest_at is None


async def test_a_ticket_that_is_put_off_comes_back_after_its_time(engine: str) -> None:
    async with opened(engine) as ports:
        dispatcher = ports.dispatcher()
        seen: list[float] = []
        done = asyncio.Event()

        async def handle(ticket: Ticket) -> Answer:
            seen.append(ports.clock.monotonic())
            if len(seen) == 1:
                return Later(0.5, "not yet")
            done.set()
            return Done()

        await dispatcher.submit("work", [{"n": 1}])
        async with Working(dispatcher, handle):
            await asyncio.wait_for(done.wait(), 120)
        assert seen[1] - seen[0] >= 0.45
        await emptied(dispatcher)


async def test_a_ticket_for_later_waits_while_others_go(engine: str) -> None:
    async with opened(engine) as ports:
        dispatcher = ports.dispatcher()
        await dispatcher.submit("work", [{"n": 1}], delay_s=3600)
        await dispatcher.submit("work", [{"n": 2}])
        met: list[int] = []
        done = asyncio.Event()
        async with Working(dispatcher, counting(met, enough=1, done=done)):
            await asyncio.wait_for(done.wait(), 120)
        assert met == [2]
        assert [p["n"] for p in await dispatcher.outstanding("work")] == [1]


async def test_a_handler_with_a_bug_loses_no_ticket_and_stops_no_other(
    engine: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(engine) as ports:
        dispatcher = ports.dispatcher()
        met: list[int] = []

        async def handle(ticket: Ticket) -> Answer:
            met.append(ticket.payload["n"])
            if ticket.payload["n"] == 1:
                raise RuntimeError("a bug")
            return Done()

        await dispatcher.submit("work", [{"n": 1}, {"n": 2}])

        async def both() -> bool:
            return {1, 2} <= set(met) and len(await dispatcher.outstanding("work")) == 1

        async with Working(dispatcher, handle):
            await until(both)
        assert [p["n"] for p in await dispatcher.outstanding("work")] == [1]
    assert "a bug" in caplog.text


async def test_stopping_lets_what_is_under_way_end_and_begins_nothing_new(engine: str) -> None:
    async with opened(engine) as ports:
        dispatcher = ports.dispatcher()
        await dispatcher.submit("work", [{"n": 1}, {"n": 2}])
        begun, may_end, met = asyncio.Event(), asyncio.Event(), []

        async def handle(ticket: Ticket) -> Answer:
            begun.set()
            await may_end.wait()
            met.append(ticket.payload["n"])
            return Done()

        async with Working(dispatcher, handle) as working:
            await asyncio.wait_for(begun.wait(), 120)
            working.stop.set()
            may_end.set()
            await asyncio.wait_for(working.task, 120)
        assert met == [1]
        assert [p["n"] for p in await dispatcher.outstanding("work")] == [2]


async def test_no_more_tickets_are_under_way_than_allowed(engine: str) -> None:
    async with opened(engine) as ports:
        dispatcher = ports.dispatcher()
        await dispatcher.submit("work", [{"n": n} for n in range(12)])
        now, most, met = 0, 0, 0
        several, done = asyncio.Event(), asyncio.Event()

        async def handle(ticket: Ticket) -> Answer:
            nonlocal now, most, met
            now += 1
            most = max(most, now)
            if now > 1:
                several.set()
            await asyncio.wait_for(several.wait(), 120)
            await asyncio.sleep(0.01)
            now -= 1
            met += 1
            if met == 12:
                done.set()
            return Done()

        async with Working(dispatcher, handle, concurrency=3):
            await asyncio.wait_for(done.wait(), 120)
        assert 1 < most <= 3


@pytest.mark.torture
async def test_two_processes_share_the_tickets(engine: str) -> None:
    async with opened(engine) as one, opened(engine) as other:
        met: list[int] = []
        done = asyncio.Event()
        handle = counting(met, enough=40, done=done)
        await one.dispatcher().submit("work", [{"n": n} for n in range(40)])
        async with Working(one.dispatcher(), handle), Working(other.dispatcher(), handle):
            await asyncio.wait_for(done.wait(), 120)
            await emptied(one.dispatcher())
        assert sorted(met) == list(range(40))


@pytest.mark.torture
async def test_a_ticket_whose_process_was_killed_goes_to_another(engine: str) -> None:
    async with opened(engine, held_s=HELD_S) as ports:
        dispatcher = ports.dispatcher()
        await dispatcher.submit("work", [{"n": 7}])
        child = subprocess.Popen(  # noqa: ASYNC220 - it takes no time
            [sys.executable, "-c", HANGS, engine, str(HELD_S)], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        assert await asyncio.to_thread(child.stdout.readline) == "holding\n"
        assert (await dispatcher.backlog()).running == 1
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        met: list[int] = []
        done = asyncio.Event()
        async with Working(dispatcher, counting(met, enough=1, done=done)):
            await asyncio.wait_for(done.wait(), 120)
        assert met == [7]


async def test_handing_off_and_its_ticket_are_one_transaction(engine: str) -> None:
    async with opened(engine) as ports:
        source = await a_source(ports.store)
        lease, run = await a_run(ports.store, source)
        dispatcher = ports.dispatcher()
        with pytest.raises(LeaseLost):
            await ports.store.stage(
                replace(lease, token=lease.token + 1), run, [a_draft(A, "a")], now=NOW, dispatch=True
            )
        assert await dispatcher.outstanding(INGEST) == []
        staged = await ports.store.stage(
            lease, run, [a_draft(A, "a"), a_draft(B, "b")], now=NOW, dispatch=True
        )
        (payload,) = await dispatcher.outstanding(INGEST)
        assert payload["handoffs"] == [one.handoff_id for one in staged]
        assert (payload["run"], payload["token"]) == (run.id, lease.token)
        waiting = await ports.store.staged(run, payload["handoffs"])
        assert [one.draft.text for one in waiting] == ["a", "b"]
