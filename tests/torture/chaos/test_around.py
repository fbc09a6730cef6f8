"""Faults of what is around Rowen: the disk, the file, locks, the embedding provider and the clock."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import apsw
import pytest

from rowen.adapters.store.sqlite.store import SqliteStore
from rowen.core.lease import LEASE_TTL_S
from rowen.core.run import RunStatus
from rowen.errors import RowenError
from rowen.service.serve import serve
from tests.support.fakes import FakeEmbedder
from tests.support.gate import Gate
from tests.support.site import Site
from tests.support.world import a_page, a_site_of, a_world
from tests.torture.crash import killing
from tests.torture.crash.places import Files
from tests.torture.crash.rows import rows, visible
from tests.torture.crash.test_kills import a_sync
from tests.torture.tally import Tally

pytestmark = pytest.mark.anyio

PAGES = 24


def test_a_disk_that_fills_up_at_any_moment_loses_nothing(
    tmp_path: Path, chance: random.Random, tally: Tally
) -> None:
    folder = tmp_path / "beside"
    folder.mkdir()
    place = Files(tmp_path)
    with Site() as site:
        trial = a_sync(place, folder, site)
        calm = place.copy(trial.job.store)
        killing.run(replace(trial.job, store=calm))
        expected, states = rows(calm), [visible(trial.job.store), visible(calm)]
        smallest = Path(trial.job.store.removeprefix("sqlite:///")).stat().st_size
        for number in range(12):
            job = replace(trial.job, store=place.copy(trial.job.store))
            # A log of changes grows beside the file: some runs end before they begin, some get far.
            limit = int(smallest * (0.2 + 2.0 * (number + chance.random()) / 12))
            killing.run(job, may_fail=True, file_limit=limit)
            tally.add("faults", "a disk that is full")
            found = visible(job.store)
            tally.checked(len(found))
            if found not in states:
                tally.problem("mixed", f"after a full disk: {len(found)} documents")
            killing.run(job)
            if rows(job.store) != expected:
                tally.problem("lost", f"after a full disk at {limit} bytes")
    tally.verify()


async def test_a_store_that_another_process_locks_is_waited_for_or_said(tmp_path: Path, tally: Tally) -> None:
    with a_site_of(PAGES) as site:
        store = SqliteStore(tmp_path / "locked.db", busy_timeout_s=0.05)
        async with a_world(tmp_path, site, store=store) as world:
            await world.add()
            assert (await world.sync()).good
            before = await world.pages()
            other = apsw.Connection(str(tmp_path / "locked.db"))
            for number in range(5):
                site.set("/p1.html", a_page("/p1.html", f"edition{number}"))
                other.execute("BEGIN IMMEDIATE")
                tally.add("faults", "a store that another process locks")
                with pytest.raises(RowenError, match="locked"):
                    await world.sync()
                tally.keeps(before, await world.pages(), when="while the store is locked")
                other.execute("ROLLBACK")
                receipt = await world.sync()
                tally.honest(receipt.status is RunStatus.COMPLETED, when=f"{receipt.error} after a lock")
                assert await world.found(f"edition{number}") == ["/p1.html"]
            other.close()
    tally.verify()


def writes_are_refused(store: SqliteStore, refused: bool) -> None:
    """SQLite itself refuses them, as it does when its disk was mounted again for reading alone."""
    store.database._connection_for_writing().execute(f"PRAGMA query_only = {int(refused)}").fetchall()


async def test_a_store_that_becomes_read_only_in_the_middle_of_a_sync_loses_nothing(
    tmp_path: Path, chance: random.Random, tally: Tally
) -> None:
    with a_site_of(PAGES) as site:
        store = SqliteStore(tmp_path / "rowen.db")
        async with a_world(tmp_path, site, store=store) as world:
            await world.add()
            assert (await world.sync()).good
            before = await world.pages()
            for number in range(6):
                path, gate = f"/p{chance.randrange(1, PAGES)}.html", Gate()
                site.set(path, a_page(path, f"edition{number}"), delay=gate)
                running = asyncio.create_task(world.sync())
                await gate.reached()
                writes_are_refused(store, True)
                tally.add("faults", "a store that becomes read-only")
                gate.set()
                with pytest.raises(RowenError, match="read-only"):
                    await running
                writes_are_refused(store, False)
                # Its leases could not be let go either: they run out.
                world.clock.advance(LEASE_TTL_S + 1)
                tally.keeps(before, await world.pages(), when="after a read-only store")
                site.set(path, a_page(path, f"edition{number}"))
                receipt = await world.sync()
                tally.honest(receipt.status is RunStatus.COMPLETED, when=f"{receipt.error} after read-only")
                assert await world.found(f"edition{number}") == [path]
    tally.verify()


async def test_a_damaged_file_is_an_error_or_complete_and_never_a_part(
    tmp_path: Path, chance: random.Random, tally: Tally
) -> None:
    with a_site_of(PAGES) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            assert (await world.sync()).good
            source = await world.source()
            expected = await world.pages()
        whole = (tmp_path / "rowen.db").read_bytes()
        size = int.from_bytes(whole[16:18], "big")
        for number in range(40):
            damaged = bytearray(whole)
            page = chance.randrange(1, len(whole) // size)
            damaged[page * size : (page + 1) * size] = chance.choice((bytes(size), chance.randbytes(size)))
            path = tmp_path / f"damaged{number}.db"
            path.write_bytes(damaged)
            tally.add("faults", "a damaged page of the store")
            try:
                store = SqliteStore(path)
                try:
                    found = await store.documents(source.id, text=True)
                finally:
                    await store.close()
            except RowenError:
                continue
            urls = {one.url.removeprefix(site.url) for one in found}
            tally.honest(urls == expected, when=f"{len(urls)} of {len(expected)} documents of a damaged file")
    tally.verify()


class Flapping(FakeEmbedder):
    """A provider that answers some calls."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__()
        self._chance = chance
        self.calm = False

    def _answer_or_fail(self) -> None:
        self.down = not self.calm and self._chance.random() < 0.6
        super()._answer_or_fail()


