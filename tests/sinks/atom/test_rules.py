"""Atom as text: always XML, always the same for the same changes."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime, timedelta, timezone
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from rowen.core.feed import Cursor, Document, FeedItem
from rowen.sinks.atom import rules as atom

AT = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
NAMES = {"a": "http://www.w3.org/2005/Atom"}


def an_item(*, title: str = "Title", url: str = "https://docs.example/a", number: int = 1) -> FeedItem:
    document = Document(
        id=1,
        source_id=1,
        source="docs",
        kind="web",
        reference="https://docs.example/a",
        url=url,
        title=title,
        metadata={},
        content_type="text/html",
        content_hash=b"",
        generation=1,
        born=1,
        fetched_at=AT,
    )
    return FeedItem(
        cursor=Cursor(1, number),
        source_id=1,
        source="docs",
        kind="web",
        generation=1,
        reference="https://docs.example/a",
        change="added",
        at=AT,
        document=document,
    )


def parsed(*entries: atom.Entry) -> ElementTree.Element:
    feed = atom.AtomFeed(id=atom.urn("x"), title="T", updated=atom.moment(AT), entries=entries)
    return ElementTree.fromstring(atom.render(feed).encode())


@given(st.text(), st.text(), st.text())
def test_whatever_a_page_says_the_feed_is_xml(title: str, url: str, text: str) -> None:
    root = parsed(atom.entry(an_item(title=title, url=url), text=text))
    entry = root.find("a:entry", NAMES)
    assert entry is not None
    for name in ("id", "title", "updated"):
        assert entry.findtext(f"a:{name}", namespaces=NAMES)
    # An entry leads somewhere or holds its content.
    assert (entry.find("a:link", NAMES) is None) == (entry.find("a:content", NAMES) is not None)


def test_characters_that_xml_cannot_hold_are_dropped() -> None:
    root = parsed(atom.entry(an_item(title="a\x00b\x1b[1m\ufffec\ud800<&>\"'d")))
    assert root.findtext("a:entry/a:title", namespaces=NAMES) == "Added: ab[1mc<&>\"'d"


def test_an_entry_keeps_its_id_and_another_change_has_another() -> None:
    one = atom.entry(an_item())
    assert one.id == atom.entry(an_item(title="Other")).id
    assert one.id.startswith("urn:uuid:")
    assert one.id != atom.entry(an_item(number=2)).id


def test_what_is_gone_keeps_the_title_it_had() -> None:
    known = atom.entry(an_item(title="Known"))
    gone = FeedItem(
        cursor=Cursor(2, 9),
        source_id=1,
        source="docs",
        kind="web",
        generation=2,
        reference="https://docs.example/a",
        change="removed",
        at=AT,
        document=None,
    )
    assert atom.entry(gone, known=known).title == "Known"
    assert atom.entry(gone).title == "https://docs.example/a"
    assert atom.entry(gone).url == "https://docs.example/a"


def test_an_entry_can_be_written_down_and_read_again() -> None:
    entry = atom.entry(an_item(), text="words")
    assert atom.Entry(**json.loads(json.dumps(asdict(entry)))) == entry


def test_the_newest_entries_come_first_and_each_once() -> None:
    entries = [atom.entry(an_item(number=n)) for n in range(1, 6)]
    older = atom.merged([], entries[:3], limit=9)
    assert older == [entries[2], entries[1], entries[0]]
    assert atom.merged(older, entries[2:], limit=4) == [entries[4], entries[3], entries[2], entries[1]]


def test_times_are_told_in_utc() -> None:
    assert atom.moment(AT.astimezone(timezone(timedelta(hours=5)))) == "2026-05-01T12:00:00Z"


def test_an_excerpt_is_cut_between_words() -> None:
    assert atom.excerpt("one\n\n two", 20) == "one two"
    assert atom.excerpt("one two three four", 10) == "one two ..."
    assert atom.excerpt("x" * 50, 10) == "x" * 10 + " ..."


@given(st.text(max_size=200), st.integers(4, 30))
def test_an_excerpt_is_never_much_longer_than_asked_for(text: str, chars: int) -> None:
    assert len(atom.excerpt(text, chars)) <= chars + 4
