"""Definitions of paged APIs: paths, page sizes, datasets."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.errors import Unparseable
from rowen.kinds.api import paged_rules
from rowen.kinds.api.paged_rules import Api, OnePage, PageSize

ANSWER = {
    "links": [{"rel": "self", "href": "/1"}, {"rel": "next", "href": "/2"}],
    "items": [{"id": 1, "who": {"name": "A"}}, {"id": 2, "who": [{"name": "B"}, {"name": None}]}],
    "empty": "",
    "deep": [[{"x": 1}], [{"x": [2, 3]}]],
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("items.id", [1, 2]),
        ("items.who.name", ["A", "B"]),
        ("links[rel=next].href", ["/2"]),
        ("links[rel=last].href", []),
        ("empty|items.id", [1, 2]),
        ("nothing|none", []),
        ("deep.x", [1, 2, 3]),
        ("links.rel.href", []),
    ],
)
def test_paths_go_through_lists_and_stop_at_nothing(path: str, found: list[Any]) -> None:
    assert paged_rules.find(ANSWER, path) == found


@given(
    st.recursive(
        st.none() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["a", "b"]), inner),
    )
)
def test_no_answer_is_too_strange_for_a_path(answer: Any) -> None:
    assert isinstance(paged_rules.find(answer, "a.b[a=x].b|b"), list)


def test_page_sizes_halve_to_ten_and_grow_back() -> None:
    size = PageSize(1000)
    sizes = []
    while size.shrink():
        sizes.append(size.current)
    assert sizes == [500, 250, 125, 62, 31, 15, 10]
    for _ in range(3 * 7):
        size.went_well()
    assert size.current == 1000


def test_page_sizes_know_what_a_server_gives_at_most() -> None:
    size = PageSize(1000)
    assert size.shrink(received=100)
    assert size.current == 50


def test_a_small_page_size_stays_small() -> None:
    size = PageSize(5)
    assert (size.current, size.shrink()) == (5, False)


API = Api(
    kind="test",
    path="/api",
    paging=OnePage(),
    items="items",
    total="total",
    id="key",
    name="slug",
    title="title",
    description="about",
    url="page",
    landing="/d/{name}",
    one={"owner": "owner.name"},
    many={"tags": "tags.label"},
    resources="files",
    resource=("title", "href", "type"),
    item="/api/{id}?h={host}",
)


def test_a_dataset_by_its_definition() -> None:
    item = {
        "key": 7,
        "slug": "rain",
        "title": {"de": "Regen", "en": "Rain"},
        "about": "<p>Wet</p>",
        "owner": [{"name": "A"}],
        "tags": [{"label": "b"}, {"label": "a"}],
        "files": [{"title": "T", "href": "https://x.org/t", "type": "text/csv"}],
    }
    found = paged_rules.dataset_of(item, API, portal="https://p.org", language="de", template="")
    assert (found.id, found.title, found.text) == ("7", "Regen", "# Regen\n\nWet\n")
    assert found.url == "https://p.org/d/rain"
    assert found.metadata == {
        "owner": "A",
        "tags": ["a", "b"],
        "formats": ["CSV"],
        "resources": [{"name": "T", "url": "https://x.org/t", "format": "CSV"}],
    }
    own = paged_rules.dataset_of(
        {**item, "page": "https://q.org/7"}, API, portal="", language="", template=""
    )
    assert own.url == "https://q.org/7"
    templated = paged_rules.dataset_of(item, API, portal="", language="", template="https://t.org/{id}")
    assert templated.url == "https://t.org/7"
    with pytest.raises(Unparseable):
        paged_rules.dataset_of({"title": "x"}, API, portal="", language="", template="")


def test_totals_may_be_texts_or_missing() -> None:
    assert paged_rules.total_of({"total": "12"}, API) == 12
    assert paged_rules.total_of({"total": 12}, API) == 12
    for wrong in (None, True, "many", {}):
        assert paged_rules.total_of({"total": wrong}, API) is None


def test_addresses_are_put_together() -> None:
    assert (
        paged_rules.request_url("https://p.org", "p.org", "/api", {"h": "{host}", "n": 5})
        == "https://p.org/api?h=p.org&n=5"
    )
    assert paged_rules.request_url("https://p.org/a.json?x=1", "p.org", "", {}) == "https://p.org/a.json?x=1"
    assert paged_rules.item_url(API, "https://p.org", "p.org", "a/b") == "https://p.org/api/a%2Fb?h=p.org"
