"""Archives in OAI-PMH: tokens that expire, records that are deleted, increments, errors with status 200."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rowen.core import params
from rowen.core.run import Mode, RunStatus, StopReason
from rowen.errors import Expired, Unfetchable, Unparseable
from rowen.kinds.api import items
from rowen.kinds.api.datasets import oai
from rowen.kinds.api.kind import KINDS
from rowen.kinds.api.presets import preset as presets
from rowen.kinds.api.rules import Definition
from rowen.kinds.api.settings import PARAMS
from rowen.kinds.api.walking.walk import RESTARTS
from tests.support.portals.oai_pmh import Archive
from tests.support.portals.trying import a_source_of, metadata, visible

pytestmark = pytest.mark.anyio

HOUR, DAY = 3_600, 86_400


async def test_an_archive_is_listed_by_tokens_and_then_asked_for_changes(tmp_path: Path) -> None:
    archive = Archive(250)
    async with a_source_of(archive, tmp_path) as world:
        receipt = await world.sync("data")
        assert (receipt.status, receipt.mode, receipt.counters.created) == (
            RunStatus.COMPLETED,
            Mode.FULL,
            250,
        )
        assert [sorted(one) for one in archive.asked[:2]] == [
            ["", "metadataPrefix", "verb"],
            ["", "resumptionToken", "verb"],
        ]
        assert len(archive.asked) == 3
        found = await metadata(world, "oai_pmh-0000")
        assert (found["creators"], found["tags"], found["publisher"]) == (
            ["Doe, Jane"],
            ["water"],
            "University",
        )
        archive.asked.clear()
        world.clock.advance(1 * DAY)
        archive.records["oai_pmh-0003"].text = "Another text"
        archive.records["oai_pmh-0003"].changed = world.clock.now()
        receipt = await world.sync("data")
        assert (receipt.mode, receipt.counters.updated, receipt.counters.deleted) == (Mode.INCREMENTAL, 1, 0)
        assert [one.get("from") for one in archive.asked] == ["2023-12-31"]
        assert len(await visible(world)) == 250


async def test_a_deleted_record_is_a_removal_by_evidence(tmp_path: Path) -> None:
    archive = Archive(30)
    async with a_source_of(archive, tmp_path) as world:
        await world.sync("data")
        world.clock.advance(2 * HOUR)
        archive.records["oai_pmh-0007"].deleted = True
        archive.records["oai_pmh-0007"].changed = world.clock.now()
        receipt = await world.sync("data")
        assert (receipt.mode, receipt.counters.deleted) == (Mode.INCREMENTAL, 1)
        assert await visible(world) == set(archive.live)
        # Told again in the next increment, it is gone already.
        assert (await world.sync("data")).counters.deleted == 0


async def test_what_an_archive_forgets_is_found_by_its_next_complete_list(tmp_path: Path) -> None:
    archive = Archive(30)
    archive.drops_deleted = True
    async with a_source_of(archive, tmp_path) as world:
        await world.sync("data")
        archive.records["oai_pmh-0007"].deleted = True
        world.clock.advance(1 * DAY)
        assert (await world.sync("data")).counters.deleted == 0
        world.clock.advance(7 * DAY)
        receipt = await world.sync("data")
        assert (receipt.mode, receipt.counters.deleted) == (Mode.FULL, 1)


async def test_a_token_that_expires_begins_the_list_anew_and_loses_nothing(tmp_path: Path) -> None:
    archive = Archive(450)
    archive.forgets = {200, 300}
    async with a_source_of(archive, tmp_path) as world:
        receipt = await world.sync("data")
        assert (receipt.status, receipt.counters.created, receipt.counters.failed) == (
            RunStatus.COMPLETED, 450, 0,
        )  # fmt: skip
        assert await visible(world) == set(archive.live)
        archive.forgets = {400}
        archive.records["oai_pmh-0007"].deleted = True
        receipt = await world.sync("data", full=True)
        assert (receipt.counters.deleted, await visible(world)) == (1, set(archive.live))


async def test_a_token_that_always_expires_ends_partial_and_deletes_nothing(tmp_path: Path) -> None:
    archive = Archive(250)
    async with a_source_of(archive, tmp_path) as world:
        await world.sync("data")
        archive.forgets_always = {200}
        del archive.records["oai_pmh-0007"]
        receipt = await world.sync("data", full=True)
        assert (receipt.status, receipt.counters.deleted) == (RunStatus.PARTIAL, 0)
        assert "does not know its resumption token" in (receipt.error or "")
        assert len(await visible(world)) == 250
        assert sum("metadataPrefix" in one for one in archive.asked) == 2 + RESTARTS


async def test_an_archive_of_days_is_asked_by_days(tmp_path: Path) -> None:
    archive = Archive(5)
    archive.by_day = True
    async with a_source_of(archive, tmp_path) as world:
        await world.sync("data")
        receipt = await world.sync("data")
        # Nothing changed: the archive says so by an error that is none.
        assert (receipt.status, receipt.mode, receipt.hint) == (RunStatus.COMPLETED, Mode.INCREMENTAL, None)


async def test_a_web_page_in_the_middle_of_a_list_deletes_nothing(tmp_path: Path) -> None:
    archive = Archive(250)
    async with a_source_of(archive, tmp_path) as world:
        await world.sync("data")
        archive.fault, archive.fault_from = "html", len(archive.asked) + 2
        receipt = await world.sync("data", full=True)
        assert (receipt.status, receipt.stop_reason) == (RunStatus.PARTIAL, StopReason.ERROR)
        assert "a web page" in (receipt.error or "")
        assert (receipt.counters.deleted, len(await visible(world))) == (0, 250)


async def test_fewer_records_than_announced_are_partial_and_prove_nothing(tmp_path: Path) -> None:
    archive = Archive(150)
    async with a_source_of(archive, tmp_path) as world:
        await world.sync("data")
        archive.announces = 20
        del archive.records["oai_pmh-0007"]
        receipt = await world.sync("data", full=True)
        assert (receipt.status, receipt.stop_reason) == (RunStatus.PARTIAL, StopReason.LISTING_CUT)
        assert (receipt.counters.deleted, "149 of 169" in (receipt.hint or "")) == (0, True)


async def test_a_set_is_asked_for_and_the_record_is_kept_whole(tmp_path: Path) -> None:
    archive = Archive(1)
    async with a_source_of(archive, tmp_path, set="open-data") as world:
        await world.sync("data")
        assert archive.asked[0]["set"] == "open-data"
        source = await world.source("data")
        known = (await world.store.known(source.id))["oai_pmh-0000"]
        record = json.loads(await world.store.record(known.document_id) or b"")
        assert record["metadata"][0]["dc"][0]["title"] == [{"@language": "en", "@value": "Dataset 0"}]


def test_the_title_of_a_record_is_in_the_language_that_its_text_begins_with() -> None:
    preset = KINDS["oai_pmh"].preset
    given = params.read(PARAMS, presets.settings_for(preset, "https://a.example"))
    api = Definition(params.complete(PARAMS, given), preset)
    said = [{"@language": "fr", "@value": "Étude"}, {"@language": "en", "@value": "Study"}]
    record = {"header": [{"identifier": ["a"]}], "metadata": [{"dc": [{"title": said}]}]}
    for language, title in (("", "Study"), ("fr", "Étude")):
        one = items.listed(api, record)
        reading = items.read(api, one, record, home="https://a.example", language=language)
        assert (reading.title, reading.text.startswith(f"# {title}")) == (title, True)


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ('<OAI-PMH><error code="badResumptionToken"/></OAI-PMH>', Expired),
        ('<OAI-PMH><error code="badVerb">no</error></OAI-PMH>', Unfetchable),
        ("<html><body>Sorry</body></html>", Unparseable),
        ('<!DOCTYPE x [<!ENTITY a "b">]><OAI-PMH>&a;</OAI-PMH>', Unparseable),
        ("<OAI-PMH><ListRecords>", Unparseable),
        ("<a>" * 100, Unparseable),
        ("", Unparseable),
    ],
)
def test_answers_that_are_none_are_told_apart(body: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        oai.read(body.encode(), content_type="text/xml", url="https://archive.example/oai")
