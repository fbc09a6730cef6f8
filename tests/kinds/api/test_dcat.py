"""Catalogues in DCAT, whatever they are written in."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.errors import Unparseable
from rowen.kinds.api.datasets import dcat

URL = "https://example.org/catalog"


def read(value: Any, content_type: str = "application/json") -> dict[str, Any]:
    body = value.encode() if isinstance(value, str) else json.dumps(value).encode()
    return dcat.read(body, content_type=content_type, url=URL)


def test_data_json_is_taken_as_it_is_with_or_without_a_catalogue() -> None:
    one = {"identifier": "a", "title": "A"}
    assert read({"dataset": [one]})["dataset"] == [one]
    assert read([one])["dataset"] == [one]


@pytest.mark.parametrize(
    "value",
    [
        [{"@id": "https://x.org/1", "@type": ["http://www.w3.org/ns/dcat#Dataset"],
          "http://purl.org/dc/terms/title": [{"@value": "Rain", "@language": "en"}]}],
        {"@graph": [{"@id": "https://x.org/1", "@type": "dcat:Dataset",
                     "dct:title": {"@language": "en", "@value": "Rain"}}]},
        {"@type": "Catalog", "dataset": {"@id": "https://x.org/1", "@type": "Dataset",
                                         "title": {"@language": "en", "@value": "Rain"}}},
    ],
)  # fmt: skip
def test_expanded_flat_and_framed_json_ld_say_the_same(value: Any) -> None:
    assert read(value)["dataset"] == [{"@id": "https://x.org/1", "title": {"en": ["Rain"]}}]


def test_names_of_blank_nodes_do_not_come_through() -> None:
    def copy(name: str) -> Any:
        graph = [
            {
                "@id": "https://x.org/1",
                "@type": "Dataset",
                "publisher": {"@id": name},
                "theme": [{"@id": name + "t"}],
            },
            {"@id": name, "name": "Office"},
            {"@id": name + "t", "inScheme": {"@id": "https://x.org/s"}},
        ]
        return read({"@graph": graph})

    assert copy("_:b0") == copy("_:N4711")


def test_the_order_of_a_graph_means_nothing() -> None:
    files = [{"@type": "Distribution", "downloadURL": {"@id": f"https://x.org/{n}"}} for n in range(4)]
    words = ["b", "a", "c"]
    one = {"@id": "https://x.org/1", "@type": "Dataset", "distribution": files, "keyword": words}
    other = {**one, "distribution": files[::-1], "keyword": words[::-1]}
    assert read([one]) == read([other])


def test_paging_is_found_in_its_old_and_new_words() -> None:
    collection = {"@type": "hydra:PagedCollection", "hydra:nextPage": "https://x.org/?page=2"}
    series = {"@id": "https://x.org/1", "@type": "Dataset", "next": "https://x.org/other"}
    old = {"@graph": [series, {**collection, "hydra:totalItems": 7}]}
    new = {
        "@type": "Catalog",
        "hydra:view": {"@type": "hydra:PartialCollectionView", "hydra:next": {"@id": "/?page=2"}},
    }
    assert (read(old)["next"], read(old)["total"]) == ("https://x.org/?page=2", "7")
    assert read(new)["next"] == "/?page=2"


@pytest.mark.parametrize(
    ("body", "content_type", "said"),
    [
        ("@prefix dcat: <http://x> .", "text/plain", "Turtle"),
        ("<http://x.org/1> a <http://x.org/2> .", "", "Turtle"),
        ("anything", "text/turtle; charset=utf-8", "Turtle"),
        ("<!DOCTYPE html><html></html>", "text/html", "a web page"),
        ("<rss></rss>", "text/xml", "not RDF"),
        ("<rdf", "text/xml", "broken XML"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>', "text/xml", "declarations"),
        ('{"a": 1', "application/json", "broken JSON"),
        ('{"a": 1}', "application/json", "no catalogue"),
        ("hello", "text/plain", "neither"),
    ],
)
def test_what_is_no_catalogue_is_refused(body: str, content_type: str, said: str) -> None:
    with pytest.raises(Unparseable, match=said):
        read(body, content_type)


def test_rdf_with_descriptions_attributes_and_nested_resources() -> None:
    found = read(
        """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:dct="http://purl.org/dc/terms/"
        xmlns:dcat="http://www.w3.org/ns/dcat#" xmlns:vcard="http://www.w3.org/2006/vcard/ns#" xml:lang="en">
        <rdf:Description rdf:about="https://x.org/1" dct:identifier="one">
          <rdf:type rdf:resource="http://www.w3.org/ns/dcat#Dataset"/>
          <dct:title>Rain</dct:title>
          <dct:license rdf:resource="https://x.org/by"/>
          <dcat:contactPoint rdf:parseType="Resource">
            <vcard:fn xml:lang="">Jane</vcard:fn>
          </dcat:contactPoint>
        </rdf:Description></rdf:RDF>""",
        "application/rdf+xml",
    )
    assert found["dataset"] == [
        {
            "@id": "https://x.org/1",
            "identifier": "one",
            "title": {"en": ["Rain"]},
            "license": "https://x.org/by",
            "contactPoint": [{"@id": "", "fn": "Jane"}],
        }
    ]


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["@id", "@type", "@graph", "dataset", "publisher", "title", "@value"]),
                inner,
                max_size=4,
            )
        ),
        max_leaves=15,
    )
)
def test_any_json_is_a_catalogue_or_is_refused(value: Any) -> None:
    with contextlib.suppress(Unparseable):
        assert isinstance(read(value)["dataset"], list)


def read_us(**catalogue: Any) -> list[Any]:
    body = json.dumps(catalogue).encode()
    found: list[Any] = dcat.read(body, content_type="", url="https://p.example")["dataset"]
    return found


def test_identifiers_of_dcat_us_3_may_be_objects() -> None:
    given = [
        {"@id": "https://doi.org/10.1/a", "notation": "a"},
        {"@type": "Identifier", "notation": "b"},
        [{"schemaAgency": "x"}, {"notation": {"@value": "c"}}],
        4,
        "e",
    ]
    found = read_us(dataset=[{"identifier": one, "title": "T"} for one in given])
    assert [one["identifier"] for one in found] == ["https://doi.org/10.1/a", "b", "c", "4", "e"]


def test_a_missing_identifier_is_derived_from_what_stays_the_same() -> None:
    rain = {"title": "Rain", "publisher": {"name": "Met"}, "description": "old"}
    (first,) = read_us(dataset=[rain])
    (later,) = read_us(dataset=[{**rain, "description": "new", "modified": "2026-01-01"}])
    (other,) = read_us(dataset=[{**rain, "publisher": {"name": "Navy"}}])
    assert first["identifier"] == later["identifier"] != other["identifier"]
    # What names itself otherwise is known by that.
    landing = {**rain, "landingPage": "https://x.org/rain"}
    assert read_us(dataset=[landing, {"description": "nothing"}]) == [landing, {"description": "nothing"}]


def test_catalogues_in_catalogues_and_series_are_read() -> None:
    inner = {
        "@type": "Catalog",
        "dataset": [{"identifier": "b"}],
        "catalog": [{"dataset": [{"identifier": "c"}]}],
    }
    found = read_us(dataset=[{"identifier": "a"}], datasetSeries=[{"identifier": "s"}], catalog=[inner, None])
    assert [one["identifier"] for one in found] == ["a", "s", "b", "c"]
    assert [one["identifier"] for one in read_us(catalog=[inner])] == ["b", "c"]
