"""`kill -9` at moments spread over the whole of each work, then run again: row for row as if never killed.

For each work a store is prepared once. A calm copy of it shows how long the work takes and what comes out.
Then copies are killed, some several times in a row, and run to the end.
"""

from __future__ import annotations

import asyncio
import gzip
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from rowen.engine.run import sync
from rowen.managing import sources
from tests.support.ckan_server import CkanServer, datasets
from tests.support.site import Site, html
from tests.torture.crash import killing
from tests.torture.crash.jobs import EDITIONS, Job, opened, write_edition
from tests.torture.crash.places import Databases, Files, Place
from tests.torture.crash.rows import Rows, rows, visible
from tests.torture.tally import Tally

KILLS = {
    "sqlite": {
        "sync": 45,
        "ingest": 30,
        "harvest": 20,
        "activate": 30,
        "rollback": 20,
        "vacuum": 25,
        "migrate": 20,
        "copy": 25,
    },
    "postgres": {
        "sync": 25,
        "ingest": 20,
        "harvest": 10,
        "activate": 20,
        "rollback": 15,
        "vacuum": 15,
        "migrate": 15,
        "copy": 15,
    },
}
PAGES = 24
DATASETS = 400
FIXTURES = Path(__file__).parents[2] / "fixtures"
OLD = {"sqlite": "store-0.1.0.db.gz", "postgres": "store-0.1.0.pgsql.gz"}


@dataclass
class Trial:
    """A work on a prepared store."""

    job: Job
    reset: Callable[[], None] = lambda: None
    """Puts back what the work changes outside of the store."""
    states: list[dict[str, bytes]] | None = field(default_factory=list)
    """All that readers may see while the work is under way; None when no reader can look."""


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    with a_place(request.param, request, tmp_path) as found:
        yield found


@contextmanager
def a_place(kind: str, request: pytest.FixtureRequest, folder: Path) -> Iterator[Place]:
    if kind == "sqlite":
        yield Files(folder)
        return
    databases = Databases(request.getfixturevalue("postgres"))
    try:
        yield databases
    finally:
        databases.clear()


# The works


def publish(site: Site, edition: int) -> None:
    """Half of the pages change with each edition, one goes and one comes."""
    numbers = range(edition, PAGES + edition)
    site.holds_only({"/": html("Home", f"Edition {edition}", links=[f"/{number}" for number in numbers])})
    for number in numbers:
        shown = edition if number % 2 else 1
        paragraphs = [f"Edition {shown}: page {number} says thing {n}. " * 5 for n in range(6)]
        site.set(f"/{number}", html(f"Page {number}", *paragraphs))


async def add_and_sync(job: Job, location: str, *, times: int = 1, run: bool = True) -> None:
    async with opened(job) as ports:
        known = await ports.store.sources()
        source = known[0] if known else (await sources.add(ports, location, name="docs")).source
        for _ in range(times if run else 0):
            assert (await sync(ports, source)).good


def a_sync(place: Place, folder: Path, site: Site) -> Trial:
    job = Job(work="sync", store=place.empty(), folder=str(folder))
    publish(site, 1)
    asyncio.run(add_and_sync(job, site.url + "/"))
    publish(site, 2)
    return Trial(job)


def an_ingest(place: Place, folder: Path, site: Site) -> Trial:
    notes = folder / "notes"
    notes.mkdir()
    for number in range(PAGES):
        sections = [f"## Part {n}\n\nNote {number} says thing {n}. " * 10 for n in range(6)]
        (notes / f"{number}.md").write_text("\n\n".join([f"# Note {number}", *sections]))
    job = Job(work="ingest", store=place.empty(), folder=str(folder))
    asyncio.run(add_and_sync(job, str(notes), run=False))
    return Trial(job)


def a_harvest(place: Place, folder: Path, site: Site) -> Trial:
    """The first run of a portal, which goes on behind what a killed one has stored."""
    job = Job(work="harvest", store=place.empty(), folder=str(folder))
    asyncio.run(add_and_sync(job, f"{site.url}/api/3/action/", run=False))
    return Trial(job)


def an_activation(place: Place, folder: Path, site: Site) -> Trial:
    notes = folder / "notes"
    write_edition(notes, 1)
    job = Job(work="activate", store=place.empty(), folder=str(notes))
    asyncio.run(add_and_sync(job, str(notes)))

    def reset() -> None:
        shutil.rmtree(notes)
        write_edition(notes, 1)

    shown = place.copy(job.store)
    states = []
    for until in range(1, EDITIONS + 1):
        killing.run(replace(job, store=shown, until=until))
        states.append(visible(shown))
    return Trial(job, reset, states)


def with_history(place: Place, folder: Path, site: Site, work: str) -> Trial:
    job = Job(work=work, store=place.empty(), folder=str(folder))
    for edition in range(1, 5):
        publish(site, edition)
        asyncio.run(add_and_sync(job, site.url + "/"))
    return Trial(job)


