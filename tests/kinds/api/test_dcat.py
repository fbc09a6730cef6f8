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
    assert read(new)["next"] == "https://example.org/?page=2"


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


# contexts, and files that mean harm


CONTEXT = {"dct": "http://purl.org/dc/terms/", "dcat": "http://www.w3.org/ns/dcat#"}


def one_of(context: Any, **said: Any) -> dict[str, Any]:
    node = {"@id": "https://x.org/1", "@type": "http://www.w3.org/ns/dcat#Dataset", **said}
    (found,) = read({"@context": context, "@graph": [node]})["dataset"]
    del found["@id"]
    return found


@pytest.mark.parametrize(
    ("context", "said", "found"),
    [
        ({"titel": "dct:title"}, {"titel": "Rain"}, {"title": "Rain"}),
        ({"titel": {"@id": "dct:title"}, "name2": "titel"}, {"name2": "Rain"}, {"title": "Rain"}),
        ({"t": {"@id": "dct:title", "@container": "@language"}}, {"t": {"de": "Regen", "en": ["Rain"]}},
         {"title": {"de": ["Regen"], "en": ["Rain"]}}),
        ({"@language": "de", "t": "dct:title"}, {"t": "Regen"}, {"title": {"de": ["Regen"]}}),
        ({"@language": "de", "t": {"@id": "dct:title", "@language": None}}, {"t": "Regen"},
         {"title": "Regen"}),
        ({"p": {"@id": "dcat:landingPage", "@type": "@id"}}, {"p": "pages/1"},
         {"landingPage": "https://example.org/pages/1"}),
        ({"@base": "https://b.org/x/", "p": {"@id": "dcat:page", "@type": "@id"}}, {"p": "1"},
         {"page": "https://b.org/x/1"}),
        ({"f": {"@id": "dcat:theme", "@type": "@vocab"}, "air": "https://t.org/air"}, {"f": "air"},
         {"theme": "https://t.org/air"}),
        ({"k": {"@id": "dcat:keyword", "@container": "@list"}}, {"k": {"@list": ["b", "a"]}},
         {"keyword": ["a", "b"]}),
        ({"note": None}, {"note": "not said", "title": "Rain"}, {"title": "Rain"}),
        ("https://contexts.example/dcat.jsonld", {"title": "Rain"}, {"title": "Rain"}),
    ],
)  # fmt: skip
def test_a_context_says_what_names_mean(context: Any, said: Any, found: Any) -> None:
    assert one_of([CONTEXT, context], **said) == found


def test_a_context_inside_a_node_is_for_that_node_alone() -> None:
    inner = {"@context": {"n": "http://xmlns.com/foaf/0.1/name"}, "n": "Office"}
    found = one_of({**CONTEXT, "n": "dct:title"}, n="Rain", publisher=inner)
    assert found == {"title": "Rain", "publisher": [{"@id": "", "name": "Office"}]}


def test_keywords_may_have_other_names_and_a_framed_catalogue_is_read_by_its_context() -> None:
    context = {**CONTEXT, "uri": "@id", "a": "@type", "daten": "dcat:dataset", "t": "dct:title"}
    one = {"uri": "https://x.org/1", "a": "dcat:Dataset", "t": "Rain"}
    assert read({"@context": context, "a": "dcat:Catalog", "daten": [one]})["dataset"] == [
        {"@id": "https://x.org/1", "title": "Rain"}
    ]
    renamed = {"@context": {**context, "dataset": "dcat:dataset"}, "a": "dcat:Catalog", "dataset": [one]}
    assert read(renamed)["dataset"] == [{"@id": "https://x.org/1", "title": "Rain"}]


def test_members_of_a_collection_need_no_type_and_a_list_of_data_json_may_be_paged() -> None:
    view = {"hydra:view": {"hydra:next": "/?page=2"}, "hydra:totalItems": 9}
    members = [{"@id": "https://x.org/1", "dct:title": "Rain"}]
    found = read({"@type": "hydra:Collection", "hydra:member": members, **view})
    assert [one["title"] for one in found["dataset"]] == ["Rain"]
    assert (found["next"], found["total"]) == ("/?page=2", "9")
    paged = read({"dataset": [{"identifier": "a", "title": "A"}], **view})
    assert (len(paged["dataset"]), paged["next"]) == (1, "/?page=2")


