"""Reading sitemaps: piece by piece, up to a bound, and never half of a broken one."""

from __future__ import annotations

import gzip
import time
import tracemalloc

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
    with pytest.raises(Unparseable, match="too long"):
        sitemap.parse(bomb)
    assert time.process_time() - started < 2.0


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("form", ["xml", "index", "lines"])
def test_addresses_behind_the_limit_are_counted_and_left_out(form: str, packed: bool) -> None:
    addresses = [f"https://e.org/{n}" for n in range(5_000)]
    body = "\n".join(addresses).encode()
    if form != "lines":
        tags = ("urlset", "url") if form == "xml" else ("sitemapindex", "sitemap")
        entries = "".join(f"<{tags[1]}><loc>{url}</loc></{tags[1]}>" for url in addresses)
        body = f"<{tags[0]}>{entries}</{tags[0]}>".encode()
    found = sitemap.parse(gzip.compress(body) if packed else body, max_urls=3_000)
    assert found.urls + found.children == tuple(addresses[:3_000])
    assert found.left_out == 2_000


def test_a_file_over_the_limit_of_bytes_counts_with_its_first_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemap, "MAX_BYTES", 200_000)
    whole = urlset(*(f"<url><loc>https://e.org/{n}</loc></url>" for n in range(20_000)))
    for body in (whole, whole[:200_000], gzip.compress(whole)):
        found = sitemap.parse(body)
        assert found.urls[:2] == ("https://e.org/0", "https://e.org/1")
        assert 3_000 < len(found.urls) < 6_000
        assert found.left_out == 1


def test_a_large_sitemap_is_read_in_little_memory() -> None:
    entry = f"<url><loc>https://e.org/a</loc><!--{'x' * 50_000}--></url>"
    body = gzip.compress(urlset(*[entry] * 200))
    tracemalloc.start()
    found = sitemap.parse(body)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.urls == ("https://e.org/a",)
    assert peak < 1_000_000, "10 MB of XML are never in memory at once"


ATOM = b"""<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><link href="https://e.org/"/>
<updated>2026-01-09T00:00:00Z</updated>
<entry><link rel="self" href="https://e.org/a.xml"/><link href="https://e.org/a"/>
<published>2025-01-01T00:00:00Z</published><updated>2026-01-02T00:00:00Z</updated></entry>
<entry><link rel="alternate" href="/b"/><content><link>https://e.org/inside</link></content></entry></feed>"""
RSS = b"""<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><link>https://e.org/</link>
<item><link>https://e.org/a</link><pubDate>Fri, 02 Jan 2026 00:00:00 GMT</pubDate></item>
<item><link>https://e.org/b</link><atom:updated>2026-01-02T00:00:00Z</atom:updated></item></channel></rss>"""


def test_a_feed_names_its_pages_and_when_they_were_changed_not_published() -> None:
    found = sitemap.parse(ATOM, base="https://e.org/feed")
    assert found.urls == ("https://e.org/a", "https://e.org/b")
    assert found.lastmods == ("2026-01-02T00:00:00Z", "")
    assert found.newest_only
    found = sitemap.parse(RSS)
    assert (found.urls, found.lastmods) == (
        ("https://e.org/a", "https://e.org/b"),
        ("", "2026-01-02T00:00:00Z"),
    )
    assert not sitemap.parse(urlset("<url><loc>https://e.org/a</loc></url>")).newest_only
