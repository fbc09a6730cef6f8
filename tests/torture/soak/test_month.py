"""A month in the life of an orchestrator: five sources, two clients, and everything that can go wrong.

Time is simulated, the rest is real: servers, database, sheet. It begins before the night in which clocks in
Madrid are put forward, and ends after it.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from rowen.core.feed import START as FIRST
from rowen.core.lease import HEARTBEAT_S
from rowen.core.rules.schedule import PAUSE_S
from rowen.core.run import RunStatus
from rowen.core.source import Source
from rowen.engine.ports import Ports
from rowen.managing import sources
from rowen.service import serve as orchestrate
from rowen.sinks.announcer import Announcer
from tests.support.board_server import ApiServer, an_item, stamp
from tests.support.fakes import FakeClock
from tests.support.sheets_server import BOOK, SheetsServer
from tests.support.site import Site
from tests.support.world import World, a_world
from tests.torture.tally import Tally

pytestmark = pytest.mark.anyio

BEGIN = datetime(2024, 3, 10, tzinfo=UTC)
DAYS = 30
EVERY_H = 4
SEED_DAYS = 12
MADRID = ZoneInfo("Europe/Madrid")
OFFER = {
    "offer.provider": "board",
    "offer.company_name": "company",
    "offer.place": "place",
    "offer.posted": "updated",
}
LISTED = {"path": "/items", "items": "items", "id": "id", "title": "title", "text": "description"}
BY_DATE = {
    **LISTED,
    "updated": "updated",
    "window": "date",
    "order": "desc",
    "param.sort": "desc",
    "param.since": "{since}",
    "param.until": "{until}",
    "paging": "page",
    "param.page": "{page}",
    "param.limit": "{limit}",
    "page_size": "20",
}


class Died(BaseException):
    """What a process does under `kill -9`: nothing, from one moment to the next."""


class Mortal:
    """A store that stops answering in the middle of things, as it does for a process that is gone."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.dies_after: int | None = None
        self.dead = False

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._store, name)
        if name == "rows_written":  # the one method that does not wait
            return real

        async def call(*args: Any, **kwargs: Any) -> Any:
            if self.dies_after is not None:
                self.dies_after -= 1
                self.dead = self.dead or self.dies_after < 0
            if self.dead:
                raise Died
            return await real(*args, **kwargs)

        return call


class Calendar(FakeClock):
    """Waiting takes no time. What goes on beside a run, such as heartbeats and the loop's look at who waits,
    waits for others to move the time.
    """

    def __init__(self) -> None:
        super().__init__(BEGIN)
        self.happenings: list[tuple[datetime, int, Any]] = []
        self.sinks: Announcer | None = None
        self.loop: asyncio.Task[Any] | None = None

    async def sleep(self, seconds: float) -> None:
        if seconds in (HEARTBEAT_S, orchestrate.FULL_S):
            await super().sleep(seconds)
            return
        if self.sinks is not None and asyncio.current_task() is self.loop:
            # What is sent beside the loop takes real time, and hardly any of the calendar's.
            await self.sinks.idle()
        self.advance(seconds)
        await asyncio.sleep(0)

    def advance(self, seconds: float) -> None:
        super().advance(seconds)
        while self.happenings and self.happenings[0][0] <= self.now():
            self.happenings.pop(0)[2]()


class Board(ApiServer):
    """One list, with the simulated time of every request."""

    def __init__(self, clock: Calendar, name: str, *, host: str) -> None:
        super().__init__(host=host)
        self.clock, self.name = clock, name
        self.times: list[tuple[datetime, int]] = []
        self.numbers = 0
        self.quirks.etag = False

    def publish(self, at: datetime, *, edit: int | None = None) -> None:
        if edit is None:
            self.numbers += 1
        number = edit or self.numbers
        company = f"Company {number % 7}"
        text = f"{self.name} offers work {number}, as written at {at:%Y-%m-%d %H:%M}."
        row = an_item(number, description=text, company=company, place="Madrid")
        self.put({**row, "updated": stamp(at)})

    def _log(self, request: Any, status: int) -> None:
        self.times.append((self.clock.now(), status))
        super()._log(request, status)


