"""One spelling for each address."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.core.web.urls import (
    host_of,
    is_variant_of_same_page,
    normalise,
    origin_of,
    secret_parameter,
    without_credentials,
)

BASE = "https://docs.example.org/guide/start.html?x=1"

hosts = st.sampled_from(["example.org", "EXAMPLE.org:443", "exämple.org", "127.1", "[::1]:80", "u:p@h.org"])
pieces = st.text(alphabet="aZ09%/?&=#.~ +:@\\äé|^'\"{}7eE2fFuutm_", max_size=40)


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("../b.html", "https://docs.example.org/b.html"),
        ("b.html#part", "https://docs.example.org/guide/b.html"),
        ("#part", "https://docs.example.org/guide/start.html?x=1"),
        ("?y=2", "https://docs.example.org/guide/start.html?y=2"),
        ("//other.org/a", "https://other.org/a"),
        ("HTTP://Example.ORG:80", "http://example.org/"),
        ("https://example.org:443/a", "https://example.org/a"),
        ("https://example.org:8443/a", "https://example.org:8443/a"),
        ("https://exämple.org/ä", "https://xn--exmple-cua.org/%C3%A4"),
        ("/a?", "https://docs.example.org/a"),
        ("  /a b\n", "https://docs.example.org/a%20b"),
        ("/%7euser/%2fa%e4", "https://docs.example.org/~user/%2Fa%E4"),
        ("/a/./b/../c", "https://docs.example.org/a/c"),
        ("/100%", "https://docs.example.org/100%25"),
        ("http://user:secret@example.org/a", "http://example.org/a"),
        ("/@user/a@b", "https://docs.example.org/@user/a@b"),
    ],
)
def test_links_come_out_absolute_and_in_one_spelling(link: str, expected: str) -> None:
    assert normalise(link, BASE) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("b=2&a=1", "?a=1&b=2"),
        ("b=2&a=2&a=1", "?a=2&a=1&b=2"),
        ("utm_source=x&UTM_Medium=y&gclid=1&fbclid=2&_ga=3", ""),
        ("a=1&mc_cid=9&&", "?a=1"),
        ("ref=main", "?ref=main"),
        ("%75tm_source=x&a", "?a"),
        ("a=&a", "?a=&a"),
    ],
)
def test_query_parameters_are_sorted_and_tracking_goes(query: str, expected: str) -> None:
    assert normalise("https://example.org/p?" + query) == "https://example.org/p" + expected


@pytest.mark.parametrize(
    "link",
    [
        "mailto:a@example.org",
        "javascript:void(0)",
        "data:text/html,hello",
        "tel:+1",
        "ftp://example.org/a",
        "http://",
        "http://a b/",
        "http://example.org:99999/",
        "https://[::1/",
        "\ud800",
        "/" + "a" * 2_000,
        "data:image/png;base64," + "A" * 100_000,
        "httpx://example.org/",
        "http-equiv:refresh",
    ],
)
def test_what_cannot_be_fetched_over_http_is_none(link: str) -> None:
    assert normalise(link, BASE) is None


def test_a_relative_link_without_base_is_none() -> None:
    assert normalise("a.html") is None


def test_a_lone_percent_sign_cannot_form_a_new_escape() -> None:
    assert normalise("http://example.org/%%32e") == "http://example.org/%252e"


@given(hosts, pieces, st.sampled_from(["http", "https"]))
def test_normalising_twice_is_normalising_once(host: str, rest: str, scheme: str) -> None:
    once = normalise(f"{scheme}://{host}/{rest}")
    if once is not None:
        assert normalise(once) == once
        assert normalise(once, BASE) == once
        assert len(once) <= 2_000
        assert "#" not in once
        assert "@" not in origin_of(once)


@given(st.text(max_size=60), st.text(max_size=60))
def test_nothing_a_page_says_makes_it_raise(url: str, base: str) -> None:
    for result in (normalise(url), normalise(url, base), normalise(url, BASE)):
        assert result is None or result.startswith(("http://", "https://"))
    without_credentials(url)
    host_of(url)
    is_variant_of_same_page(url, base)


@pytest.mark.parametrize(
    ("url", "host", "origin"),
    [
        ("https://Example.org/a", "example.org", "https://example.org"),
        ("http://u:p@example.org:8080/a:b", "example.org", "http://example.org:8080"),
        ("http://[::1]:8080/", "[::1]", "http://[::1]:8080"),
        ("http://[::1]/", "[::1]", "http://[::1]"),
        ("mailto:a@b.org", "", ""),
    ],
)
def test_host_and_origin(url: str, host: str, origin: str) -> None:
    assert (host_of(url), origin_of(url)) == (host, origin)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://user:secret@example.org/a", "https://example.org/a"),
        ("https://user@example.org/a?b=c@d", "https://example.org/a?b=c@d"),
        ("http:user:secret@example.org/", "http://example.org/"),
        ("user:secret@example.org", "example.org"),
        ("https://example.org/@user", "https://example.org/@user"),
        ("https://example.org/a?mail=a@b", "https://example.org/a?mail=a@b"),
        ("mailto:a@b.org", "mailto:a@b.org"),
    ],
)
def test_credentials_are_not_shown(url: str, shown: str) -> None:
    assert without_credentials(url) == shown


@pytest.mark.parametrize(
    "url",
    [
        "https://user:sec/ret@example.org:x/",
        "https://user:secret@example.org:99999/",
        "https://user:secret@exa mple.org/",
        "https:\\\\user:secret@exa mple.org/",
    ],
)
def test_credentials_of_a_broken_address_are_not_shown_either(url: str) -> None:
    shown = without_credentials(url)
    assert "sec" not in shown
    assert "ret@" not in shown


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("https://e.org/a/", "https://e.org/a"),
        ("https://e.org/a/index.html", "https://e.org/a/"),
        ("https://e.org/a/index.htm", "https://e.org/a"),
        ("https://e.org/default.html", "https://e.org/"),
        ("https://e.org/a.html", "https://e.org/A"),
        ("https://e.org/a?page=2", "https://e.org/a"),
        ("http://e.org/a", "https://e.org/a"),
    ],
)
def test_spellings_of_one_page_are_variants(a: str, b: str) -> None:
    assert is_variant_of_same_page(a, b)
    assert is_variant_of_same_page(b, a)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("https://e.org/a", "https://e.org/b"),
        ("https://e.org/a", "https://other.org/a"),
        ("https://e.org/a", "https://e.org:8443/a"),
        ("https://e.org/a/b", "https://e.org/"),
        ("mailto:a", "javascript:b"),
    ],
)
def test_different_pages_are_not_variants(a: str, b: str) -> None:
    assert not is_variant_of_same_page(a, b)


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://d.example/data.json?api_key=SEKRIT", "api_key"),
        ("https://d.example/x?a=1&X-Access-Token=abc", "X-Access-Token"),
        ("https://d.example/x?token=", None),
        ("https://d.example/x?tokenizer=porter&page=2", None),
        ("https://d.example/#token=1", None),
    ],
)
def test_a_key_in_a_query_is_noticed(url: str, name: str | None) -> None:
    assert secret_parameter(url) == name


def test_a_session_is_no_part_of_an_address() -> None:
    plain = "https://x.example/g/a?b=1"
    assert normalise("https://x.example/g;jsessionid=0A1B.node1/a?PHPSESSID=9&b=1") == plain
    assert normalise("https://x.example/g/a;JSESSIONID=7?b=1&ASPSESSIONIDQAC=2") == plain
    assert normalise("https://x.example/g/a;v=2") == "https://x.example/g/a;v=2"
