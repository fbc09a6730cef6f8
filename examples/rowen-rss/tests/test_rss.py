"""The kind `rss` through Rowen's own front door, against a real server."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from rowen import Receipt, Rowen

ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xmlns:at="http://purl.org/atompub/tombstones/1.0">
<title>Orchard</title>{}</feed>"""


class Server:
    """Serves one feed, with an ETag that changes when it does."""

    def __init__(self) -> None:
        self.body = b""
        self.status = 200
        self.asked: list[str | None] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                known = self.headers.get("If-None-Match")
                server.asked.append(known)
                etag = f'"{hash(server.body)}"'
                status = 304 if known == etag and server.status == 200 else server.status
                self.send_response(status)
                self.send_header("ETag", etag)
                self.end_headers()
                if status == 200:
                    self.wfile.write(server.body)

            def log_message(self, *_: Any) -> None:
                return

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}/feed.xml"
        self._thread = threading.Thread(target=self._http.serve_forever)
        self._thread.start()

    def rss(self, *entries: tuple[str, str, str]) -> None:
        items = "".join(
            f"<item><guid isPermaLink='false'>{key}</guid><title>{title}</title><link>/{key}</link>"
            f"<pubDate>Mon, 05 Jan 2026 10:00:00 GMT</pubDate>"
            f"<description><![CDATA[<p>{text}</p>]]></description></item>"
            for key, title, text in entries
        )
        self.body = f"<rss><channel><title>Orchard</title>{items}</channel></rss>".encode()

    def atom(self, entries: str) -> None:
        self.body = ATOM.format(entries).encode()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


@pytest.fixture
def rowen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Rowen]:
    monkeypatch.setenv("ROWEN_FETCH_RETRIES", "0")
    with Rowen(db=f"sqlite:///{tmp_path / 'rowen.db'}") as opened:
        yield opened


def add(rowen: Rowen, server: Server, **settings: str) -> None:
    rowen.add(server.url, name="blog", kind="rss", settings=settings)


def counted(receipt: Receipt) -> tuple[int, int, int, int]:
    counters = receipt.counters
    return counters.created, counters.updated, counters.unchanged, counters.deleted


def found(rowen: Rowen, words: str) -> list[str]:
    return [hit.title for hit in rowen.search(words, mode="keyword").hits]


def test_entries_become_documents_and_are_found(rowen: Rowen, server: Server) -> None:
    server.rss(("a", "Pears are ripe", "Pick them soon."), ("b", "Plums", "Blue ones."))
    add(rowen, server)
    assert counted(rowen.sync("blog")) == (2, 0, 0, 0)
    (hit,) = rowen.search("pick soon", mode="keyword").hits
    assert (hit.title, hit.url) == ("Pears are ripe", server.url.replace("feed.xml", "a"))


def test_a_feed_that_did_not_change_costs_one_request_and_no_conversion(rowen: Rowen, server: Server) -> None:
    server.rss(("a", "Pears", "Ripe."), ("b", "Plums", "Blue."))
    add(rowen, server)
    rowen.sync("blog")
    server.asked.clear()
    receipt = rowen.sync("blog")
    assert counted(receipt) == (0, 0, 2, 0)
    assert (receipt.counters.requests, receipt.counters.parses) == (1, 0)
    assert server.asked[0] is not None


def test_only_an_entry_that_changed_is_converted_again(rowen: Rowen, server: Server) -> None:
    server.rss(("a", "Pears", "Ripe."), ("b", "Plums", "Blue."))
    add(rowen, server)
    rowen.sync("blog")
    server.rss(("a", "Pears", "Overripe."), ("b", "Plums", "Blue."), ("c", "Quinces", "Hard."))
    receipt = rowen.sync("blog")
    assert counted(receipt) == (1, 1, 1, 0)
    assert receipt.counters.parses == 2
    assert found(rowen, "overripe") == ["Pears"]


def test_an_entry_that_left_the_feed_is_kept(rowen: Rowen, server: Server) -> None:
    server.rss(("a", "Pears", "Ripe."), ("b", "Plums", "Blue."))
    add(rowen, server)
    rowen.sync("blog")
    server.rss(("b", "Plums", "Blue."))
    assert counted(rowen.sync("blog")) == (0, 0, 1, 0)
    assert found(rowen, "ripe") == ["Pears"]


def test_a_feed_that_lists_everything_may_say_what_is_gone(rowen: Rowen, server: Server) -> None:
    server.rss(("a", "Pears", "Ripe."), ("b", "Plums", "Blue."))
    add(rowen, server, absent="gone")
    rowen.sync("blog")
    server.rss(("b", "Plums", "Blue."))
    assert counted(rowen.sync("blog")) == (0, 0, 1, 1)
    assert found(rowen, "ripe") == []


def test_an_entry_that_the_feed_calls_deleted_is_gone(rowen: Rowen, server: Server) -> None:
    entry = "<entry><id>urn:{0}</id><title>{0}</title><content type='text'>{0} &lt;b&gt;</content></entry>"
    server.atom(entry.format("Pears") + entry.format("Plums"))
    add(rowen, server)
    assert counted(rowen.sync("blog")) == (2, 0, 0, 0)
    server.atom(entry.format("Plums") + '<at:deleted-entry ref="urn:Pears" when="2026-01-01T00:00:00Z"/>')
    assert counted(rowen.sync("blog")) == (0, 0, 1, 1)
    assert found(rowen, "pears") == []


def test_after_a_rollback_a_304_brings_the_newer_entries_back(rowen: Rowen, server: Server) -> None:
    server.rss(("a", "Pears", "Ripe."))
    add(rowen, server)
    rowen.sync("blog")
    server.rss(("a", "Pears", "Overripe."))
    rowen.sync("blog")
    rowen.rollback("blog")
    assert found(rowen, "overripe") == []
    assert counted(rowen.sync("blog")) == (0, 1, 0, 0)
    assert found(rowen, "overripe") == ["Pears"]


@pytest.mark.parametrize("status", [404, 500])
def test_a_feed_that_does_not_answer_deletes_nothing(rowen: Rowen, server: Server, status: int) -> None:
    server.rss(("a", "Pears", "Ripe."))
    add(rowen, server, absent="gone")
    rowen.sync("blog")
    server.status = status
    receipt = rowen.sync("blog")
    assert (receipt.good, receipt.counters.deleted) == (False, 0)
    assert found(rowen, "ripe") == ["Pears"]


def test_what_is_no_feed_is_said_when_it_is_added(rowen: Rowen, server: Server) -> None:
    server.body = b"<!DOCTYPE html><html></html>"
    with pytest.raises(Exception, match="a document type, which no feed has"):
        add(rowen, server)
    server.body = b"<opml></opml>"
    with pytest.raises(Exception, match="a document of `opml`, not a feed"):
        add(rowen, server)


def test_atom_is_read_with_its_links_dates_and_xhtml() -> None:
    from rowen_rss.feed import parse

    feed = parse(
        ATOM.format(
            "<entry><id>1</id><title>A &amp; B</title><link rel='self' href='/s'/><link href='/e'/>"
            "<updated>2026-01-05T10:00:00Z</updated><author><name>Ada</name></author>"
            "<content type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'><p>x</p></div></content></entry>"
        ).encode(),
        "https://e.org/feed",
    )
    (entry,) = feed.entries
    assert (entry.id, entry.url, entry.title) == ("1", "https://e.org/e", "A & B")
    assert entry.content == "<div><p>x</p></div>"
    assert entry.metadata == {"published": "2026-01-05T10:00:00+00:00", "author": "Ada"}