def test_series_are_datasets_too_and_a_blank_dataset_gets_a_name_that_stays() -> None:
    def copy(blank: str) -> list[Any]:
        nodes = [
            {"@id": blank, "@type": "dcat:Dataset", "dct:title": "Rain"},
            {"@id": "https://x.org/s", "@type": "dcat:DatasetSeries", "dct:title": "Years of rain"},
        ]
        found: list[Any] = read({"@graph": nodes})["dataset"]
        return found

    assert copy("_:b0") == copy("_:b77")
    assert copy("_:b0")[0]["identifier"].startswith("derived:")
    assert copy("_:b0")[1]["title"] == "Years of rain"


@pytest.mark.parametrize(
    "context",
    [
        {"a": "b:x", "b": "a:y"},
        {"a": "a"},
        {"a": "a:a"},
        {f"n{n}": f"n{n + 1}:x" for n in range(500)},
        {"title": 7, "@vocab": ["x"], "@base": 3},
        [[[{}]]],
    ],
)
def test_a_context_that_makes_no_sense_ends(context: Any) -> None:
    assert read({"@context": context, "@graph": [{"@type": "dcat:Dataset", "a": "1", "n0": "2"}]})["dataset"]


def test_contexts_in_every_node_cost_what_they_say_and_not_what_stands_around_them() -> None:
    names = {f"n{n}": f"dct:n{n}" for n in range(5_000)}
    node = {"@context": {"t": "dct:title"}, "@type": "http://www.w3.org/ns/dcat#Dataset", "t": "Rain"}
    # With a copy of all names for each node, this would be a hundred million.
    nodes = [{**node, "@id": f"https://x.org/{n}"} for n in range(20_000)]
    assert len(read({"@context": {**CONTEXT, **names}, "@graph": nodes})["dataset"]) == 20_000


RDF = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:dct="http://purl.org/dc/terms/"'
    ' xmlns:dcat="http://www.w3.org/ns/dcat#" xml:base="https://b.org/c/">{}</rdf:RDF>'
)


def test_a_bomb_of_entities_is_refused_wherever_it_is_declared() -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>'
    for before in ("", "<!--" + " " * 20_000 + "-->"):
        for encoding, said in (("utf-8", "declarations"), ("utf-16", "neither JSON nor RDF")):
            body = f'<?xml version="1.0" encoding="{encoding}"?>{before}{bomb}{RDF.format("&b;")}'
            with pytest.raises(Unparseable, match=said):
                dcat.read(body.encode(encoding), content_type="application/rdf+xml", url=URL)


def test_rdf_in_pieces_is_one_node_and_its_addresses_are_below_its_base() -> None:
    pieces = (
        '<dcat:Dataset rdf:about="1"><dct:title>Rain</dct:title><dcat:keyword>a</dcat:keyword></dcat:Dataset>'
        '<rdf:Description rdf:about="1"><dcat:keyword>b</dcat:keyword><dct:license rdf:resource="by"/>'
        '<dct:description rdf:parseType="Literal">How <b>much</b></dct:description></rdf:Description>'
    )
    assert read(RDF.format(pieces), "application/rdf+xml")["dataset"] == [
        {
            "@id": "https://b.org/c/1", "title": "Rain", "keyword": ["a", "b"],
            "license": "https://b.org/c/by", "description": "How much",
        }
    ]  # fmt: skip


def test_rdf_that_is_nested_very_deeply_ends() -> None:
    body = RDF.format("<dct:a><dct:B>" * 3_000 + "</dct:B></dct:a>" * 3_000)
    assert read(body, "application/rdf+xml")["dataset"] == []


@pytest.mark.parametrize(
    ("start", "content_type", "syntax"),
    [
        ("@prefix a: <b> .", "", "ttl"),
        ("# by hand\n\nPREFIX a: <b>", "text/plain", "ttl"),
        ("<https://a.org/1> a <https://b.org/2> .", "", "ttl"),
        ("_:a <https://b.org/2> _:b .", "application/n-triples", "nt"),
        ("[] a <https://b.org/2> .", "text/turtle;charset=utf-8", "ttl"),
        ('[{"@id": "x"}]', "text/turtle", ""),
        ("{}", "application/n-triples", ""),
        ("<?xml version='1.0'?>", "text/turtle", ""),
        ("<rdf:RDF>", "", ""),
        ("<html>", "text/turtle", ""),
        ("https://a.org/data.json", "text/plain", ""),
    ],
)
def test_the_syntax_is_known_by_its_type_and_by_how_it_begins(
    start: str, content_type: str, syntax: str
) -> None:
    assert dcat.syntax_of(start.encode(), content_type) == syntax