async def test_a_provider_that_comes_and_goes_hides_no_text_and_in_the_end_no_vector(
    tmp_path: Path, chance: random.Random, tally: Tally
) -> None:
    with a_site_of(PAGES) as site:
        async with a_world(tmp_path, site) as world:
            flapping = Flapping(chance)
            world.ports = replace(world.ports, embedder=lambda: flapping)
            await world.add()
            for edition in range(10):
                for number in chance.sample(range(1, PAGES), 6):
                    site.set(
                        f"/p{number}.html", a_page(f"/p{number}.html", f"edition{edition}", f"of{number}")
                    )
                world.clock.advance(600)
                await world.sync()
                tally.add("faults", "an embedding provider that comes and goes")
                assert len(await world.pages()) == PAGES
                assert len(await world.found(f"edition{edition}")) == 6
            flapping.calm = True
            for _ in range(3):
                world.clock.advance(24 * 3600)
                receipt = await world.sync()
            tally.honest(
                receipt.status is RunStatus.COMPLETED, when=f"{receipt.status} with the provider back"
            )
            gap = await world.store.embedding_gap(flapping.model)
            assert (gap.missing, gap.passages > 0) == (0, True)
    tally.verify()


@pytest.mark.sliced
async def test_a_clock_that_jumps_neither_stops_a_source_nor_loses_an_edit(
    tmp_path: Path, chance: random.Random, tally: Tally
) -> None:
    with a_site_of(PAGES) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            assert (await world.sync()).good
            for edition in range(12):
                jump = timedelta(days=chance.choice((-400, -30, -1, 1, 30, 400)), seconds=chance.random())
                world.clock._now += jump
                tally.add("faults", "a clock that jumps")
                site.set("/p1.html", a_page("/p1.html", f"edition{edition}"))
                # However the clock went, an hour later at most the source is due, and its edit is seen.
                world.clock.advance(2 * 3600)
                results = [one async for one in serve(world.ports, default_every_s=3600, once=True)]
                assert len(results) == 1, f"after a jump of {jump}"
                tally.honest(await world.found(f"edition{edition}") == ["/p1.html"], when=f"after {jump}")
    tally.verify()
