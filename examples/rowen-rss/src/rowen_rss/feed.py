"""Read RSS 0.9 to 2.0 and Atom: bytes in, entries out. No I/O."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urljoin
from xml.etree import ElementTree
from xml.etree.ElementTree import Element


@dataclass(frozen=True, kw_only=True)
class Entry:
    id: str
    url: str
    title: str
    content: str
    """HTML."""
    metadata: dict[str, str] = field(default_factory=dict)

    def page(self) -> bytes:
        """The entry as a page that Rowen can convert; all that it says is in there."""
        title = html.escape(self.title)
        metas = "".join(
            f'<meta name="{name}" content="{html.escape(value)}">' for name, value in self.metadata.items()
        )
        head = f'<head><meta charset="utf-8"><title>{title}</title>{metas}</head>'
        return f"<html>{head}<body><main><h1>{title}</h1>{self.content}</main></body></html>".encode()


@dataclass(frozen=True, kw_only=True)
class Feed:
    title: str
    entries: list[Entry]
    deleted: list[str]
    """Ids of entries that the feed says are deleted (RFC 6721)."""


def parse(body: bytes, url: str) -> Feed:
    """Raises `ValueError` for what is no feed."""
    if b"<!DOCTYPE" in body[:2_000]:
        raise ValueError("a document type, which no feed has")
    try:
        root = ElementTree.fromstring(body)
    except ElementTree.ParseError as exc:
        raise ValueError(f"not XML: {exc}") from exc
    if _name(root) not in ("rss", "RDF", "feed"):
        raise ValueError(f"a document of `{_name(root)}`, not a feed")
    channel = root if _name(root) == "feed" else _child(root, "channel")
    entries: dict[str, Entry] = {}
    for element in root.iter():
        if _name(element) in ("item", "entry"):
            entry = _entry(element, url)
            entries.setdefault(entry.id, entry)
    return Feed(
        title=_text(channel, "title") or url,
        entries=list(entries.values()),
        deleted=[one.get("ref", "") for one in root.iter() if _name(one) == "deleted-entry"],
    )


def _entry(element: Element, base: str) -> Entry:
    link = _link(element, base)
    title = _text(element, "title")
    content = next(
        (
            found
            for name in ("encoded", "content", "description", "summary")
            if (found := _html(_child(element, name)))
        ),
        "",
    )
    identity = _text(element, "guid") or _text(element, "id") or link
    if not identity:
        raise ValueError("an entry without an id and without a link")
    metadata = {
        "published": _moment(_text(element, "pubDate", "published", "date", "updated")),
        "author": _text(element, "creator", "author"),
    }
    return Entry(
        id=identity,
        url=link or (identity if identity.startswith(("http:", "https:")) else base),
        title=title or link or identity,
        content=content,
        metadata={name: value for name, value in metadata.items() if value},
    )


def _name(element: Element) -> str:
    """Without its namespace: feeds mix them freely."""
    return element.tag.rpartition("}")[2]


def _child(element: Element | None, name: str) -> Element | None:
    return next((one for one in element if _name(one) == name), None) if element is not None else None


def _text(element: Element | None, *names: str) -> str:
    for name in names:
        found = _child(element, name)
        if found is not None and (text := " ".join("".join(found.itertext()).split())):
            return text
    return ""


def _link(element: Element, base: str) -> str:
    for one in element:
        if _name(one) == "link" and one.get("rel", "alternate") == "alternate":
            target = one.get("href") or (one.text or "").strip()
            if target:
                return urljoin(base, target)
    return ""


def _html(element: Element | None) -> str:
    if element is None:
        return ""
    if element.get("type") == "xhtml":
        for one in element.iter():
            one.tag = _name(one)
        return "".join(ElementTree.tostring(one, "unicode", "html") for one in element)
    text = (element.text or "").strip()
    # Atom says what its text is; in RSS it is HTML by habit.
    return f"<p>{html.escape(text)}</p>" if text and element.get("type") == "text" else text


def _moment(text: str) -> str:
    try:
        at = datetime.fromisoformat(text) if text[:4].isdigit() else parsedate_to_datetime(text)
    except ValueError:
        return ""
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).isoformat()
