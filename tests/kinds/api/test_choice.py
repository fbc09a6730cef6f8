"""What chooses among datasets: facts in any spelling, areas in any notation, and what is sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from rowen.core import params as parameters
from rowen.kinds.api import rules
from rowen.kinds.api.datasets import areas
from rowen.kinds.api.datasets.areas import Area
from rowen.kinds.api.datasets.choice import Choice
from rowen.kinds.api.kind import KINDS
from tests.kinds.api.test_catalogues import a_portal, opendatasoft, visible

HOME = "https://data.example.org"


@pytest.mark.parametrize(
    ("value", "area"),
    [
        ("5.9,45.8,10.5,47.8", Area(5.9, 45.8, 10.5, 47.8)),
        ("[5, 45, 10, 47]", Area(5, 45, 10, 47)),
        ([5, 45, 10, 47], Area(5, 45, 10, 47)),
        ('{"type": "Point", "coordinates": [7, 46]}', Area(7, 46, 7, 46)),
        ({"type": "MultiPoint", "coordinates": [[7, 46], [8, 45]]}, Area(7, 45, 8, 46)),
        ({"bbox": [5, 45, 10, 47]}, Area(5, 45, 10, 47)),
        ({"type": "GeometryCollection", "geometries": [{"coordinates": [7, 46]}]}, Area(7, 46, 7, 46)),
        ("ENVELOPE(5, 10, 47, 45)", Area(5, 45, 10, 47)),
        ("<http://opengis.net/crs/4326> POLYGON((5 45, 10 45, 10 47, 5 45))", Area(5, 45, 10, 47)),
        ("Switzerland", None),
        ("{broken", None),
        (None, None),
        ([[[[[[[[[[[7, 46]]]]]]]]]]], None),
        ([True, 1], None),
        (["a", 1], None),
        ("9" * 300_000, None),
    ],
)  # fmt: skip
def test_areas_are_read_in_the_notations_of_portals(value: Any, area: Area | None) -> None:
    assert areas.of_value(value) == area


def test_facts_are_compared_without_case_and_spaces() -> None:
    choice = Choice({"organizations": ["the  agency"], "formats": ["csv"]})
    assert choice.fits({"publisher": "The Agency", "formats": ["CSV", "PDF"]}, "")
    assert not choice.fits({"publisher": "Another", "formats": ["CSV"]}, "")
    assert not choice.fits({"publisher": "The Agency"}, "")


def test_words_are_looked_for_unless_the_portal_has_done_so() -> None:
    choice = Choice({"query": "Rain Gauge"})
    assert choice.fits({}, "the rain, by gauge")
    assert not choice.fits({}, "the rain")
    assert choice.fits({}, "the rain", searched=True)


def test_an_area_chooses_what_it_meets() -> None:
    choice = Choice({"bbox": "5,45,10,47"})
    assert choice.fits({"spatial": "9,46,20,50"}, "")
    assert not choice.fits({"spatial": "11,46,20,50"}, "")
    assert not choice.fits({"spatial": "Europe"}, "")


@pytest.mark.parametrize(
    ("kind", "settings", "sent"),
    [
        ("socrata", {"query": "rain", "tags": "air"}, {("q", "rain"), ("tags", "air")}),
        ("opendatasoft", {"organizations": "A: B"}, {("refine", "publisher:A: B")}),
        ("opendatasoft", {"tags": "x", "themes": "A"}, {("refine", "keyword:x"), ("refine", "theme:A")}),
        ("arcgis", {"bbox": "1,2,3,4", "types": "Map"}, {("bbox", "1,2,3,4"), ("type", "Map")}),
        ("opendatasoft", {"themes": "A,B"}, set()),
        ("dcat", {"query": "rain"}, set()),
    ],
)  # fmt: skip
def test_what_an_api_can_filter_by_is_sent(kind: str, settings: dict[str, str], sent: set[Any]) -> None:
    api = KINDS[kind]
    given = parameters.complete(api.params, parameters.read(api.params, settings))
    _, definition = api._defined(HOME, given)
    url = rules.page_url(definition, HOME, {"limit": "10"})
    names = {name for _, (name, _) in (api.preset.catalogue.choices if api.preset.catalogue else {}).items()}
    assert {pair for pair in parse_qsl(urlsplit(url).query) if pair[0] in names} == sent


@pytest.mark.anyio
async def test_datasets_that_are_not_chosen_are_left_out_and_counted(tmp_path: Path) -> None:
    def by_theme(server: Any, path: str, params: dict[str, str]) -> tuple[int, Any]:
        status, found = opendatasoft(server, path, params)
        for one in found.get("results", [found] if "metas" in found else []):
            if int(one["dataset_id"][-1]) % 2:
                one["metas"]["default"]["theme"] = ["Other"]
        return status, found

    async with a_portal(tmp_path, "opendatasoft", answer=by_theme, number=10, themes="verkehr") as (world, _):
        receipt = await world.sync("data")
        assert (receipt.counters.created, receipt.counters.ignored["not_chosen"]) == (5, 5)
        assert all(int(one[-1]) % 2 == 0 for one in await visible(world))
