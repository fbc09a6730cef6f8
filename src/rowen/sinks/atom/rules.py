"""An Atom 1.0 feed (RFC 4287) of changes, as text.

Every id follows from what an entry is about, so that writing a feed again gives the same feed. Characters
that XML cannot hold are dropped. Which changes are in a feed is decided elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape
from uuid import NAMESPACE_URL, uuid5

from rowen.core.exchange.delivery import address
from rowen.core.feed import SOURCE_REMOVED, FeedItem
from rowen.records import dataclass

SUMMARY_CHARS = 300

# XML 1.0 has no place for these, not even as an escape.
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_HAS_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    id: str
    source: str
    reference: str
    change: str
    title: str
    url: str | None
    updated: str
    """RFC 3339."""
    summary: str


@dataclass(frozen=True, kw_only=True, slots=True)
class AtomFeed:
    id: str
    title: str
    updated: str
    entries: Sequence[Entry]
    """The newest first."""
    url: str | None = None
    """Where the feed itself can be read."""


def urn(*parts: str) -> str:
    """A name that is always the same for the same parts."""
    return uuid5(NAMESPACE_URL, "\n".join(("rowen", *parts))).urn


def moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def entry(item: FeedItem, *, text: str | None = None, known: Entry | None = None) -> Entry:
    """A change as an entry. `known` is an older entry of the same reference: it remembers the title of what
    is gone."""
    document = item.document
    title = document.title if document else known.title if known else ""
    said = f"{item.change.capitalize()} in {item.source}, generation {item.generation}."
    if item.change == SOURCE_REMOVED:
        said = f"Source {item.source} was removed with all its documents."
    return Entry(
        # Cursors start anew in a new store; the time tells such entries apart.
        id=urn(item.source, item.reference, str(item.cursor), item.at.isoformat()),
        source=item.source,
        reference=item.reference,
        change=item.change,
        title=_one_line(title) or item.reference or item.source,
        url=document.url if document else known.url if known else address(item.reference),
        updated=moment(item.at),
        summary=f"{said} {excerpt(text)}" if text else said,
    )


def excerpt(text: str, chars: int = SUMMARY_CHARS) -> str:
    """The beginning of a text on one line, cut between words where there are any."""
    # Enough of it: white space may be most of what stands at the beginning.
    line = _one_line(text[: chars * 4])
    if len(line) <= chars and len(text) <= chars * 4:
        return line
    cut = line[:chars]
    return (cut[: cut.rfind(" ")] if " " in cut[chars // 2 :] else cut) + " ..."


def merged(older: Sequence[Entry], newer: Sequence[Entry], *, limit: int) -> list[Entry]:
    """The newest entries first, each id once; `older` stands in that order, `newer` in the feed's.

    Of a source that was removed, what was said before is left out.
    """
    found: dict[str, Entry] = {}
    removed: set[str] = set()
    for one in [*reversed(newer), *older]:
        if one.source not in removed:
            found[one.id] = one
        if one.change == SOURCE_REMOVED:
            removed.add(one.source)
    return list(found.values())[:limit]


def render(feed: AtomFeed) -> str:
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<feed xmlns="http://www.w3.org/2005/Atom">',
        f"  <id>{_text(feed.id)}</id>",
        f"  <title>{_text(feed.title)}</title>",
        f"  <updated>{_text(feed.updated)}</updated>",
        "  <author><name>Rowen</name></author>",
        "  <generator>Rowen</generator>",
    ]
    if feed.url:
        lines.append(f'  <link rel="self" href="{_text(feed.url)}"/>')
    for one in feed.entries:
        lines += _entry_lines(one)
    return "\n".join([*lines, "</feed>", ""])


def _entry_lines(one: Entry) -> list[str]:
    said = one.change.replace("_", " ").capitalize()
    lines = [
        "  <entry>",
        f"    <id>{_text(one.id)}</id>",
        f"    <title>{_text(f'{said}: {one.title}')}</title>",
        f"    <updated>{_text(one.updated)}</updated>",
        f'    <category term="{_text(one.change)}"/>',
        f'    <category term="{_text(one.source)}"/>',
    ]
    if one.url and _HAS_SCHEME.fullmatch(one.url):
        lines.append(f'    <link rel="alternate" href="{_text(one.url)}"/>')
        lines.append(f'    <summary type="text">{_text(one.summary)}</summary>')
    else:
        # An entry that leads nowhere must hold its content itself.
        lines.append(f'    <content type="text">{_text(one.summary)}</content>')
    return [*lines, "  </entry>"]


def legal(value: str) -> str:
    """Without the characters that XML cannot hold."""
    return _ILLEGAL.sub("", value)


def _text(value: str) -> str:
    return escape(legal(value))


def _one_line(text: str) -> str:
    return " ".join(text.split())