def a_rollback(place: Place, folder: Path, site: Site) -> Trial:
    return with_history(place, folder, site, "rollback")


def a_vacuum(place: Place, folder: Path, site: Site) -> Trial:
    return with_history(place, folder, site, "vacuum")


def a_migration(place: Place, folder: Path, site: Site) -> Trial:
    store = place.load(gzip.decompress((FIXTURES / OLD[place.kind]).read_bytes()))
    return Trial(Job(work="migrate", store=store, folder=str(folder)), states=None)


def a_copy(place: Place, folder: Path, site: Site) -> Trial:
    made = with_history(place, folder, site, "copy")
    return Trial(replace(made.job, target=place.empty()), states=None)


WORKS = {
    "sync": a_sync,
    "ingest": an_ingest,
    "harvest": a_harvest,
    "activate": an_activation,
    "rollback": a_rollback,
    "vacuum": a_vacuum,
    "migrate": a_migration,
    "copy": a_copy,
}


def a_site(work: str) -> Site:
    if work != "harvest":
        return Site()
    portal = CkanServer(datasets(DATASETS))
    portal.quirks.rows_max = DATASETS // 10
    return portal


# The storm


class Storm:
    def __init__(self, place: Place, trial: Trial, chance: random.Random, tally: Tally) -> None:
        self._place, self._trial, self._chance, self._tally = place, trial, chance, tally
        self._name = f"{trial.job.work} on {place.kind}"

    def rage(self, kills: int, *, calm_runs: int = 3) -> None:
        duration_s, expected = self._calm(calm_runs)
        # One moment from each of so many equal parts of the work, in any order.
        moments = [(number + self._chance.random()) / kills for number in range(kills)]
        self._chance.shuffle(moments)
        while moments:
            job = self._copied()
            for _ in range(min(self._chance.choice((1, 1, 2, 3)), len(moments))):
                # What an earlier death has left over is done sooner: the last moments may come too late.
                died, _ = killing.run(job, kill_after_s=moments[-1] * duration_s)
                self._look(job)
                if died is None:
                    moments[-1] *= 0.9
                    break
                self._tally.add("kills", self._name)
                self._tally.moment(self._name, moments.pop())
                self._tally.step(died.step)
            killing.run(job)
            self._compare(expected, rows(job.target or job.store))
            self._removed(job)

    def _calm(self, times: int) -> tuple[float, Rows]:
        """How long it takes, and every row that comes out of it."""
        durations = []
        for _ in range(times):
            job = self._copied()
            died, lasted_s = killing.run(job)
            assert died is None
            durations.append(lasted_s)
            expected = rows(job.target or job.store)
            assert expected["documents"]
            if self._trial.states is not None:
                self._trial.states += [visible(self._trial.job.store), visible(job.store)]
            self._removed(job)
        return sorted(durations)[times // 2], expected

    def _look(self, job: Job) -> None:
        """Readers see one whole state at any moment."""
        if self._trial.states is None:
            return
        found = visible(job.store)
        self._tally.checked(len(found))
        if found not in self._trial.states:
            self._tally.problem("mixed", f"after a kill in {self._name}: {len(found)} documents")

    def _compare(self, expected: Rows, found: Rows) -> None:
        self._tally.checked(len(expected["documents"]))
        for table, wanted in expected.items():
            if missing := set(wanted) - set(found[table]):
                self._tally.problem("lost", f"{self._name}, {table}: {list(missing)[:2]}")
            if extra := set(found[table]) - set(wanted):
                self._tally.problem("mixed", f"{self._name}, {table}: {list(extra)[:2]}")
            if len(wanted) != len(found[table]):
                self._tally.problem(
                    "mixed", f"{self._name}, {table}: {len(found[table])} of {len(wanted)} rows"
                )

    def _copied(self) -> Job:
        self._trial.reset()
        job = self._trial.job
        target = self._place.copy(job.target) if job.target else ""
        return replace(job, store=self._place.copy(job.store), target=target)

    def _removed(self, job: Job) -> None:
        for url in filter(None, (job.store, job.target)):
            self._place.remove(url)


@pytest.mark.parametrize("work", WORKS)
def test_killed_at_any_moment_and_run_again_it_equals_one_never_killed(
    place: Place, work: str, tmp_path: Path, chance: random.Random, tally: Tally
) -> None:
    folder = tmp_path / "beside"
    folder.mkdir()
    with a_site(work) as site:
        trial = WORKS[work](place, folder, site)
        Storm(place, trial, chance, tally).rage(KILLS[place.kind][work])
    tally.verify()


@pytest.mark.sliced
@pytest.mark.parametrize("work", ["sync", "harvest"])
def test_a_few_kills_change_nothing(work: str, tmp_path: Path, chance: random.Random, tally: Tally) -> None:
    folder = tmp_path / "beside"
    folder.mkdir()
    with a_site(work) as site:
        place = Files(tmp_path)
        Storm(place, WORKS[work](place, folder, site), chance, tally).rage(3, calm_runs=1)
    tally.verify()
