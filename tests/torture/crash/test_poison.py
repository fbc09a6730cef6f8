"""A page that kills the process over it, for real: it is found, and every other page comes through."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from tests.support.postgres import Server
from tests.support.world import a_page, a_site_of
from tests.torture.crash.places import Databases, Files, Place
from tests.torture.tally import Tally

PAGES = 20
POISONED = "/p7.html"

RUN = """
import asyncio, dataclasses, json, os, signal, sys
from rowen import config as settings, wiring
from rowen.core.handoff import HandoffStatus
from rowen.managing import sources
from rowen.engine.run import sync

url, location, poison = sys.argv[1:4]


class Deadly:
    def __init__(self, store):
        self._store = store

    def __getattr__(self, name):
        return getattr(self._store, name)

    async def ingest(self, lease, run, ingested, *args, **options):
        if poison and any(poison in item.staged.draft.text for item in ingested):
            os.kill(os.getpid(), signal.SIGKILL)
        await self._store.ingest(lease, run, ingested, *args, **options)


async def main():
    config, _ = settings.load(db=url, environment={"ROWEN_CONVERT_WORKERS": "1"})
    async with wiring.open_ports(config) as ports:
        if not await ports.store.sources():
            await sources.add(ports, location, name="docs")
        (source,) = await ports.store.sources()
        receipt = await sync(dataclasses.replace(ports, store=Deadly(ports.store)), source)
        failed = await ports.store.handoffs(status=HandoffStatus.FAILED)
        counters = receipt.counters
        print(json.dumps({
            "status": receipt.status, "created": counters.created, "updated": counters.updated,
            "failed": counters.failed, "blamed": [[one.reference, one.reason_code] for one in failed],
        }))


asyncio.run(main())
"""


def run(url: str, location: str, poison: str = "") -> dict[str, object] | None:
    """What came of it; None when the process was killed."""
    ended = subprocess.run(
        [sys.executable, "-c", RUN, url, location, poison],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode in (0, -9), ended.stderr
    return None if ended.returncode else orjson.loads(ended.stdout)


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    if request.param == "sqlite":
        yield Files(tmp_path)
        return
    server: Server = request.getfixturevalue("postgres")
    databases = Databases(server)
    yield databases
    databases.clear()


def test_a_page_that_kills_every_process_is_found_and_all_others_are_shown_new(
    place: Place, tally: Tally
) -> None:
    with a_site_of(PAGES) as site:
        url, location = place.empty(), site.url + "/"
        assert run(url, location) == {
            "status": "completed", "created": PAGES, "updated": 0, "failed": 0, "blamed": []
        }  # fmt: skip
        for number in range(1, PAGES):
            path = f"/p{number}.html"
            site.set(path, a_page(path, "arsenic" if path == POISONED else "barley"))
        deaths = 0
        while (ended := run(url, location, "arsenic")) is None:
            deaths += 1
        assert deaths == 5, "once with its batch, once with a few of it, three times by itself"
        lost = {
            "status": "partial",
            "created": 0,
            "failed": 1,
            "blamed": [[site.url + POISONED, "worker_lost"]],
        }
        assert ended == {**lost, "updated": PAGES - 2}
        assert run(url, location, "arsenic") == {**lost, "updated": 0}, "said again, and no process ends"
        site.set(POISONED, a_page(POISONED, "cured"))
        again = run(url, location, "arsenic")
        assert again is not None
        assert (again["status"], again["updated"], again["failed"]) == ("completed", 1, 0)
    tally.add("kills", "over a page that is poison", deaths)
    tally.checked(PAGES)
    tally.verify()


def test_three_kills_over_a_page_that_is_none_leave_no_old_page(place: Place, tally: Tally) -> None:
    with a_site_of(PAGES) as site:
        url, location = place.empty(), site.url + "/"
        run(url, location)
        for number in range(1, PAGES):
            path = f"/p{number}.html"
            site.set(path, a_page(path, "arsenic" if path == POISONED else "barley"))
        for _ in range(3):
            assert run(url, location, "arsenic") is None
        ended = run(url, location)
        assert ended is not None
        assert (ended["status"], ended["updated"], ended["blamed"]) == ("completed", PAGES - 1, [])
    tally.add("kills", "over a page that is not poison", 3)
    tally.checked(PAGES)
    tally.verify()
