"""Runs that take too long: they end, they lose nothing, and the next one goes on."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from rowen.core.document import Converted, Outcome
from rowen.core.run import Event, RunStatus, StopReason
from rowen.core.source import UNFINISHED
from rowen.engine.run import sync
from rowen.managing import sources
from rowen.reading import history
from rowen.service.attempts import NotRun, run_source
from tests.support.ckan_server import CkanServer, datasets
from tests.support.fakes import FakeClock
from tests.support.git_repository import WorkingCopy
from tests.support.site import Site, html
from tests.support.world import InThisProcess, a_page, a_world

pytestmark = pytest.mark.anyio

SLOW = "User-agent: *\nCrawl-delay: 10\n"


def a_slow_site(pages: int) -> Site:
    """Ten seconds between two requests; some of its links lead elsewhere or nowhere."""
    paths = [f"/p{number}" for number in range(pages)]
    site = Site({"/": html("Home", "root", links=[*paths, "/old", "/dead"])})
    for path in paths:
        site.set(path, a_page(path, "oats"))
    site.set("/old", redirect="/new", status=301)
    site.set("/new", a_page("/new", "barley"))
    site.set("/robots.txt", SLOW, content_type="text/plain")
    return site


async def test_a_site_that_needs_three_runs_is_complete_after_three(tmp_path: Path) -> None:
    with a_slow_site(20) as site:
        async with a_world(tmp_path, site) as world:
            await world.add(time_limit_s="100s", concurrency=1)
            everything = {"/", "/new", *(f"/p{number}" for number in range(20))}
            before: set[str] = set()
            asked: list[str] = []
            for run in range(1, 4):
                started = world.clock.monotonic()
                receipt = await world.sync()
                asked += [one.path for one in site.requests if one.path.startswith("/p")]
                pages = await world.pages()
                assert pages > before, "it got further"
                before = pages
                assert receipt.counters.deleted == 0
                if run < 3:
                    assert (receipt.status, receipt.stop_reason) == (RunStatus.PARTIAL, StopReason.TIME_LIMIT)
                    assert world.clock.monotonic() - started <= 110
                    said = "stopped after 1m40s (`time_limit_s`); the next run goes on from there"
                    assert (receipt.error, receipt.failure) == (said, None)
                    assert (await world.source()).metadata[UNFINISHED]
            assert (receipt.status, receipt.stop_reason) == (RunStatus.COMPLETED, StopReason.EXHAUSTED)
            assert before == everything
            assert len(asked) <= 20 + 2, "only what was under way when a run ended is asked for twice"
            assert UNFINISHED not in (await world.source()).metadata


async def test_a_refresh_that_is_cut_off_deletes_nothing_and_the_next_runs_do(tmp_path: Path) -> None:
    with a_slow_site(20) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            site.remove("/p0")
            links = [f"/p{number}" for number in range(19)]
            site.set("/", html("Home", "root", links=links))
            site.set("/p15", a_page("/p15", "rye"))
            world.ports = replace(world.ports, time_limit_s=100.0)
            runs = []
            while not runs or runs[-1].status is RunStatus.PARTIAL:
                runs.append(await world.sync())
                if runs[-1].status is RunStatus.PARTIAL:
                    assert runs[-1].counters.deleted == 0
                    assert {"/p0", "/p19", "/new"} <= await world.pages()
                    items = await world.store.run_items(runs[-1].run_id)
                    assert not [item for item in items if item.outcome == "deleted"]
            # A page whose 304 is checked is asked for twice.
            assert 3 <= len(runs) <= 7
            assert (runs[-1].status, runs[-1].counters.deleted) == (RunStatus.COMPLETED, 3)
            assert await world.pages() == {"/", *(f"/p{number}" for number in range(1, 19))}
            assert await world.found("rye") == ["/p15"]
            # A new round asks for all of them again.
            again = await world.sync()
            assert "answered_in_an_earlier_run" not in again.counters.ignored


async def test_what_another_generation_did_not_see_is_asked_for_again(tmp_path: Path) -> None:
    with a_slow_site(20) as site:
        async with a_world(tmp_path, site) as world:
            await world.add(time_limit_s="100s", concurrency=1)
            await world.sync()
            await world.sync()
            await history.rollback(world.ports, await world.source())
            receipt = await world.sync()
            assert "answered_in_an_earlier_run" not in receipt.counters.ignored
            assert receipt.counters.not_modified


async def test_a_body_that_never_ends_does_not_hold_a_run_beyond_its_limit(tmp_path: Path) -> None:
    never = threading.Event()
    with Site({"/": html("Home", "root", links=["/drip"])}) as site:
        site.set("/drip", a_page("/drip", "x"), delay=never)
        async with a_world(tmp_path, site) as world:
            await world.add(time_limit_s="60s")

            def an_hour_later(event: Event) -> None:
                if event.outcome is Outcome.CREATED:
                    world.clock.advance(3600)

            receipt = await sync(world.ports, await world.source(), on_event=an_hour_later)
            assert (receipt.status, receipt.stop_reason) == (RunStatus.PARTIAL, StopReason.TIME_LIMIT)
            assert await world.pages() == {"/"}
            never.set()
            assert (await world.sync()).status is RunStatus.COMPLETED
            assert await world.pages() == {"/", "/drip"}


async def test_a_source_that_says_nothing_in_its_time_fails_once_and_keeps_what_readers_see(
    tmp_path: Path,
) -> None:
    with a_slow_site(1) as site:
        async with a_world(tmp_path, site) as world:
            await world.add(delay_s="14s", time_limit_s="2s")
            receipt = await run_source(world.ports, await world.source())
            assert not isinstance(receipt, NotRun)
            assert (receipt.status, receipt.stop_reason) == (RunStatus.FAILED, StopReason.TIME_LIMIT)
            assert receipt.error == "stopped after 2s (`time_limit_s`) before anything was taken in"
            assert len(await world.store.runs((await world.source()).id, limit=9)) == 1


@pytest.mark.parametrize("kind", ["files", "git"])
async def test_files_and_repositories_go_on_where_the_last_run_was_cut_off(tmp_path: Path, kind: str) -> None:
    copy = WorkingCopy(tmp_path / "acre")
    copy.commit({f"{number:02}.md": f"# Oats {number}\n" for number in range(25)})
    with Site() as unused:
        async with a_world(tmp_path, unused) as world:
            world.ports = replace(world.ports, time_limit_s=100.0, converter=SlowConverter(world.clock))
            await sources.add(world.ports, str(copy.folder), name="docs", kind=kind)
            created = [(await world.sync()).counters.created]
            while (receipt := await world.sync()).status is RunStatus.PARTIAL:
                assert 0 < receipt.counters.created < 25
                created.append(receipt.counters.created)
            assert receipt.status is RunStatus.COMPLETED
            assert sum(created) + receipt.counters.created == 25
            copy.commit(remove=("00.md",))
            copy.commit({f"{number:02}.md": f"# Rye {number}\n" for number in range(1, 25)})
            runs = 1
            while (receipt := await world.sync()).status is RunStatus.PARTIAL:
                assert receipt.counters.deleted == 0
                assert receipt.counters.updated > 0
                runs += 1
            assert (receipt.counters.deleted, runs > 1) == (1, True)


class SlowConverter(InThisProcess):
    """Ten seconds a file."""

    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock

    async def convert(self, body: bytes, *, content_type: str, url: str) -> Converted:
        self._clock.advance(10)
        await asyncio.sleep(0)
        return await super().convert(body, content_type=content_type, url=url)


async def test_a_portal_that_is_cut_off_shows_what_came_and_deletes_nothing(tmp_path: Path) -> None:
    with CkanServer(datasets(60)) as portal:
        async with a_world(tmp_path, portal) as world:
            await sources.add(
                world.ports,
                portal.url,
                name="docs",
                kind="ckan",
                settings={"page_size": "10", "delay_s": "10s", "full_sync_every": "1s"},
            )
            assert (await world.sync()).status is RunStatus.COMPLETED
            portal.remove("id-000059")
            world.ports = replace(world.ports, time_limit_s=40.0)
            receipt = await world.sync(full=True)
            assert (receipt.status, receipt.stop_reason) == (RunStatus.PARTIAL, StopReason.TIME_LIMIT)
            assert receipt.counters.deleted == 0
            watermark = (await world.source()).watermark
            assert watermark == (await world.store.runs((await world.source()).id, limit=9))[-1].started_at
            world.ports = replace(world.ports, time_limit_s=0.0)
            assert (await world.sync(full=True)).counters.deleted == 1


async def test_a_run_that_gets_no_further_than_the_one_before_says_so(tmp_path: Path) -> None:
    never = threading.Event()
    with Site({"/": html("Home", "root", links=["/a"]), "/a": a_page("/a", "oats")}) as site:
        async with a_world(tmp_path, site) as world:
            await world.add(time_limit_s="60s")
            await world.sync()
            site.set("/a", a_page("/a", "rye"), delay=never)

            def an_hour_later(event: Event) -> None:
                if event.outcome is Outcome.UNCHANGED:
                    world.clock.advance(3600)

            for then, unfinished in (
                ("the next run goes on from there", True),
                ("it got no further than the run before: raise it", False),
            ):
                receipt = await sync(world.ports, await world.source(), on_event=an_hour_later)
                assert receipt.error == f"stopped after 1m (`time_limit_s`); {then}"
                assert (UNFINISHED in (await world.source()).metadata) is unfinished
            never.set()


async def test_a_page_that_an_earlier_run_asked_for_is_not_taken_back_from_what_this_one_counts(
    tmp_path: Path,
) -> None:
    with a_slow_site(20) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            site.set("/", html("Home", "root", links=[f"/p{number}" for number in range(10)]))
            world.ports = replace(world.ports, time_limit_s=100.0)
            runs = [await world.sync()]
            while runs[-1].status is RunStatus.PARTIAL:
                runs.append(await world.sync())
            last = runs[-1].counters
            assert (len(runs) > 1, last.deleted) == (True, 11)
            items = {item.reference for item in await world.store.run_items(runs[-1].run_id)}
            asked = {site.url + one.path for one in site.requests if one.status in (200, 304)}
            assert last.unchanged == len(asked - items - {f"{site.url}/robots.txt"}) == 1
