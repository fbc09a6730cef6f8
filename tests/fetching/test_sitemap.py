"""Reading sitemaps, whole or not at all."""

from __future__ import annotations

import gzip
import time

import pytest

from rowen.errors import Unparseable
from rowen.fetching import sitemap

NS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
BOMB = b"""<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]><urlset><url><loc>&c;</loc></url></urlset>"""


def urlset(*entries: str) -> bytes:
    return f'<?xml version="1.0" encoding="UTF-8"?><urlset {NS}>{"".join(entries)}</urlset>'.encode()


def test_addresses_come_in_order_and_once() -> None:
    found = sitemap.parse(
        urlset(
            "<url>\n <loc> https://e.org/b#x </loc><lastmod>2024-05-01</lastmod></url>",
            "<url><loc>https://e.org/a?b=1&amp;a=2</loc></url>",
            "<url><loc>https://E.org/b</loc></url>",
            "<url><loc>mailto:x</loc></url><url/>",
        )
    )
    assert found.urls == ("https://e.org/b", "https://e.org/a?a=2&b=1")
    assert found.children == ()


def test_an_index_names_further_sitemaps() -> None:
    body = b"<s:sitemapindex xmlns:s='x'><s:sitemap><s:loc>/a.xml.gz</s:loc></s:sitemap></s:sitemapindex>"
    found = sitemap.parse(body, base="https://e.org/sitemap.xml")
    assert found.children == ("https://e.org/a.xml.gz",)
    assert found.urls == ()


def test_the_address_of_an_image_is_not_a_page() -> None:
    image = "<image:image xmlns:image='i'><image:loc>https://e.org/i.png</image:loc></image:image>"
    found = sitemap.parse(urlset(f"<url>{image}<loc>https://e.org/a</loc>{image}</url>"))
    assert found.urls == ("https://e.org/a",)


def test_gzip_is_known_by_its_first_bytes_and_may_have_several_members() -> None:
    body = urlset("<url><loc>https://e.org/a</loc></url>")
    packed = gzip.compress(body[:30]) + gzip.compress(body[30:]) + b"\0" * 10
    assert sitemap.parse(packed) == sitemap.parse(body)


def test_plain_text_has_one_address_a_line() -> None:
    found = sitemap.parse(b"\xef\xbb\xbfhttps://e.org/a\r\n\r\n# note\nhttps://e.org/b\n")
    assert found.urls == ("https://e.org/a", "https://e.org/b")


def test_utf_16_is_read() -> None:
    text = "<?xml version='1.0' encoding='utf-16'?><urlset><url><loc>https://e.org/a</loc></url></urlset>"
    assert sitemap.parse(text.encode("utf-16")).urls[0] == "https://e.org/a"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"hello",
        b"https://e.org/a\nnot an address",
        b"\xff\xfa\x00",
        b"<html><body>Not found</body></html>",
        b"<!DOCTYPE html><html></html>",
        urlset("<url><loc>https://e.org/a</loc></url>")[:-4],
        urlset("<url><loc>https://e.org/a</loc></url><url><loc>https://e.org/&bad;</loc></url>"),
        b"<?xml version='1.0' encoding='no-such'?><urlset/>",
        gzip.compress(urlset("<url><loc>https://e.org/a</loc></url>"))[:-12],
        b"\x1f\x8bgarbage",
        BOMB,
        BOMB.decode().replace('?xml version="1.0"', '?xml version="1.0" encoding="utf-16"').encode("utf-16"),
    ],
)
def test_half_a_sitemap_is_no_sitemap(body: bytes) -> None:
    with pytest.raises(Unparseable):
        sitemap.parse(body)


def test_errors_name_the_sitemap() -> None:
    with pytest.raises(Unparseable, match=r"`https://e\.org/s\.xml`: line 1"):
        sitemap.parse(b"<urlset>", base="https://e.org/s.xml")


def test_a_bomb_of_gzip_stops_at_the_limit() -> None:
    bomb = gzip.compress(b" " * (sitemap.MAX_BYTES + 1_000))
    started = time.process_time()
    with pytest.raises(Unparseable, match="when unpacked"):
        sitemap.parse(bomb)
    assert time.process_time() - started < 2.0


def test_more_addresses_than_allowed_are_refused_rather_than_cut() -> None:
    lines = "".join(f"https://e.org/{n}\n" for n in range(sitemap.MAX_URLS))
    assert len(sitemap.parse(lines.encode()).urls) == sitemap.MAX_URLS
    with pytest.raises(Unparseable, match="more than 50000"):
        sitemap.parse((lines + "https://e.org/one-more").encode())
