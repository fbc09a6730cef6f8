"""How an address goes over the wire."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from rowen.adapters.http.fetcher import _wire_url
from rowen.core.web.whatwg import normal
from rowen.errors import Unfetchable

HOSTS = ("e.org", "E.org", "127.0.0.1:8000", "127.1", "0x7f.1", "e.org:80", "e.org:443", "e.org:08080")
SEGMENTS = (
    "a",
    "B2",
    "index.html",
    ".",
    "..",
    "a..b",
    ".hidden",
    "~me",
    "x_y-z",
    "",
    "%41",
    "%2e",
    "ü",
    "a:b",
)


@given(
    st.sampled_from(["http", "https", "HTTP"]),
    st.sampled_from(HOSTS),
    st.lists(st.sampled_from(SEGMENTS), max_size=4),
    st.sampled_from(["", "?", "?a=b c", "#x"]),
)
def test_the_short_cut_for_plain_addresses_changes_nothing(
    scheme: str, host: str, path: list[str], rest: str
) -> None:
    url = f"{scheme}://{host}/{'/'.join(path)}{rest}"
    assert _wire_url(url) == URL(normal(url), encoded=True)


@pytest.mark.parametrize(
    "url", ["http://e.org:99999/a", "http://1.2.3.4.5/a", "http://:80/a", "ftp://e.org/a"]
)
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(Unfetchable, match="the address is not valid"):
        _wire_url(url)
