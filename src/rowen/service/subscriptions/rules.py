"""What a subscription asks of a document, what answers it, and the one message about a change of the answer.

An answer is a table of entries by place; two answers differ by entries that came, changed or went.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from rowen.core import hashing
from rowen.core.compare.outline import outline
from rowen.core.compare.signatures import differences
from rowen.core.feed import Document
from rowen.core.section import PATH_SEPARATOR
from rowen.core.split import split

PATH, HEADING, SYMBOL, QUESTION = "path", "heading", "symbol", "question"
WAYS = (PATH, HEADING, SYMBOL, QUESTION)
"""What may be subscribed to, by the name of its setting."""
SAID_CHARS = 400
MESSAGES_KEPT = 100
"""In a file."""


class Entry(NamedTuple):
    """A part of an answer: a page, a section, a definition, or the best hit."""

    digest: str
    said: str
    title: str
    url: str


Answer = dict[str, Entry]
"""By source and reference, on two lines."""


def key_of(source: str, reference: str) -> str:
    return f"{source}\n{reference}"


def part(way: str, wanted: str, document: Document, *, location: str = "") -> Entry | None:
    """What a document contributes to the answer; a path is also that inside the location of its source."""
    if way == PATH:
        path = urlsplit(document.reference).path if "://" in document.reference else document.reference
        inside = document.reference.removeprefix(location.rpartition("/")[0] + "/")
        names = (document.reference, path, path.lstrip("/"), inside)
        if not any(fnmatchcase(name, wanted) for name in names):
            return None
        return Entry(document.content_hash.hex()[:32], document.title, document.title, document.url)
    text = document.text or ""
    if way == SYMBOL:
        found = outline(text).symbols.get(wanted)
        if found is None:
            return None
        said = found.signature or f"{found.kind} {found.name}"
        digest = hashing.of_mapping({"said": said, "about": found.digest.hex()}).hex()[:32]
        return Entry(digest, said[:SAID_CHARS], document.title, _at(document.url, found.anchor))
    sections = [
        one for one in split(text) if _is_called(one.heading, PATH_SEPARATOR.join(one.heading_path), wanted)
    ]
    if not sections:
        return None
    said = "\n".join(one.text for one in sections)
    digest = hashing.of_text(said).hex()[:32]
    return Entry(digest, _short(said), document.title, _at(document.url, sections[0].anchor))


def _is_called(heading: str, path: str, wanted: str) -> bool:
    folded = wanted.casefold().strip()
    return folded in (heading.casefold(), path.casefold())


def changes(way: str, before: Mapping[str, Entry], after: Mapping[str, Entry]) -> list[dict[str, Any]]:
    """What differs between two answers, for a message; empty when they are the same."""
    found = []
    for key in sorted(before.keys() | after.keys()):
        old, new = before.get(key), after.get(key)
        if old and new and old.digest == new.digest:
            continue
        shown = new or old
        assert shown is not None
        source, _, reference = key.partition("\n")
        said = differences(old.said, new.said) if way == SYMBOL and old and new else []
        found.append(
            {
                "change": "changed" if old and new else "added" if new else "removed",
                "source": source,
                "reference": reference,
                "title": shown.title,
                "url": shown.url,
                "before": old.said if old else None,
                "after": new.said if new else None,
                **({"notes": said} if said else {}),
            }
        )
    return found


def message(
    name: str, way: str, wanted: str, changed: list[dict[str, Any]], *, number: int, at: str
) -> dict[str, Any]:
    """What the receiver gets, once: `delivery` is the same however often it has to be sent."""
    delivery = hashing.of_text(f"{name}\n{number}\n{json.dumps(changed, sort_keys=True)}").hex()[:32]
    return {
        "subscription": name,
        "delivery": delivery,
        "number": number,
        "asks": {way: wanted},
        "at": at,
        "changes": changed,
    }


def to_state(answer: Mapping[str, Entry]) -> dict[str, list[str]]:
    return {key: list(entry) for key, entry in answer.items()}


def from_state(stored: Mapping[str, list[str]]) -> Answer:
    return {key: Entry(*values) for key, values in stored.items()}


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SAID_CHARS else f"{line[: SAID_CHARS - 1]}…"


def _at(url: str, anchor: str | None) -> str:
    return f"{url}#{anchor}" if anchor else url
