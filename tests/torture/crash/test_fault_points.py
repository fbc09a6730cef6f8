"""`kill -9` between every two steps of persist → handoff → job: no job is lost, none is done twice."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from rowen.adapters.store.sqlite.store import SqliteStore
from rowen.core.handoff import HandoffStatus
from tests.support.world import a_site_of
from tests.torture.tally import Tally

pytestmark = pytest.mark.anyio

PAGES = 80  # more than one batch
STEPS = ("begin_run", "stage", "start_handoffs", "ingest", "finish_run")
FAULTS = [(step, when, call) for step in STEPS for when in ("before", "after") for call in (1, 2)]

RUN = """
import asyncio, dataclasses, os, signal, sys
from rowen import config as settings, wiring
from rowen.managing import sources
from rowen.engine.run import sync

url, location, step, when, call = *sys.argv[1:5], int(sys.argv[5])


class Faulty:
    def __init__(self, store):
        self._store, self._calls = store, 0

    def __getattr__(self, name):
        real = getattr(self._store, name)
        if name != step:
            return real

        async def faulty(*args, **kwargs):
            self._calls += 1
            if self._calls == call and when == "before":
                os.kill(os.getpid(), signal.SIGKILL)
            done = await real(*args, **kwargs)
            if self._calls == call and when == "after":
                os.kill(os.getpid(), signal.SIGKILL)
            return done

        return faulty


async def main():
    config, _ = settings.load(db=url, environment={"ROWEN_CONVERT_WORKERS": "1"})
    async with wiring.open_ports(config) as ports:
        if not await ports.store.sources():
            await sources.add(ports, location, name="docs")
        ports = dataclasses.replace(ports, store=Faulty(ports.store))
        (source,) = await ports.store.sources()
        receipt = await sync(ports, source)
        assert receipt.good, receipt.error


asyncio.run(main())
"""


def run(folder: Path, location: str, fault: tuple[str, str, int]) -> int:
    arguments = [f"sqlite:///{folder / 'rowen.db'}", location, *map(str, fault)]
    ended = subprocess.run(
        [sys.executable, "-c", RUN, *arguments], capture_output=True, text=True, timeout=120, check=False
    )
    assert ended.returncode in (0, -9), ended.stderr
    return ended.returncode


@pytest.mark.parametrize("step", STEPS)
async def test_no_job_is_lost_and_none_is_done_twice(tmp_path: Path, step: str, tally: Tally) -> None:
    with a_site_of(PAGES) as site:
        deaths = 0
        for fault in (one for one in FAULTS if one[0] == step):
            # One store after the other death: what each leaves behind is what the next begins with.
            deaths += run(tmp_path, site.url + "/", fault) == -9
        assert deaths >= 2
        tally.add("kills", "between two steps of a handoff", deaths)
        assert run(tmp_path, site.url + "/", ("nothing", "before", 1)) == 0
    store = SqliteStore(tmp_path / "rowen.db")
    try:
        (source,) = await store.sources()
        known = await store.known(source.id)
        handoffs = await store.handoffs(source_id=source.id, limit=10_000)
    finally:
        await store.close()
    assert len(known) == PAGES
    assert Counter(handoff.status for handoff in handoffs) == {HandoffStatus.COMPLETED: PAGES}
    assert {handoff.reference for handoff in handoffs} == set(known)
