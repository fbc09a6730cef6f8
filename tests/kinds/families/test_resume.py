"""A first harvest that was killed: nothing is embedded twice, and the list goes on where it was."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from rowen.core.run import RunStatus
from rowen.engine.intake import intake
from tests.support.portals.catalogues import Udata
from tests.support.portals.geo import Csw, OgcRecords
from tests.support.portals.hubs import ArcgisHub, PagedDcat, Socrata
from tests.support.portals.oai_pmh import Archive
from tests.support.portals.repositories import Dataverse
from tests.support.portals.skeleton import Family, Record, Reply
from tests.support.portals.trying import a_source_of, visible
from tests.support.world import World

pytestmark = pytest.mark.anyio

ALL, PAGE, KILLED_AT = 240, 10, 20
SMALL = 16
"""A batch: much of a run is stored when it is killed."""


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "BATCH", SMALL)


class LongSocrata(Socrata):
    most = PAGE


class LongHub(ArcgisHub):
    most = PAGE


class LongDcat(PagedDcat):
    most = PAGE


class LongArchive(Archive):
    most = PAGE


class ForgetfulArchive(LongArchive):
    """The first token of those it has forgotten is refused, whichever it is."""

    def _list(self, params: dict[str, str]) -> Reply:
        before = len(self.forgets)
        reply = super()._list(params)
        if len(self.forgets) < before:
            self.forgets.clear()
        return reply


class LongDataverse(Dataverse):
    most = PAGE


class LongUdata(Udata):
    most = PAGE


class LongCsw(Csw):
    most = PAGE


class LongRecords(OgcRecords):
    most = PAGE


@asynccontextmanager
async def a_killed_harvest(family: Family, folder: Path) -> AsyncIterator[World]:
    """The first run of its source ended at a request behind the middle of the list."""
    async with a_source_of(family, folder) as world:
        loop, reached = asyncio.get_running_loop(), asyncio.Event()
        answered = family.reply

        def told(path: str, params: dict[str, str], base: str) -> Reply | None:
            if len(family.asked) + 1 == KILLED_AT:
                loop.call_soon_threadsafe(reached.set)
            return answered(path, params, base)

        family.reply = told  # type: ignore[method-assign]
        run = asyncio.ensure_future(world.sync("data"))
        await asyncio.wait_for(reached.wait(), 60)
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)
        family.reply = answered  # type: ignore[method-assign]
        family.asked.clear()
        yield world


async def stored(world: World) -> int:
    return len(await world.store.leftovers((await world.source("data")).id))


async def test_a_list_in_the_order_of_ids_goes_on_behind_what_is_stored(tmp_path: Path) -> None:
    portal = LongSocrata(ALL)
    async with a_killed_harvest(portal, tmp_path) as world:
        before, embedded = await stored(world), len(world.embedder.embedded)
        assert 0 < before < ALL
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, ALL)
        # The pages behind, and the empty one that is the end.
        assert len(portal.asked) == -(-(ALL - before) // PAGE) + 1
        assert receipt.counters.embeddings_computed <= ALL - embedded + 2 * SMALL
        assert await visible(world) == set(portal.live)
        portal.asked.clear()
        again = await world.sync("data")
        assert (again.counters.unchanged, len(portal.asked)) == (ALL, ALL // PAGE)


@pytest.mark.parametrize("change", ["more", "fewer"])
async def test_its_beginning_is_read_again_when_its_number_is_not_that_of_what_came(
    tmp_path: Path, change: str
) -> None:
    portal = LongSocrata(ALL)
    async with a_killed_harvest(portal, tmp_path) as world:
        before = await stored(world)
        if change == "more":
            portal.records["socrata-0050-new"] = Record("Another", "Measured again")
        else:
            portal.records["socrata-0050"].deleted = True
        receipt = await world.sync("data")
        assert receipt.status is RunStatus.COMPLETED
        assert len(portal.asked) > -(-(ALL - before) // PAGE) + 1
        assert set(portal.live) <= await visible(world)
        # What went meanwhile goes with the next list.
        await world.sync("data")
        assert await visible(world) == set(portal.live)


async def test_a_full_sync_begins_anew(tmp_path: Path) -> None:
    portal = LongSocrata(ALL)
    async with a_killed_harvest(portal, tmp_path) as world:
        receipt = await world.sync("data", full=True)
        assert (receipt.counters.created, len(portal.asked)) == (ALL, ALL // PAGE)


@pytest.mark.parametrize(
    "family", [LongArchive, LongDataverse, LongUdata, LongCsw, LongRecords, LongHub, LongDcat]
)
async def test_a_list_by_token_page_offset_or_link_goes_on_where_it_was(
    tmp_path: Path, family: type[Family]
) -> None:
    portal = family(ALL)
    async with a_killed_harvest(portal, tmp_path) as world:
        embedded = len(world.embedder.embedded)
        assert 0 < await stored(world) < ALL
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, ALL)
        # What waits in the queue, is embedded or is written when the run is killed is asked for again.
        assert len(portal.asked) <= ALL // PAGE - (KILLED_AT * PAGE - 5 * SMALL) // PAGE + 2
        assert receipt.counters.embeddings_computed <= ALL - embedded + 2 * SMALL
        assert len(set(world.embedder.embedded)) == ALL
        assert await visible(world) == set(portal.live)
        again = await world.sync("data")
        # Everything is listed once more: the stored part may have changed between the two runs.
        assert (again.counters.unchanged, again.counters.deleted) == (ALL, 0)
        assert again.counters.pages >= ALL // PAGE


@pytest.mark.parametrize("family", [LongArchive, LongDataverse, LongUdata, LongHub, LongDcat])
@pytest.mark.parametrize("change", ["more", "fewer"])
async def test_a_list_of_another_number_is_read_from_its_beginning(
    tmp_path: Path, family: type[Family], change: str
) -> None:
    portal = family(ALL)
    async with a_killed_harvest(portal, tmp_path) as world:
        if change == "more":
            portal.records[f"{min(portal.records)}-new"] = Record("Another", "Measured again")
        else:
            portal.records[min(portal.records)].deleted = True
        await world.sync("data")
        assert set(portal.live) <= await visible(world)
        await world.sync("data")
        assert await visible(world) == set(portal.live)


async def test_a_changed_first_page_has_the_list_read_from_its_beginning(tmp_path: Path) -> None:
    portal = LongDataverse(ALL)
    async with a_killed_harvest(portal, tmp_path) as world:
        portal.records[min(portal.records)].text = "Measured in another way"
        receipt = await world.sync("data")
        assert receipt.status is RunStatus.COMPLETED
        assert len(portal.asked) > ALL // PAGE
        assert await world.found("Measured in another way")


async def test_a_token_that_expired_meanwhile_begins_the_list_anew(tmp_path: Path) -> None:
    portal = ForgetfulArchive(ALL)
    async with a_killed_harvest(portal, tmp_path) as world:
        embedded = len(world.embedder.embedded)
        portal.forgets = set(range(PAGE, ALL, PAGE))
        receipt = await world.sync("data")
        assert receipt.counters.created == ALL
        assert ["resumptionToken" in one for one in portal.asked[:2]] == [True, False]
        assert receipt.counters.embeddings_computed <= ALL - embedded + 2 * SMALL
        assert await visible(world) == set(portal.live)


@pytest.mark.parametrize(
    ("family", "place"), [(LongRecords, "offset"), (LongHub, "startindex"), (LongDcat, "page")]
)
async def test_an_address_that_is_refused_meanwhile_begins_the_list_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, family: type[Family], place: str
) -> None:
    portal = family(ALL)
    async with a_killed_harvest(portal, tmp_path) as world:
        answered = portal.answer

        def refused_at_first(path: str, params: dict[str, str], base: str) -> Reply:
            return Reply("gone", 404) if len(portal.asked) == 1 else answered(path, params, base)

        monkeypatch.setattr(portal, "answer", refused_at_first)
        receipt = await world.sync("data")
        assert [place in one for one in portal.asked[:2]] == [True, False]
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, ALL)
        assert await visible(world) == set(portal.live)


async def test_a_full_sync_of_such_a_list_begins_anew(tmp_path: Path) -> None:
    portal = LongDataverse(ALL)
    async with a_killed_harvest(portal, tmp_path) as world:
        receipt = await world.sync("data", full=True)
        assert receipt.counters.created == ALL
        assert len(portal.asked) >= ALL // PAGE
