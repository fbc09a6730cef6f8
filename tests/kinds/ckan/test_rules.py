"""What CKAN portals answer, and what they meant."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.core.section import Form, prose_of
from rowen.core.split import split
from rowen.errors import RowenError, ServerFailed, Unparseable
from rowen.kinds.ckan import rules as ckan
from rowen.kinds.ckan.rules import Refused

URL = "https://data.example.org/api/3/action/package_search"


@pytest.mark.parametrize(
    "location",
    [
        "https://data.example.org",
        "https://data.example.org/",
        "https://data.example.org/dataset",
        "https://data.example.org/dataset/?q=x",
        "https://data.example.org/api/3/action/package_search?rows=1",
        "https://data.example.org/api/3",
        "https://data.example.org/api/3/action/",
    ],
)
def test_any_address_of_a_portal_leads_home(location: str) -> None:
    assert ckan.home(location) == "https://data.example.org"


def test_portals_below_a_path_keep_it() -> None:
    assert ckan.home("https://example.org/open/data/dataset") == "https://example.org/open/data"
    url = ckan.action_url("https://example.org/open/data", "package_show", {"id": "a b"})
    assert url == "https://example.org/open/data/api/3/action/package_show?id=a+b"


def test_filters_are_quoted() -> None:
    assert ckan.after('a"b\\c') == 'id:{"a\\"b\\\\c" TO *]'
    moment = datetime(2024, 1, 1, 2, tzinfo=timezone(timedelta(hours=2)))
    assert ckan.modified_since(moment) == "metadata_modified:[2024-01-01T00:00:00Z TO *]"


@pytest.mark.parametrize(
    ("status", "body", "error", "said"),
    [
        (
            200,
            '{"success": false, "error": {"__type": "Authorization Error", "message": "No"}}',
            Refused,
            "403",
        ),
        (200, '{"success": false, "error": {"__type": "Not Found Error"}}', Refused, "404"),
        (200, '{"success": false, "error": "x"}', ServerFailed, "failed: x"),
        (200, '{"success": false}', ServerFailed, "failed"),
        (200, '"Internal error"', ServerFailed, "Internal error"),
        (200, "<html></html>", Unparseable, "a web page"),
        (200, "", Unparseable, "no JSON"),
        (200, '{"success": true, "result": {"cou', Unparseable, "no JSON"),
        (200, '{"success": true}', Unparseable, "without a result"),
        (400, '"Bad request - JSON Error"', Refused, "Bad request - JSON Error"),
        (
            403,
            '{"success": false, "error": {"__type": "Authorization Error", "message": "No"}}',
            Refused,
            "403",
        ),
        (404, "<html></html>", Refused, "404"),
        (
            409,
            '{"success": false, "error": {"q": ["wrong"], "__type": "Validation Error"}}',
            Refused,
            "validation",
        ),
        (409, '{"success": false, "error": {"message": {"x": 1}}}', Refused, "{'x': 1}"),
        (404, "null", Refused, "404"),
        (200, "[]", ServerFailed, "failed"),
    ],
)
def test_refusals_and_failures_in_all_their_forms(
    status: int, body: str, error: type[RowenError], said: str
) -> None:
    with pytest.raises(error) as caught:
        ckan.result_of(status, body.encode(), URL)
    assert said in caught.value.message


def test_pages_come_as_objects_and_as_lists() -> None:
    rows = [{"id": "a"}]
    assert ckan.page_of({"count": 5, "results": rows}, URL) == ckan.Page(rows, 5)
    assert ckan.page_of({"count": "5", "results": rows}, URL) == ckan.Page(rows, 5)
    assert ckan.page_of({"results": rows}, URL) == ckan.Page(rows, None)
    assert ckan.page_of({"count": "many", "results": rows}, URL).count is None
    assert ckan.page_of(rows, URL) == ckan.Page(rows, None)
    assert ckan.page_of([rows], URL) == ckan.Page(rows, None)
    with pytest.raises(Unparseable):
        ckan.page_of({"count": 5}, URL)


def test_single_datasets_and_lists_of_names() -> None:
    assert ckan.row_of([{"id": "a"}], URL) == ckan.row_of({"id": "a"}, URL) == {"id": "a"}
    assert ckan.names_of(["a", None, ""], URL) == ["a"]
    for wrong in (None, [], "x"):
        with pytest.raises(Unparseable):
            ckan.row_of(wrong, URL)
    with pytest.raises(Unparseable):
        ckan.names_of({"a": 1}, URL)


def test_times_without_a_zone_are_utc() -> None:
    moment = datetime(2024, 1, 1, tzinfo=UTC)
    assert ckan.modified_at({"metadata_modified": "2024-01-01T00:00:00.000000"}) == moment
    assert ckan.modified_at({"metadata_modified": "2024-01-01T01:00:00+01:00"}) == moment
    for wrong in (None, "", "yesterday", 5):
        assert ckan.modified_at({"metadata_modified": wrong}) is None


ROW: dict[str, Any] = {
    "id": "a1",
    "name": "rain",
    "title": "Rain",
    "notes": "How much.",
    "metadata_modified": "2024-01-01T00:00:00",
    "organization": {"name": "met", "title": "Weather office"},
    "tags": [{"name": "wet"}, {"display_name": "Sky", "name": "sky"}],
    "groups": [{"name": "env", "title": "Environment"}],
    "license_id": "cc-by",
    "extras": [
        {"key": "publisher_name", "value": "The office"},
        {"key": "harvest_timestamp", "value": "now"},
        {"key": "theme", "value": "Sky"},
    ],
    "resources": [{"name": "Table", "url": "https://x.org/t.csv", "format": "csv"}],
}


def read(row: Any, language: str = "", template: str = "") -> Any:
    return ckan.dataset_of(row, portal="https://data.example.org", language=language, template=template)


def test_a_dataset_has_text_a_page_and_metadata() -> None:
    found = read(ROW)
    assert (found.title, prose_of(found.text)) == ("Rain", "# Rain\n\nHow much.\n")
    assert found.url == "https://data.example.org/dataset/rain"
    assert (ckan.id_of(ROW), ckan.validator_of(ROW)) == ("a1", "2024-01-01T00:00:00")
    assert found.metadata == {
        "name": "rain",
        "organization": "Weather office",
        "organization_name": "met",
        "license": "cc-by",
        "license_id": "cc-by",
        "tags": ["Sky", "wet"],
        "groups": ["Environment"],
        "themes": ["Sky"],
        "publisher": "The office",
        "formats": ["CSV"],
        "resources": [{"name": "Table", "url": "https://x.org/t.csv", "format": "CSV"}],
    }


def test_only_title_and_description_make_what_a_dataset_says() -> None:
    other = {**ROW, "tags": [], "resources": [], "metadata_modified": "2025-01-01T00:00:00", "extras": None}
    assert prose_of(read(other).text) == prose_of(read(ROW).text)
    touched = {**ROW, "metadata_modified": "2025-01-01T00:00:00"}
    assert read(touched).metadata == read(ROW).metadata


def test_the_order_in_which_a_portal_lists_tags_means_nothing() -> None:
    assert read({**ROW, "tags": ROW["tags"][::-1]}).metadata == read(ROW).metadata


def test_titles_by_language_with_holes() -> None:
    row = {**ROW, "title_translated": {"en": None, "de": "Regen"}, "notes_translated": None}
    assert read(row, "en").title == "Regen"
    assert read({**ROW, "title": None, "title_translated": None}).title == "rain"
    assert read({**ROW, "title": None, "name": None}).title == "a1"


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.sampled_from([*ROW, "title_translated", "theme", "state"]), ANYTHING))
def test_a_dataset_is_read_or_refused_whatever_stands_in_its_fields(fields: dict[str, Any]) -> None:
    try:
        found = read({**ROW, **fields})
    except Unparseable:
        assert not ckan.id_of({**ROW, **fields})
        return
    assert found.title
    json.dumps(found.metadata)


def test_everything_about_a_dataset_is_in_its_details() -> None:
    row = {
        **ROW,
        "maintainer": "Ana Pluvia",
        "maintainer_email": "ana@example.org",
        "license_title": "A licence with many words " * 100,
        "extras": [
            {"key": "instrument", "value": "tipping bucket"},
            {"key": "harvest_timestamp", "value": "2026-01-01"},
            {"key": "temporal_start", "value": "1901"},
        ],
        "resources": [
            {
                "name": f"Part {n}",
                "url": f"https://x.org/{n}.csv",
                "format": "CSV",
                "description": f"Year {n}",
            }
            for n in range(500)
        ],
    }
    found = read(row)
    for said in ("Weather office", "Ana Pluvia", "ana@example.org", "many words", "tipping bucket", "1901"):
        assert said in found.text
    assert "- Part 499 (CSV): Year 499 <https://x.org/499.csv>" in found.text
    assert "harvest" not in found.text
    assert (len(found.metadata["resources"]), found.left_out) == (500, 0)
    sections = split(found.text)
    assert {section.form for section in sections if section.heading == "Details"} == {Form.DETAILS}
    assert sections[0].form is Form.PROSE


def test_what_there_is_no_room_for_is_counted() -> None:
    files = [{"name": f"Part {n}", "url": "https://x.org/" + "x" * 1000} for n in range(3000)]
    found = read({**ROW, "notes": "rain " * 500_000, "resources": files})
    assert len(found.text) < 2_500_000
    assert found.metadata["resources_left_out"] == 1000
    assert found.left_out > 2000


def a_reading(**fields: Any) -> tuple[str, dict[str, Any]]:
    row = {"id": "d1", "name": "wells", "title": "Wells", "notes": "Depth of wells.", **fields}
    reading = ckan.dataset_of(row, portal="https://data.example.org", language="", template="")
    return reading.text, dict(reading.metadata)


def test_fields_that_a_portal_adds_are_found_by_their_words() -> None:
    text, metadata = a_reading(
        access_rights="Only for research",
        conforms_to=["Norm 12", "Norm 7"],
        contact=[{"name": "", "uri": "x"}, {"name": "Well desk", "email": "wells@example.org"}],
        temporal_coverage=[{"start": "1950", "end": "1990"}],
        spatial_coverage=[{"uri": "https://places.example/7", "text": "Upper valley"}],
    )
    for line in ("Access rights: Only for research", "Conforms to: Norm 12, Norm 7", "Contact: Well desk"):
        assert f"- {line}\n" in text
    assert (metadata["temporal_start"], metadata["temporal_end"]) == ("1950", "1990")
    assert (metadata["spatial"], metadata["contact_email"]) == ("Upper valley", "wells@example.org")


def test_what_a_portal_counts_or_touches_by_itself_is_no_fact() -> None:
    before, _ = a_reading(modified="2024-01-01", tracking_summary={"total": 1}, total_downloads=5, num_tags=3)
    after, _ = a_reading(modified="2024-02-02", tracking_summary={"total": 9}, total_downloads=6, num_tags=4)
    assert before == after


def test_lists_as_json_inside_a_text_are_lists() -> None:
    extras = [
        {"key": "theme", "value": '["Water", "Air"]'},
        {"key": "language", "value": '["de", "fr"]'},
        {"key": "coupled", "value": "[]"},
        {"key": "broken", "value": "[not a list"},
    ]
    text, metadata = a_reading(extras=extras)
    assert (metadata["themes"], metadata["languages"]) == (["Air", "Water"], ["de", "fr"])
    assert "Coupled" not in text
    assert "- Broken: [not a list\n" in text


@pytest.mark.parametrize(
    "shape",
    [
        '{"type": "Polygon", "coordinates": [[[1, 2], [3, 4], [1, 2]]]}',
        '{"type": "GeometryCollection", "geometries": []}',
        "MULTIPOLYGON (((1 2, 3 4, 1 2)))",
        "SRID=4326;POINT(7.1 46.2)",
    ],
)
def test_the_numbers_of_a_shape_are_no_words(shape: str) -> None:
    text, _ = a_reading(extras=[{"key": "spatial", "value": shape}])
    assert "Spatial" not in text
    assert "- Spatial: Bern (canton)\n" in a_reading(extras=[{"key": "spatial", "value": "Bern (canton)"}])[0]
