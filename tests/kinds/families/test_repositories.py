"""InvenioRDM's window and page sizes, and Dataverse's metadata."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from rowen.core.run import Mode, RunStatus
from rowen.kinds.api.kind import KINDS
from tests.support.portals.repositories import Dataverse, Invenio
from tests.support.portals.skeleton import BEGAN
from tests.support.portals.trying import a_source_of, metadata, visible

pytestmark = pytest.mark.anyio


async def test_a_page_size_that_is_refused_is_halved_until_it_is_taken(tmp_path: Path) -> None:
    portal = Invenio(60)
    portal.most = 25
    async with a_source_of(portal, tmp_path) as world:
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, 60)
        assert [(one["page"], one["size"]) for one in portal.asked] == [
            ("1", "100"), ("1", "50"), ("1", "25"), ("2", "25"), ("3", "25"),
        ]  # fmt: skip


async def test_records_behind_the_window_are_read_by_dates_of_creation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = KINDS["invenio"]
    assert kind.preset.catalogue is not None
    monkeypatch.setattr(
        kind, "preset", replace(kind.preset, catalogue=replace(kind.preset.catalogue, offset_end=100))
    )
    portal = Invenio(350)
    portal.window = 100
    for number, one in enumerate(portal.records.values()):
        one.changed = BEGAN - timedelta(days=number)
    async with a_source_of(portal, tmp_path) as world:
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created) == (RunStatus.COMPLETED, 350)
        del portal.records["invenio-0100"]
        receipt = await world.sync("data", full=True)
        assert (receipt.counters.deleted, await visible(world)) == (1, set(portal.records))


async def test_later_runs_ask_what_was_updated(tmp_path: Path) -> None:
    portal = Invenio(30)
    async with a_source_of(portal, tmp_path) as world:
        await world.sync("data")
        portal.asked.clear()
        world.clock.advance(86_400)
        portal.records["invenio-0003"].title = "Another title"
        portal.records["invenio-0003"].changed = world.clock.now()
        receipt = await world.sync("data")
        assert (receipt.mode, receipt.counters.updated, receipt.counters.deleted) == (Mode.INCREMENTAL, 1, 0)
        assert [one["q"] for one in portal.asked] == ["updated:[2023-12-31 TO *]"]


async def test_an_archive_that_refuses_the_filter_is_listed_whole(tmp_path: Path) -> None:
    portal = Invenio(30)
    portal.filters = False
    async with a_source_of(portal, tmp_path) as world:
        await world.sync("data")
        world.clock.advance(86_400)
        receipt = await world.sync("data")
        assert (receipt.status, receipt.mode, receipt.counters.unchanged) == (
            RunStatus.COMPLETED,
            Mode.FULL,
            30,
        )
        assert "refuses the question what changed" in (receipt.hint or "")


async def test_what_dataverse_and_invenio_say_of_a_dataset_can_be_filtered_by(tmp_path: Path) -> None:
    async with a_source_of(Dataverse(1), tmp_path) as world:
        await world.sync("data")
        found = await metadata(world, "dataverse-0000")
        assert (found["creators"], found["themes"], found["tags"], found["publisher"]) == (
            ["Doe, Jane"], ["Earth Sciences"], ["water"], "University",
        )  # fmt: skip
    async with a_source_of(Invenio(1), tmp_path / "second") as world:
        await world.sync("data")
        found = await metadata(world, "invenio-0000")
        assert (found["type"], found["license"], found["formats"]) == ("Dataset", "cc-by-4.0", ["CSV"])
