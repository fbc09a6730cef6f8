"""APIs described by settings: definitions, addresses, items, texts, expressions."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.core import params
from rowen.core.section import prose_of
from rowen.core.window import Window
from rowen.errors import ConfigError, Unparseable
from rowen.kinds.api import items as rest_items
from rowen.kinds.api import rules as rest
from rowen.kinds.api import text as rest_text
from rowen.kinds.api.expression import compiled
from rowen.kinds.api.kind import PRESETS
from rowen.kinds.api.presets import preset as presets
from rowen.kinds.api.presets.preset import Catalogue, Preset
from rowen.kinds.api.rules import Definition
from rowen.kinds.api.settings import PARAMS

NOW = datetime(2024, 1, 1, 10, 30, 0, 500_000, tzinfo=UTC)


def an_api(**settings: str) -> Definition:
    given = {name.replace("__", "."): value for name, value in settings.items()}
    return Definition(params.complete(PARAMS, params.read(PARAMS, given)), Preset(kind="rest"))


# expressions


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("items[?", "it breaks off at position 8, after `items[?`"),
        ("a b", "mistake at position 3, here: `a ▸b`"),
        ("a.'", "mistake at position 3"),
        ("", "expected a JMESPath expression"),
        ("  ", "expected a JMESPath expression"),
        ("x" * 5000, "up to 4000 characters"),
        ("(" * 3000, "nested too deeply"),
        ("a.foo(b)", "no such JMESPath function: `foo` at position 3 of `a.foo(b)`"),
        ("length(a, b)", "function `length` at position 1 of `length(a, b)` takes 1 arguments, got 2"),
        ("not_null()", "takes 1 arguments, got 0"),
        ("a[?length() > `1`]", "function `length` at position 4"),
    ],
)
def test_a_wrong_expression_is_refused_by_its_setting_and_place(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        compiled("meta.place", text)
    assert caught.value.message.startswith("setting `meta.place`: ")
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("join(', ', a)", {"a": 3}),
        ("contains(a, `3`)", {"a": "abc"}),
        ("sort_by(a, &b)", {"a": [{"b": 1}, {"b": "x"}]}),
        ("to_number(keys(@)[0])", 3),
        ("avg(a)", {"a": ["x"]}),
    ],
)
def test_a_function_that_cannot_take_what_is_there_is_no_bug(text: str, value: Any) -> None:
    found = compiled("title", text)
    assert found.find_or_none(value) is None
    try:
        found.find(value)
    except Unparseable as exc:
        assert "setting `title`" in exc.message
        # The data may hold secrets.
        assert "abc" not in exc.message


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)
EVERY = an_api(
    items="items || @",
    id="id",
    title="title",
    text="[text, parts, {heading: title, body: text}]",
    updated="updated",
    url="url",
    total="total",
    meta__place="place",
    meta__all="@",
    offer__provider="x",
    offer__company_name="company",
    offer__posted="posted",
)
NAMED = st.dictionaries(
    st.sampled_from(["id", "title", "text", "parts", "updated", "url", "place", "company", "posted"]), JSON
)


@given(NAMED | JSON)
def test_whatever_an_item_is_it_is_read_or_refused_and_reads_the_same_again(item: Any) -> None:
    try:
        one = rest_items.listed(EVERY, item)
    except Unparseable:
        return
    assert one.id
    reading = rest_items.read(EVERY, one, item, home="https://api.example/v1")
    assert reading.title
    assert "\x00" not in reading.text
    assert reading.url.startswith("http")
    assert reading.digest == rest_items.read(EVERY, one, item, home="https://api.example/v1").digest
    offer = reading.metadata["offer"]
    assert set(offer) <= {"provider", "id", "company", "place", "posted_at", "updated_at"}


@given(JSON)
def test_whatever_an_answer_is_its_items_are_a_list_or_it_is_refused(answer: Any) -> None:
    total = rest_items.total_of(EVERY, answer)
    assert total is None or total >= 0
    try:
        assert isinstance(rest_items.items_of(EVERY, answer), list)
    except Unparseable as exc:
        assert "setting `items`" in exc.message
        assert exc.hint
    with contextlib.suppress(Unparseable):
        assert rest_items.cursor_of(answer, "cursor") != ""


# requests


def test_a_parameter_without_a_value_now_is_not_sent() -> None:
    api = an_api(
        path="/v1/jobs",
        paging="cursor",
        cursor="next",
        param__after="{cursor}",
        param__n="{limit}",
        param__q="a b",
    )
    places = {"limit": "5"}
    assert rest.page_url(api, "https://x.example", places) == "https://x.example/v1/jobs?n=5&q=a+b"
    places["cursor"] = "a&b=c/ü"
    assert rest.page_url(api, "https://x.example/", places) == (
        "https://x.example/v1/jobs?after=a%26b%3Dc%2F%C3%BC&n=5&q=a+b"
    )


def test_a_token_stands_for_the_whole_question() -> None:
    api = an_api(
        path="/oai?verb=ListRecords",
        paging="token",
        cursor="resumptionToken",
        param__metadataPrefix="oai_dc",
        param__resumptionToken="{cursor}",
    )
    assert rest.page_url(api, "https://x.example", {}) == (
        "https://x.example/oai?verb=ListRecords&metadataPrefix=oai_dc"
    )
    assert rest.page_url(api, "https://x.example", {"cursor": "a/1"}) == (
        "https://x.example/oai?verb=ListRecords&resumptionToken=a%2F1"
    )


@pytest.mark.parametrize(
    ("home", "path", "query", "url"),
    [
        ("https://x.example/", "", "", "https://x.example/"),
        ("https://x.example/", "/a", "", "https://x.example/a"),
        ("https://x.example/api", "/a", "b=1", "https://x.example/api/a?b=1"),
        ("https://x.example/api?k=v", "", "b=1", "https://x.example/api?k=v&b=1"),
        ("https://x.example/api?k=v", "/a", "b=1", "https://x.example/api/a?k=v&b=1"),
        ("https://x.example/", "/a?c=2", "b=1", "https://x.example/a?c=2&b=1"),
    ],
)
def test_a_path_and_a_query_are_put_together(home: str, path: str, query: str, url: str) -> None:
    assert rest.joined(home, path, query) == url


def test_places_in_a_path_are_filled_in() -> None:
    api = an_api(
        path="/days/{since}/page/{page}", paging="page", window="date", updated="u", date_format="date"
    )
    window = Window(since=NOW - timedelta(days=1), until=NOW)
    places = {**rest.places_of(api, window, now=NOW), "page": "3"}
    assert rest.page_url(api, "https://x.example", places) == "https://x.example/days/2023-12-31/page/3"


@pytest.mark.parametrize(
    ("date_format", "down", "up"),
    [
        ("iso", "2024-01-01T10:30:00Z", "2024-01-01T10:30:01Z"),
        ("date", "2024-01-01", "2024-01-02"),
        ("unix", "1704105000", "1704105001"),
        ("unix_ms", "1704105000500", "1704105000500"),
    ],
)
def test_times_are_cut_so_that_a_window_gets_larger_not_smaller(date_format: str, down: str, up: str) -> None:
    assert (rest.stamp(NOW, date_format), rest.stamp(NOW, date_format, up=True)) == (down, up)


def test_midnight_is_not_rounded_up() -> None:
    assert rest.stamp(datetime(2024, 1, 2, tzinfo=UTC), "date", up=True) == "2024-01-02"


@pytest.mark.parametrize(
    ("header", "target"),
    [
        ('<https://x.example/?page=2>; rel="next"', "https://x.example/?page=2"),
        ('</a?b=1,2>; rel=prev, </a?b=3,4>; title="x; rel=no"; rel="last next"', "/a?b=3,4"),
        ("<a>; REL=Next", "a"),
        ('<a>; rel="nextish"', None),
        ('<a>; rel="prev"', None),
        ("<a", None),
        ("", None),
        ("nonsense; rel=next", None),
    ],
)
def test_the_next_page_stands_in_a_link_header(header: str, target: str | None) -> None:
    assert rest.next_link(header) == target


def test_a_broken_address_is_none() -> None:
    assert rest.absolute("http://[", "https://x.example/a") is None
    assert rest.absolute("?page=2", "https://x.example/a?page=1") == "https://x.example/a?page=2"


@pytest.mark.parametrize(
    ("total", "number"), [("12", 12), (12, 12), ("-1", None), (1.5, None), ("9" * 99, None)]
)
def test_a_total_may_come_as_text(total: Any, number: int | None) -> None:
    assert rest_items.total_of(EVERY, {"total": total}) == number


@given(st.text())
def test_no_header_is_too_odd(header: str) -> None:
    rest.next_link(header)
    rest.absolute(header, "https://x.example/a")


def test_the_smallest_bucket_that_reaches_so_far_is_chosen() -> None:
    api = an_api(window="date", updated="u", bucket__week="7d", bucket__day="1d", bucket__ever="any")
    found = [rest.bucket(api, days * 86_400.0) for days in (0.5, 1, 1.01, 7, 8)]
    assert found == ["day", "day", "week", "week", "ever"]
    bounded = an_api(window="date", updated="u", bucket__day="1d", bucket__week="7d")
    assert rest.bucket(bounded, 1e9) == "week"


# items


@pytest.mark.parametrize(
    ("value", "iso"),
    [
        ("2024-01-15T10:30:00.000Z", "2024-01-15T10:30:00+00:00"),
        ("2024-01-15T10:30:00+0200", "2024-01-15T08:30:00+00:00"),
        ("2024-01-15 10:30:00", "2024-01-15T10:30:00+00:00"),
        ("2024-01-15", "2024-01-15T00:00:00+00:00"),
        ("Mon, 15 Jan 2024 10:30:00 GMT", "2024-01-15T10:30:00+00:00"),
        (1_705_314_600, "2024-01-15T10:30:00+00:00"),
        (1_705_314_600_000, "2024-01-15T10:30:00+00:00"),
        ("1705314600000", "2024-01-15T10:30:00+00:00"),
        (1_705_314_600.0, "2024-01-15T10:30:00+00:00"),
    ],
)
def test_a_time_is_read_however_it_is_written(value: Any, iso: str) -> None:
    found = rest_items.moment(value)
    assert found is not None
    assert found.isoformat() == iso


@pytest.mark.parametrize(
    "value", ["soon", "", None, True, {}, [], -5, 1e300, "9" * 60, "0001-01-01T00:00:00+14:00"]
)
def test_what_is_no_time_is_none(value: Any) -> None:
    assert rest_items.moment(value) is None


@given(st.text() | st.integers() | st.floats())
def test_no_time_is_too_odd(value: Any) -> None:
    found = rest_items.moment(value)
    assert found is None or found.tzinfo is not None


def test_an_empty_fact_of_an_offer_leaves_the_metadata_alone() -> None:
    api = an_api(meta__place="town", meta__company="firm", offer__provider="x", offer__place="nowhere")
    item = {"id": 1, "town": "Vigo", "firm": "Acme"}
    reading = rest_items.read(api, rest_items.listed(api, item), item, home="https://x.example")
    assert reading.metadata == {"place": "Vigo", "company": "Acme", "offer": {"provider": "x", "id": "1"}}


@pytest.mark.parametrize(
    ("settings", "item", "url"),
    [
        ({"url": "link"}, {"link": "https://y.example/1"}, "https://y.example/1"),
        ({"url": "link"}, {"link": "/jobs/1"}, "https://x.example/jobs/1"),
        ({"url": "link"}, {"link": "javascript:alert(1)"}, "https://x.example/api/list"),
        ({"url": "link"}, {"link": "https://me:pw@y.example/1"}, "https://y.example/1"),
        ({"url": "link"}, {"link": 7}, "https://x.example/api/list"),
        ({"url_template": "https://z.example/{id}"}, {"link": "no"}, "https://z.example/a%2Fb"),
        ({"detail": "/one/{id}"}, {}, "https://x.example/api/one/a%2Fb"),
    ],
)
def test_an_item_has_a_page(settings: dict[str, str], item: dict[str, Any], url: str) -> None:
    api = an_api(path="/list", **settings)
    item = {"id": "a/b", **item}
    one = rest_items.listed(api, item)
    assert rest_items.read(api, one, item, home="https://x.example/api").url == url


A_CATALOGUE = Preset(
    kind="test",
    catalogue=Catalogue(
        lists=("tags",),
        name="slug",
        landing="/d/{name}",
        resources="files[].[title, href, type]",
    ),
)


def a_dataset(item: Any, *, language: str = "", **settings: str) -> rest_items.Reading:
    given = {"id": "key", "title": "title", "text": "about", "url": "page", **settings}
    given |= {"meta.owner": "[owner][].name", "meta.tags": "tags[].label"}
    api = Definition(params.complete(PARAMS, params.read(PARAMS, given)), A_CATALOGUE)
    return rest_items.read(api, rest_items.listed(api, item), item, home="https://p.org/a", language=language)


def test_a_dataset_by_its_definition() -> None:
    item = {
        "key": 7,
        "slug": "rain",
        "title": {"de": "Regen", "en": "Rain"},
        "about": "<p>Wet</p>",
        "owner": [{"name": ""}, {"name": "A"}],
        "tags": [{"label": "b"}, {"label": ["a", ["c"]]}, {"label": None}],
        "files": [{"title": "T", "href": "https://x.org/t", "type": "text/csv"}],
    }
    found = a_dataset(item, language="de")
    assert (found.title, prose_of(found.text)) == (
        "Regen",
        "# Regen {#lang=de}\n\nWet\n\n## Rain {#lang=en}\n",
    )
    assert found.text.endswith(
        "## Details {#details .details}\n\n- Owner: A\n- Tags: a, b, c\n- T (CSV) <https://x.org/t>\n"
    )
    assert found.url == "https://p.org/a/d/rain"
    assert found.metadata == {
        "owner": "A",
        "tags": ["a", "b", "c"],
        "languages": ["de", "en"],
        "formats": ["CSV"],
        "resources": [{"name": "T", "url": "https://x.org/t", "format": "CSV"}],
    }
    assert a_dataset({**item, "page": "https://q.org/7"}).url == "https://q.org/7"
    assert a_dataset({**item, "page": "javascript:x"}).url == "https://p.org/a/d/rain"
    assert a_dataset(item, url_template="https://t.org/{id}").url == "https://t.org/7"
    tagged = a_dataset({**item, "tags": [{"label": {"de": ["Nass"], "en": ["wet", "damp"]}}]})
    assert tagged.metadata["tags"] == ["damp", "wet"]
    with pytest.raises(Unparseable):
        a_dataset({"title": "x"})


@given(NAMED | JSON)
def test_no_dataset_is_too_strange(item: Any) -> None:
    for preset in PRESETS:
        if preset.catalogue is None:
            continue
        given = presets.settings_for(preset, "https://p.org")
        api = Definition(params.complete(PARAMS, params.read(PARAMS, given)), preset)
        one = rest_items.Listed("1", item)
        assert rest_items.read(api, one, item, home="https://p.org").text.startswith("# ")


def test_one_item_is_asked_for_by_id_and_host() -> None:
    assert (
        rest.check_url("/api/{id}?h={host}", "https://p.org/x", "a/b", {})
        == "https://p.org/x/api/a%2Fb?h=p.org"
    )


# texts


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "# T\n"),
        ("One.\r\n\r\nTwo.", "# T\n\nOne.\n\nTwo.\n"),
        ("# Mine\n\ntext", "# T\n\n## Mine\n\ntext\n"),
        (7, "# T\n\n7\n"),
        # What an expression can make that is no JSON.
        (object(), "# T\n"),
        (["One.", None, "", "Two."], "# T\n\nOne.\n\nTwo.\n"),
        ({"Pay": 30, "Full time": True, "None": None}, "# T\n\n- **Pay:** 30\n- **Full time:** yes\n"),
        ({"heading": "You", "text": "Know C."}, "# T\n\n## You\n\nKnow C.\n"),
        ({"heading": "You", "text": ""}, "# T\n"),
        ({"Skills": ["C", "Python"]}, "# T\n\n## Skills\n\n- C\n- Python\n"),
        ({"About": "a\nb"}, "# T\n\n## About\n\na\nb\n"),
        ([{"a": {"b": {"c": "x\ny"}}}], "# T\n\n## a\n\n### b\n\n#### c\n\nx\ny\n"),
        ("a < b &amp; c", "# T\n\na < b & c\n"),
        ("nul \x00 and bell \x07", "# T\n\nnul  and bell\n"),
    ],
)
def test_whatever_is_given_for_a_text_becomes_readable(value: Any, text: str) -> None:
    assert rest_text.rendered("T", value) == rest_text.Rendered(text, False)


@pytest.mark.parametrize(
    ("value", "part"),
    [
        ("<p>One</p>", "<div><p>One</p></div>"),
        ("&lt;p&gt;A &amp;amp; B&lt;/p&gt;", "<div><p>A &amp; B</p></div>"),
        (["<b>x</b>", "a < b\nc\n\nd"], "<p>a &lt; b<br>c</p>\n<p>d</p>"),
        ([{"heading": "A & B", "text": "<li>x</li>"}], "<h2>A &amp; B</h2>\n<ul><li>x</li></ul>"),
        (["<i>x</i>", {"Skills": ["C", "<3"]}], "<ul><li>C</li></ul>\n<ul><li>&lt;3</li></ul>"),
        (["<i>x</i>", {"K": "<"}], "<ul><li><strong>K:</strong> &lt;</li></ul>"),
    ],
)
def test_html_anywhere_makes_a_page_of_the_whole(value: Any, part: str) -> None:
    rendered = rest_text.rendered("T <1>", value)
    assert rendered.is_html
    assert "<h1>T &lt;1&gt;</h1>" in rendered.text
    assert part in rendered.text


def test_headings_of_a_converted_text_stand_below_its_title() -> None:
    assert rest_text.under_its_title("# T\n\n# A\n\n## B\n") == "# T\n\n## A\n\n### B\n"
    assert rest_text.under_its_title("# T\n\n## A\n") == "# T\n\n## A\n"
    fenced = "# T\n\n```\n# no heading\n```\n"
    assert rest_text.under_its_title(fenced) == fenced


@given(JSON)
def test_any_text_is_rendered_and_the_title_leads(value: Any) -> None:
    rendered = rest_text.rendered("The title", value)
    assert rendered.is_html or rendered.text.startswith("# The title\n")


def test_what_is_too_long_is_cut() -> None:
    assert len(rest_text.rendered("T", ["x y\n" * 100_000] * 50).text) < 3_000_000
