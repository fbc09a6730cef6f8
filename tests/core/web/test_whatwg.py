"""Addresses by the rules of browsers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.core.web.whatwg import joined, normal, without_login


@pytest.mark.parametrize(
    ("url", "spelt"),
    [
        ("HTTP://E.org:80/a/../b c", "http://e.org/b%20c"),
        ("http://ä.de/ü?ö", "http://xn--4ca.de/%C3%BC?%C3%B6"),
        ("http://[::1]:80/", "http://[::1]/"),
        ("http://e.org/a^b?c^d#e^f", "http://e.org/a%5Eb?c^d#e^f"),
        ("mailto:a^b", "mailto:a^b"),
    ],
)
def test_an_address_is_spelt_as_a_browser_spells_it(url: str, spelt: str) -> None:
    assert normal(url) == spelt


@pytest.mark.parametrize(
    ("base", "link", "spelt"),
    [
        ("http://e.org/a/b", "../c", "http://e.org/c"),
        ("http://e.org/a/b", "//f.org/c", "http://f.org/c"),
        ("http://e.org/a/b?q", "#s", "http://e.org/a/b?q#s"),
        ("http://e.org/a^b/", "c^d", "http://e.org/a%5Eb/c%5Ed"),
    ],
)
def test_a_link_is_read_from_its_page(base: str, link: str, spelt: str) -> None:
    assert joined(base, link) == spelt


@pytest.mark.parametrize("url", ["", "x", "//e.org", "http://", "http://[", "http://\ud800/", "http://a\0b/"])
def test_what_is_no_address_is_a_value_error(url: str) -> None:
    with pytest.raises(ValueError):
        normal(url)


@pytest.mark.parametrize("link", ["http://[", "\ud800", "http://"])
def test_what_is_no_link_is_a_value_error(link: str) -> None:
    with pytest.raises(ValueError):
        joined("http://e.org/", link)


@given(st.text(), st.sampled_from(["http://e.org/", "https://e.org/a^/", ""]))
def test_what_was_spelt_once_is_not_spelt_anew(text: str, before: str) -> None:
    try:
        once = normal(before + text)
    except ValueError:
        return
    assert normal(once) == once


def test_a_login_is_taken_out() -> None:
    assert without_login("https://me:secret@e.org/x#y") == "https://e.org/x#y"