@contextlib.contextmanager
def boards(clock: Calendar) -> Iterator[dict[str, Board]]:
    """Three lists at one client, two at another."""
    with contextlib.ExitStack() as stack:
        hosts = {
            "a1": "127.0.0.1",
            "a2": "127.0.0.1",
            "a3": "127.0.0.1",
            "b1": "localhost",
            "b2": "localhost",
        }
        yield {name: stack.enter_context(Board(clock, name, host=host)) for name, host in hosts.items()}


class Month:
    def __init__(self, world: World, clock: Calendar, found: dict[str, Board], google: SheetsServer) -> None:
        self.world, self.clock, self.boards, self.google = world, clock, found, google
        self.limits: list[tuple[str, datetime, datetime]] = []
        """Client, when it limited us, until when it must be left alone."""
        self.crashes = 0
        self.touched: list[datetime] = []
        google.before = lambda kind, number: self.touched.append(clock.now())

    def script(self) -> None:
        """What happens outside, and when."""
        chance = random.Random(7)
        plan: list[tuple[datetime, Any]] = []
        for board in self.boards.values():
            for day in range(-SEED_DAYS, 0):
                board.publish(BEGIN + timedelta(days=day, hours=chance.uniform(1, 23)))
            for day in range(DAYS):
                for _ in range(2):
                    at = BEGIN + timedelta(days=day, hours=chance.uniform(0, 24))
                    plan.append((at, lambda board=board, at=at: board.publish(at)))
                at = BEGIN + timedelta(days=day, hours=chance.uniform(0, 24))
                number = chance.randint(1, SEED_DAYS)
                plan.append((at, lambda b=board, at=at, n=number: b.publish(at, edit=n)))
        for day, name, retry_after in ((3, "a1", "5400"), (8, "b1", ""), (15, "a2", ""), (20, "a3", "120")):
            plan.append((BEGIN + timedelta(days=day, hours=5), self._limit(name, retry_after)))
        for day, name in ((5, "b2"), (12, "a1"), (18, "b1")):
            start = BEGIN + timedelta(days=day, hours=2)
            plan.append((start, self._status(name, 503)))
            plan.append((start + timedelta(hours=9), self._status(name, 0)))
        plan.sort(key=lambda one: one[0])
        self.clock.happenings = [(at, number, what) for number, (at, what) in enumerate(plan)]

    def _limit(self, name: str, retry_after: str) -> Any:
        board = self.boards[name]

        def begin() -> None:
            board.quirks.rate_limit_at = len(board.asked) + 1
            board.quirks.retry_after = retry_after

        return begin

    def _status(self, name: str, status: int) -> Any:
        def change() -> None:
            self.boards[name].quirks.status = status

        return change

    def note_limits(self) -> None:
        """A client limits us once; we note when, and it answers again from then on."""
        for name, board in self.boards.items():
            if board.quirks.rate_limit_at and any(one.status == 429 for one in board.asked[-8:]):
                at = next(moment for moment, status in reversed(board.times) if status == 429)
                wait_s = float(board.quirks.retry_after or PAUSE_S)
                self.limits.append((name, at, at + timedelta(seconds=wait_s)))
                board.quirks.rate_limit_at = 0

    async def run(self) -> None:
        """A `rowen serve` that dies now and then, and is started again a while later."""
        end = BEGIN + timedelta(days=DAYS + 1)
        chance = random.Random(11)
        process = 0
        while self.clock.now() < end:
            process += 1
            mortal = Mortal(self.world.store)
            # A death in the middle of a run: some thousands of calls from now, at any of them.
            mortal.dies_after = chance.randint(1_500, 4_000)
            ports = replace(self.world.ports, store=mortal, owner=f"process {process}")  # type: ignore[arg-type]
            try:
                await self._serve(ports, end)
                return
            except BaseExceptionGroup as group:
                if not group.subgroup(Died):
                    raise
            except Died:
                pass
            self.crashes += 1
            self.note_limits()
            self.clock.advance(chance.uniform(30, 600))

    async def _serve(self, ports: Ports, end: datetime) -> None:
        self.clock.loop, self.clock.sinks = asyncio.current_task(), Announcer(ports)
        turns = orchestrate.serve(ports, default_every_s=EVERY_H * 3600, announcer=self.clock.sinks)
        async with self.clock.sinks, contextlib.aclosing(turns):
            async for _ in turns:
                self.note_limits()
                if self.clock.now() >= end:
                    return

    async def expected(self) -> dict[str, set[str]]:
        return {name: board.ids() for name, board in self.boards.items()}


