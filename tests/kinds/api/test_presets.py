"""Presets: settings of `rest` that fit together, and documents that stay the ones a store holds."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.core import hashing, params
from rowen.core.document import payload_hash
from rowen.core.section import prose_of
from rowen.errors import BadLocation
from rowen.kinds.api import items
from rowen.kinds.api.datasets import dcat
from rowen.kinds.api.expression import compiled
from rowen.kinds.api.kind import KINDS, PRESETS
from rowen.kinds.api.presets import preset as presets
from rowen.kinds.api.presets.preset import Preset
from rowen.kinds.api.rules import Definition
from rowen.kinds.api.settings import PARAMS
from rowen.kinds.ckan import rules as ckan
from tests.kinds.api import test_catalogues as catalogues
from tests.support.board_server import a_greenhouse_job, a_lever_posting, an_infojobs_offer
from tests.support.ckan_server import a_dataset

BOARDS = [preset for preset in PRESETS if preset.hosts]


@pytest.mark.parametrize("preset", PRESETS, ids=lambda one: one.kind)
def test_a_preset_is_settings_of_rest_that_fit_together(preset: Preset) -> None:
    location = preset.home.replace("{site}", "acme") or "https://data.example.org"
    given = presets.settings_for(preset, location)
    api = Definition(params.complete(PARAMS, params.read(PARAMS, given)), preset)
    assert api.provider == (preset.kind if preset in BOARDS else "")
    assert not {"{site}", "{host}"} & set(" ".join(given.values()).split())
    assert set(preset.offered) <= {spec.name for spec in PARAMS}
    if preset.catalogue is not None:
        for text in (preset.catalogue.name, preset.catalogue.resources):
            assert not text or compiled("catalogue", text)
        assert {f"meta.{name}" for name in preset.catalogue.lists} <= set(given)


@given(st.text())
def test_no_location_is_too_odd_for_a_board(location: str) -> None:
    for preset in BOARDS:
        presets.claims(preset, location)
        try:
            found = presets.api_behind(preset, location)
        except BadLocation:
            continue
        presets.settings_for(preset, found)


def test_a_site_with_a_quote_in_its_name_breaks_no_expression() -> None:
    given = presets.settings_for(KINDS["lever"].preset, "https://api.lever.co/v0/postings/a'b")
    assert given["offer.company_id"] == "''"


def the_definition(preset: Preset, home: str) -> Definition:
    given = params.read(PARAMS, presets.settings_for(preset, home))
    return Definition(params.complete(PARAMS, given), preset)


def stored_hash(reading: items.Reading) -> str:
    """What decides whether a document of a store says the same; facts and languages are newer."""
    text = hashing.of_text(prose_of(reading.text))
    metadata = {name: value for name, value in reading.metadata.items() if name != "languages"}
    return payload_hash(text, reading.title, reading.url, metadata).hex()[:16]


def a_catalogue_item(kind: str) -> Any:
    server: Any = SimpleNamespace(items={"a-1": {"n": 1}}, hidden=set(), url="https://p.example")
    path = KINDS[kind].preset.settings.get("path", "")
    match kind:
        case "socrata":
            return catalogues.socrata(server, path, {"domains": "127.0.0.1"})[1]["results"][0]
        case "opendatasoft":
            return catalogues.opendatasoft(server, path, {})[1]["results"][0]
        case "arcgis":
            return catalogues.arcgis(server, path, {})[1]["features"][0]
    return json.loads(catalogues.data_json(1))["dataset"][0]


@pytest.mark.parametrize(
    ("kind", "stored"),
    [
        ("socrata", "c106c25d02edc0d7"),
        ("opendatasoft", "d870fc80f7c4fe3d"),
        ("arcgis", "3dedbbb02535f59e"),
        ("dcat", "76551126aaa06ede"),
    ],
)
def test_datasets_say_what_version_0_1_0_stored(kind: str, stored: str) -> None:
    api, item = the_definition(KINDS[kind].preset, "https://p.example"), a_catalogue_item(kind)
    reading = items.read(api, items.listed(api, item), item, home="https://p.example")
    assert stored_hash(reading) == stored


def test_datasets_in_json_ld_and_of_ckan_say_what_version_0_1_0_stored() -> None:
    api = the_definition(KINDS["dcat"].preset, "https://p.example")
    # Version 0.1.0 kept one language.
    body = json.dumps(catalogues.JSON_LD).replace(', {"@language": "en", "@value": "Air quality"}', "")
    (item,) = dcat.read(body.encode(), content_type="", url="https://p.example")["dataset"]
    reading = items.read(api, items.listed(api, item), item, home="https://p.example", language="de")
    assert stored_hash(reading) == "7b7d3aef4e2263cb"
    reading = ckan.dataset_of(a_dataset(1), portal="https://p.example", language="", template="")
    assert stored_hash(reading) == "bcc9aac4370c084d"


@pytest.mark.parametrize(
    ("kind", "item", "stored"),
    [
        ("greenhouse", a_greenhouse_job(1), "1736dc4a4d2d1e0c"),
        ("lever", a_lever_posting(1), "634fd5b14bc131f4"),
        ("infojobs", an_infojobs_offer(1, datetime(2024, 1, 1, tzinfo=UTC)), "c7deeb9b0056511b"),
    ],
    ids=["greenhouse", "lever", "infojobs"],
)
def test_job_listings_have_the_digest_that_version_0_1_0_stored(kind: str, item: Any, stored: str) -> None:
    preset = KINDS[kind].preset
    home = preset.home.replace("{site}", "acme")
    api = the_definition(preset, home)
    whole = items.with_detail(item, item) if api.detail else item
    reading = items.read(api, items.listed(api, item), whole, home=home)
    assert reading.digest.hex()[:16] == stored
