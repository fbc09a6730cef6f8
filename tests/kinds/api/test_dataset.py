"""One dataset out of what portals write: languages, HTML, metadata."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.core.split import split
from rowen.kinds.api.datasets import dataset


@pytest.mark.parametrize(
    ("value", "language", "text"),
    [
        ("Rain", "", "Rain"),
        ("  Rain ", "de", "Rain"),
        (None, "", ""),
        (17, "", "17"),
        (True, "", ""),
        ({"en": "Rain", "de": "Regen"}, "de", "Regen"),
        ({"en": "Rain", "de": "Regen"}, "fr", "Rain"),
        ({"en": None, "de": "Regen"}, "fr", "Regen"),
        ({"en": "", "de": None, "fr": "Pluie"}, "de", "Pluie"),
        ({"pt_BR": "Chuva", "en": "Rain"}, "pt", "Chuva"),
        ({"de": "Regen"}, "de-CH", "Regen"),
        ({"en": None}, "en", ""),
        ({}, "en", ""),
        ([None, "", "Rain"], "", "Rain"),
        ({"@value": "Rain", "@language": "en"}, "", "Rain"),
        ('{"en": "Rain", "de": "Regen"}', "de", "Regen"),
        ('{"en": "Rain" and more}', "de", '{"en": "Rain" and more}'),
        ({"en": ["Rain", "Snow"]}, "", "Rain"),
        ([{"@value": "Pluie", "@language": "fr"}, {"@value": "Rain", "@language": "en"}], "", "Rain"),
        ([{"@value": "Rain", "@language": "en"}, {"@value": "Pluie", "@language": "fr"}], "fr", "Pluie"),
        (
            ["Pioggia", {"@value": "Pluie", "@language": "fr"}, {"@value": "Regen", "@language": "de"}],
            "",
            "Pioggia",
        ),
    ],
)
def test_a_text_in_the_best_language_there_is(value: Any, language: str, text: str) -> None:
    assert dataset.in_language(value, language) == text


@pytest.mark.parametrize(
    ("value", "language", "text"),
    [
        ("Rain", "", "Rain"),
        (["What was measured.", "How.", "What was measured."], "", "What was measured.\n\nHow."),
        ([{"en": "Rain", "de": "Regen"}], "de", "Regen"),
        ([{"@value": a, "@language": b} for a, b in (("Un", "fr"), ("One", "en"), ("Two", "en"))], "",
         "One\n\nTwo"),
        ([], "", ""),
    ],
)  # fmt: skip
def test_a_description_in_several_parts_is_not_cut_after_the_first(
    value: Any, language: str, text: str
) -> None:
    assert dataset.whole_text(value, language) == text


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


@given(JSON, st.sampled_from(["", "de", "en", "pt-BR"]))
def test_whatever_stands_where_a_text_should_is_some_text(value: Any, language: str) -> None:
    assert isinstance(dataset.in_language(value, language), str)
    assert isinstance(dataset.whole_text(value, language), str)
    assert dataset.every_text(value, language) == sorted(set(dataset.every_text(value, language)))


@pytest.mark.parametrize(
    ("description", "text"),
    [
        ("Plain text.", "Plain text."),
        ("<p>One</p><p>Two &amp; three</p>", "One\n\nTwo & three"),
        ("<ul><li>a</li><li>b</li></ul>", "- a\n- b"),
        ("a<br>b<br/>c", "a\nb\nc"),
        ("<script>alert(1)</script><style>p{}</style>Text<!-- no -->", "Text"),
        ("See <https://example.org> and 1 < 2", "See <https://example.org> and 1 < 2"),
        ("Wind &amp; rain", "Wind & rain"),
        ("# Method\r\n\r\nBy hand", "## Method\n\nBy hand"),
        ("```\n# no heading\n```", "```\n# no heading\n```"),
        ("**bold** and [a link](https://example.org)", "**bold** and [a link](https://example.org)"),
        ("", ""),
        ("<b>unclosed", "unclosed"),
    ],
)
def test_descriptions_become_text_and_markdown_stays(description: str, text: str) -> None:
    assert dataset.readable(description) == text


@given(st.text())
def test_no_description_is_too_strange(description: str) -> None:
    assert "\r" not in dataset.readable(description)


def test_every_section_of_a_description_stands_below_the_title() -> None:
    sections = split(dataset.text_of("Rain", "Much.\n\n# Method\n\nBy hand.\n\n## Tools\n\nA cup.")[0])
    paths = [section.heading_path for section in sections]
    assert paths == [("Rain",), ("Rain", "Method"), ("Rain", "Method", "Tools")]


def test_a_title_is_one_line() -> None:
    assert dataset.title_of("", " \n", "Two\n lines") == "Two lines"
    assert dataset.title_of("", "") == ""


def test_metadata_has_nothing_empty_and_nothing_endless() -> None:
    tidy = dataset.tidy({"a": "", "b": None, "c": [], "d": "x" * 5000, "e": 0, "f": "kept", "g": ["y"]})
    assert tidy == {"e": 0, "f": "kept", "g": ["y"]}


def test_formats_are_the_resources_in_one_spelling() -> None:
    found = dataset.resources_of([("a", "u", "text/csv"), ("", "v", ".Csv"), ("b", "", ""), ("", "", "")])
    assert found == {
        "formats": ["CSV"],
        "resources": [
            {"name": "a", "url": "u", "format": "CSV"},
            {"url": "v", "format": "CSV"},
            {"name": "b"},
        ],
    }


def test_landing_pages_come_from_a_template() -> None:
    assert (
        dataset.fill("https://x.org/{name}?id={id}", id="a/b", name="n ü")
        == "https://x.org/n%20%C3%BC?id=a%2Fb"
    )
    assert dataset.fill("https://x.org/{name}", id="a", name="") == "https://x.org/a"
    assert dataset.template("https://x.org/{id}") == "https://x.org/{id}"
    for wrong in ("https://x.org/", "x.org/{id}"):
        with pytest.raises(ValueError, match="expected an address"):
            dataset.template(wrong)
