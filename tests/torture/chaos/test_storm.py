"""A site in a storm: pages change while others are answered with faults, round after round.

In the storm readers lose nothing and see no page that the site never published, and each run says how many
pages it did not get. When the faults stop, one more sync gives exactly the pages of the site.
"""

from __future__ import annotations

import random
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from rowen.adapters.store.postgres.store import PostgresStore
from rowen.core.rules.retry import RetryPolicy
from rowen.core.run import RunStatus
from rowen.engine.receipt import Receipt
from rowen.ports.store.store import Store
from tests.support.postgres import Server
from tests.support.site import html
from tests.support.stores import a_postgres_schema
from tests.support.world import World, a_world
from tests.torture.chaos.server import FAULTS, WEATHER, Chaos
from tests.torture.tally import Tally

pytestmark = pytest.mark.anyio

PAGES = 24
QUICK = sorted(set(FAULTS) - {"slow drip"})
"""All but the fault that takes as long as a client has patience."""
SAID = re.compile(r"edition (\d+) of page (\S+)\.")


class Storm:
    """An honest site under a chaotic server, and a copy of it."""

    def __init__(self, site: Chaos, world: World, chance: random.Random, tally: Tally) -> None:
        self._site, self._world, self._chance, self._tally = site, world, chance, tally
        self._edition = 0
        self.published: dict[str, int] = {}
        """The edition of each page that the site has now."""

    def publish(self, numbers: list[int]) -> None:
        self._edition += 1
        for number in numbers:
            self._put(f"/{number}.html")
        self._put("/", links=[f"/{number}.html" for number in range(1, PAGES)])

    def _put(self, path: str, links: list[str] | None = None) -> None:
        text = f"This is edition {self._edition} of page {path}."
        more = [f"Page {path} says thing {n} in its edition {self._edition}." for n in range(4)]
        self._site.set(path, html(f"Page {path}", text, *more, links=links or ["/"]))
        self.published[path] = self._edition

    async def seen(self) -> dict[str, int | None]:
        """The edition of each page that readers see; None for a text the site never had there."""
        source = await self._world.source()
        found: dict[str, int | None] = {}
        for document in await self._world.store.documents(source.id, text=True):
            path = document.url.removeprefix(self._site.url)
            said = SAID.search(document.text or "")
            found[path] = int(said[1]) if said and said[2] == path else None
        return found

    async def round(self, faults: list[str], weather: str | None = None) -> None:
        before = await self.seen()
        self.publish(self._chance.sample(range(1, PAGES), 5))
        paths = self._chance.sample(sorted(set(self.published) - {"/"}), len(faults))
        self._site.faults = dict(zip(paths, faults, strict=True))
        self._site.weather = weather
        self._site.struck.clear()
        receipt = await self._world.sync()
        struck = set(self._site.struck)
        for path, fault in self._site.faults.items():
            if path in struck:
                self._tally.add("faults", fault)
        if weather is not None:
            self._tally.add("faults", weather)
        name = f"after {weather or ', '.join(faults)}"
        await self._look(receipt, before, struck, weather, name)
        await self._calm(name)

    async def _look(
        self,
        receipt: Receipt,
        before: dict[str, int | None],
        struck: set[str],
        weather: str | None,
        name: str,
    ) -> None:
        after = await self.seen()
        self._tally.keeps(before, after, when=name)
        for path, edition in after.items():
            if edition not in (before[path], self.published[path]):
                self._tally.problem("mixed", f"{path} has a text of its own {name}")
            if path not in struck and weather is None and edition != self.published[path]:
                self._tally.problem("lost", f"{path} is not up to date {name}")
        said = f"{receipt.status} with {receipt.counters.failed} failed {name}: {receipt.error}"
        if weather is None:
            good = RunStatus.PARTIAL if struck else RunStatus.COMPLETED
            self._tally.honest(receipt.status is good and receipt.counters.failed == len(struck), when=said)
        else:
            self._tally.honest(receipt.status is not RunStatus.COMPLETED, when=said)

    async def _calm(self, name: str) -> None:
        self._site.calm_down()
        receipt = await self._world.sync()
        self._tally.honest(receipt.status is RunStatus.COMPLETED, when=f"{receipt.error} in the calm {name}")
        self._tally.compare(self.published, await self.seen(), when=f"in the calm {name}")
        self._tally.verify()


@asynccontextmanager
async def a_storm(
    folder: Path, chance: random.Random, tally: Tally, store: Store | None = None
) -> AsyncIterator[Storm]:
    with Chaos() as site:
        async with a_world(folder, site, store=store) as world:
            # Slow pages and bombs end soon, and a page is asked again once.
            fetch = replace(
                world.ports.fetch, timeout_s=2.0, max_body_bytes=2_000_000, retry=RetryPolicy(retries=1)
            )
            world.ports = replace(world.ports, fetch=fetch)
            storm = Storm(site, world, chance, tally)
            storm.publish(list(range(1, PAGES)))
            await world.add()
            assert (await world.sync()).status is RunStatus.COMPLETED
            yield storm


@pytest.mark.sliced
async def test_every_fault_once_loses_nothing_and_is_said(
    tmp_path: Path, chance: random.Random, tally: Tally
) -> None:
    async with a_storm(tmp_path, chance, tally) as storm:
        await storm.round(QUICK)


@pytest.mark.parametrize(
    "weather",
    [pytest.param(one, marks=pytest.mark.sliced if "maintenance" in one else ()) for one in WEATHER],
)
async def test_a_site_that_answers_all_wrong_takes_nothing_away(
    tmp_path: Path, chance: random.Random, tally: Tally, weather: str
) -> None:
    async with a_storm(tmp_path, chance, tally) as storm:
        await storm.round([], weather)


@pytest.mark.parametrize("number", range(8))
async def test_a_storm_of_faults_loses_nothing_and_every_run_says_what_it_met(
    tmp_path: Path, chance: random.Random, tally: Tally, number: int
) -> None:
    async with a_storm(tmp_path, chance, tally) as storm:
        await storm.round(["slow drip"])
        for _ in range(25):
            if chance.random() < 0.25:
                await storm.round([], chance.choice(sorted(WEATHER)))
            else:
                await storm.round(chance.choices(QUICK, k=chance.randint(1, 12)))


async def test_the_same_storm_on_postgresql(
    tmp_path: Path, chance: random.Random, tally: Tally, postgres: Server
) -> None:
    with a_postgres_schema(postgres) as schema:
        store = PostgresStore(postgres.url, schema=schema)
        async with a_storm(tmp_path, chance, tally, store) as storm:
            for _ in range(12):
                await storm.round(chance.choices(QUICK, k=chance.randint(1, 12)))
            await storm.round([], chance.choice(sorted(WEATHER)))