@contextlib.asynccontextmanager
async def a_month(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    # Looks at the store once an hour, so that a month is not forty thousand looks.
    monkeypatch.setattr(orchestrate, "LONGEST_WAIT_S", 3600.0)
    clock = Calendar()
    with boards(clock) as found, SheetsServer(clock.now) as google, Site() as site:
        async with a_world(folder, site, clock=clock) as world:
            world.secrets["GOOGLE_KEY"] = google.key()
            month = Month(world, clock, found, google)
            month.script()
            settings = {
                "a1": {**BY_DATE, **OFFER, "seed_days": str(SEED_DAYS), "seed_windows": "3"},
                "a2": {**BY_DATE, "seed_days": str(SEED_DAYS), "seed_windows": "2"},
                "a3": {**LISTED, **OFFER},
                "b1": {**BY_DATE, **OFFER, "seed_days": str(SEED_DAYS), "seed_windows": "5"},
                "b2": LISTED,
            }
            for name, given in settings.items():
                await sources.add(
                    world.ports, found[name].url, name=name, kind="rest", settings=given, check=False
                )
            await world.store.save_sink(
                "people",
                kind="sheets",
                settings={"spreadsheet": BOOK, "credentials": "${GOOGLE_KEY}", "base_url": google.url},
                cursor=FIRST,
            )
            yield month


async def test_a_month_unattended_takes_in_everything_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tally: Tally
) -> None:
    tally.add("simulated days", "five sources, two upstreams", DAYS)
    async with a_month(tmp_path, monkeypatch) as month:
        await month.run()
        store = month.world.store
        found: dict[str, Source] = {source.name: source for source in await store.sources()}

        # Everything is in, and nothing twice.
        feed = await store.feed(FIRST, limit=100_000)
        added = Counter((item.source, item.reference) for item in feed if item.change == "added")
        for name, ids in (await month.expected()).items():
            assert set(await store.known(found[name].id)) == ids, name
            assert {reference for source, reference in added if source == name} == ids
        assert set(added.values()) == {1}
        texts = Counter(month.world.embedder.embedded)
        # A process that died in the middle of a batch had it embedded for nothing.
        assert sum(count - 1 for count in texts.values()) <= 64 * month.crashes
        assert month.crashes >= 3
        tally.add("kills", "a simulated `rowen serve`", month.crashes)

        # History is complete, whatever interrupted it.
        for name in ("a1", "a2", "b1"):
            reached = found[name].last_processed_date
            assert reached is not None
            assert reached <= (BEGIN - timedelta(days=SEED_DAYS - 1)).date()

        await _no_two_runs_at_once(month, found)
        _pauses_are_honoured(month)
        _the_sheet_is_touched_at_night(month)


async def _no_two_runs_at_once(month: Month, found: dict[str, Source]) -> None:
    runs = [run for source in found.values() for run in await month.world.store.runs(source.id, limit=10_000)]
    runs.sort(key=lambda run: run.id)
    assert len(runs) > DAYS * 5
    assert not any(run.status is RunStatus.RUNNING for run in runs)
    for earlier, later in pairwise(runs):
        if earlier.status is not RunStatus.LOST:
            assert earlier.finished_at is not None
            assert earlier.finished_at <= later.started_at


def _pauses_are_honoured(month: Month) -> None:
    assert len(month.limits) == 4
    # Each board has a port of its own, and with it is a client of its own.
    asked = [(name, at) for name, board in month.boards.items() for at, _ in board.times]
    for client, begin, until in month.limits:
        during = [at for name, at in asked if name == client and begin < at < until]
        assert during == [], (client, begin, until)
        after = min(at for name, at in asked if name == client and at >= until)
        if until - begin > timedelta(hours=EVERY_H * 1.1):
            # Everything of this client has been due for a while.
            assert after - until <= timedelta(minutes=1)
        others = [at for name, at in asked if name != client and begin < at < begin + timedelta(hours=6)]
        assert others, "the other client goes on"


def _the_sheet_is_touched_at_night(month: Month) -> None:
    nights = {at.astimezone(MADRID).date() for at in month.touched}
    assert len(nights) >= DAYS - 1
    assert datetime(2024, 3, 31).date() in nights  # noqa: DTZ001 - the night the clocks are put forward
    for at in month.touched:
        assert 3 <= at.astimezone(MADRID).hour < 6, at
    companies = month.google.tab.column("company")
    assert sorted(companies) == [f"Company {number}" for number in range(7)]
