"""What holds for every family of portals: complete lists, deletions by proof, faults that delete nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rowen.core.run import RunStatus, StopReason
from tests.support.portals.catalogues import Udata
from tests.support.portals.every import COUNTED, FAMILIES, PAGED
from tests.support.portals.geo import OgcRecords, StacApi
from tests.support.portals.repositories import Dataverse
from tests.support.portals.skeleton import Family
from tests.support.portals.trying import a_source_of, visible

pytestmark = pytest.mark.anyio

NUMBER = 25
every = pytest.mark.parametrize("family", FAMILIES, ids=lambda one: one.__name__)
paged = pytest.mark.parametrize("family", PAGED, ids=lambda one: one.__name__)
counted = pytest.mark.parametrize("family", COUNTED, ids=lambda one: one.__name__)


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
async def test_a_total_that_is_too_small_loses_nothing(tmp_path: Path, family: type[Family]) -> None:
    portal = a_portal(family)
    portal.announces = -5
    async with a_source_of(portal, tmp_path) as world:
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, NUMBER)


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
