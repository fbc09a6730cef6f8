"""What holds for every family of portals: complete lists, deletions by proof, faults that delete nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from rowen.core.run import RunStatus, StopReason
from rowen.kinds.api.kind import KINDS
from tests.support.portals.catalogues import Udata
from tests.support.portals.every import COUNTED, FAMILIES, HUBS, PAGED
from tests.support.portals.geo import Csw, OgcRecords, StacApi
from tests.support.portals.hubs import ArcgisHub, PagedDcat, Socrata
from tests.support.portals.repositories import Dataverse, Invenio
from tests.support.portals.skeleton import Family
from tests.support.portals.trying import a_source_of, visible

pytestmark = pytest.mark.anyio

NUMBER = 25
every = pytest.mark.parametrize("family", (*FAMILIES, *HUBS), ids=lambda one: one.__name__)
paged = pytest.mark.parametrize("family", (*PAGED, *HUBS), ids=lambda one: one.__name__)
counted = pytest.mark.parametrize("family", (*COUNTED, ArcgisHub, PagedDcat), ids=lambda one: one.__name__)


def a_portal(family: type[Family]) -> Family:
    """25 datasets, at most ten of them in an answer."""
    portal = family(NUMBER)
    portal.most = 10
    return portal


@every
async def test_all_datasets_come_are_found_and_are_kept_whole(tmp_path: Path, family: type[Family]) -> None:
    portal = a_portal(family)
    async with a_source_of(portal, tmp_path) as world:
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created, receipt.counters.failed) == (
            RunStatus.COMPLETED, NUMBER, 0,
        )  # fmt: skip
        answer = await world.search(f"columns of {portal.kind} number 17")
        assert answer.hits[0].title == "Dataset 17"
        known = await world.store.known((await world.source("data")).id)
        record = await world.store.record(next(iter(known.values())).document_id)
        assert "Rows and columns" in json.dumps(json.loads(record or b""))


@every
async def test_an_unchanged_portal_costs_no_write_and_one_that_lost_a_dataset_deletes_it(
    tmp_path: Path, family: type[Family]
) -> None:
    portal = a_portal(family)
    async with a_source_of(portal, tmp_path) as world:
        await world.sync("data")
        before = await visible(world)
        receipt = await world.sync("data", full=False)
        assert (receipt.counters.created, receipt.counters.updated, receipt.counters.embeddings_computed) == (
            0,
            0,
            0,
        )
        name = sorted(portal.records)[NUMBER - 1]
        del portal.records[name]
        receipt = await world.sync("data", full=True)
        assert (receipt.status, receipt.counters.deleted) == (RunStatus.COMPLETED, 1)
        assert len(before - await visible(world)) == 1


@every
async def test_a_portal_that_is_broken_in_any_way_loses_nothing(tmp_path: Path, family: type[Family]) -> None:
    portal = family(12)
    async with a_source_of(portal, tmp_path) as world:
        await world.sync("data")
        for portal.fault in ("close", "error", "html", "empty", "cut"):
            receipt = await world.sync("data", full=True)
            assert (receipt.status, receipt.counters.deleted) == (RunStatus.FAILED, 0), portal.fault
            assert receipt.error, portal.fault
            assert len(await visible(world)) == 12, portal.fault


@paged
async def test_a_list_that_breaks_off_in_any_way_is_partial_says_so_and_deletes_nothing(
    tmp_path: Path, family: type[Family]
) -> None:
    portal = a_portal(family)
    async with a_source_of(portal, tmp_path) as world:
        await world.sync("data")
        del portal.records[sorted(portal.records)[0]]
        portal.fault_from = portal.begins
        for portal.fault in ("close", "error", "html", "cut"):
            portal.asked.clear()
            receipt = await world.sync("data", full=True)
            assert (receipt.status, receipt.counters.deleted) == (RunStatus.PARTIAL, 0), portal.fault
            assert receipt.error or receipt.hint, portal.fault
            assert len(await visible(world)) == NUMBER, portal.fault


@every
async def test_an_empty_list_wipes_nothing(tmp_path: Path, family: type[Family]) -> None:
    portal = family(12)
    async with a_source_of(portal, tmp_path) as world:
        await world.sync("data")
        portal.records.clear()
        receipt = await world.sync("data", full=True)
        assert (receipt.status, receipt.counters.deleted) == (RunStatus.FAILED, 0)
        assert len(await visible(world)) == 12


@counted
async def test_progress_counts_no_dataset_of_a_page_twice(tmp_path: Path, family: type[Family]) -> None:
    async with a_source_of(a_portal(family), tmp_path) as world:
        await world.sync("data")
        told = [event for event in world.events if event.kind == "item"]
        assert {number + event.queued for number, event in enumerate(told, 1)} == {NUMBER}


@counted
async def test_a_first_list_that_announces_datasets_and_has_none_fails(
    tmp_path: Path, family: type[Family]
) -> None:
    portal = family(0)
    portal.announces = 6
    async with a_source_of(portal, tmp_path) as world:
        receipt = await world.sync("data")
        assert (receipt.status, bool(receipt.error)) == (RunStatus.FAILED, True)


@counted
async def test_a_total_that_is_too_large_is_partial_and_deletes_nothing(
    tmp_path: Path, family: type[Family]
) -> None:
    portal = a_portal(family)
    async with a_source_of(portal, tmp_path) as world:
        await world.sync("data")
        portal.announces = 20
        del portal.records[sorted(portal.records)[0]]
        receipt = await world.sync("data", full=True)
        assert (receipt.status, receipt.stop_reason) == (RunStatus.PARTIAL, StopReason.LISTING_CUT)
        assert (receipt.counters.deleted, "24 of 44" in (receipt.hint or "")) == (0, True)


@counted
@pytest.mark.parametrize("announced", [1, 10, 20, NUMBER - 1])
async def test_a_total_that_is_too_small_loses_nothing(
    tmp_path: Path, family: type[Family], announced: int
) -> None:
    portal = a_portal(family)
    portal.announces = announced - NUMBER
    async with a_source_of(portal, tmp_path) as world:
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, NUMBER)


@counted
async def test_a_total_that_becomes_too_small_deletes_nothing(tmp_path: Path, family: type[Family]) -> None:
    portal = a_portal(family)
    async with a_source_of(portal, tmp_path) as world:
        await world.sync("data")
        portal.announces = 10 - NUMBER
        receipt = await world.sync("data", full=True)
        assert (receipt.status, receipt.counters.deleted) == (RunStatus.COMPLETED, 0)
        assert len(await visible(world)) == NUMBER


@pytest.mark.parametrize("family", [Udata, Dataverse, Csw])
async def test_a_total_is_proven_by_one_request_and_only_where_the_last_page_may_be_full(
    tmp_path: Path, family: type[Family]
) -> None:
    for number, asked in ((7, 2), (10, 2), (15, 2), (20, 3)):
        portal = family(number)
        portal.most = 10
        async with a_source_of(portal, tmp_path / str(number)) as world:
            for _ in range(2):
                portal.asked.clear()
                receipt = await world.sync("data", full=True)
                assert (receipt.status, len(await visible(world))) == (RunStatus.COMPLETED, number)
                assert len(portal.asked) == asked, number


@pytest.mark.parametrize("family", [Invenio, Socrata])
async def test_a_portal_that_answers_as_many_as_it_is_asked_for_needs_no_proof_behind_a_short_page(
    tmp_path: Path, family: type[Family]
) -> None:
    portal = family(7)
    portal.most = 1000
    async with a_source_of(portal, tmp_path) as world:
        receipt = await world.sync("data", full=True)
        assert (receipt.status, len(portal.asked)) == (RunStatus.COMPLETED, 1)


@pytest.mark.parametrize("family", [Invenio, Socrata])
@pytest.mark.parametrize("announced", [10, 20])
async def test_its_total_is_no_proof_behind_a_full_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, family: type[Family], announced: int
) -> None:
    kind = KINDS[family.kind]
    settings = {**kind.preset.settings, "page_size": "10"}
    monkeypatch.setattr(kind, "preset", replace(kind.preset, settings=settings))
    portal = family(NUMBER)
    portal.announces = announced - NUMBER
    async with a_source_of(portal, tmp_path) as world:
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, NUMBER)


async def test_a_failure_behind_all_that_was_announced_proves_nothing(tmp_path: Path) -> None:
    portal = Dataverse(12)
    async with a_source_of(portal, tmp_path) as world:
        await world.sync("data")
        del portal.records[min(portal.records)]
        portal.asked.clear()
        portal.fault, portal.fault_from = "error", 2
        receipt = await world.sync("data", full=True)
        assert (receipt.status, receipt.counters.deleted) == (RunStatus.PARTIAL, 0)
        # No smaller page is asked for: this one is to be empty.
        assert len({one["per_page"] for one in portal.asked}) == 1


async def test_what_is_wanted_is_sent_and_looked_at_again(tmp_path: Path) -> None:
    for number, (family, settings, sent, left) in enumerate(
        [
            (Udata, {"tags": "eau"}, {"tag": "eau"}, 12),
            (Udata, {"tags": "feu"}, {"tag": "feu"}, 0),
            (Dataverse, {"tags": "water"}, {"fq": 'keywordValue_ss:"water"'}, 12),
            (OgcRecords, {"types": "dataset"}, {"type": "dataset"}, 12),
            (StacApi, {"bbox": "8,46,9,47"}, {}, 12),
            (StacApi, {"bbox": "20,46,21,47"}, {}, 0),
        ]
    ):
        portal = family(12)
        async with a_source_of(portal, tmp_path / str(number), **settings) as world:
            await world.sync("data")
            assert sent.items() <= portal.asked[0].items()
            assert len(await visible(world)) == left
