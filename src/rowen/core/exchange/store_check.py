"""Is what a store holds what was written? Decided row by row, from the rows alone.

Texts are stored under their hashes, and a document's hash covers its title, address, metadata and text, so a
row that was changed behind our back is found even where the database finds nothing wrong with its pages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, datetime
from typing import Any

from rowen.core import hashing
from rowen.core.document import payload_hash
from rowen.core.exchange.store_copy import Column, Kind, Part, Row
from rowen.records import dataclass

LINK_BYTES = 8
ANOTHER_TEXT = "the text is not the one it was stored as"
REPLACED = "\ufffd"
"""What a database without NUL keeps in its place; the hash is of the text before that."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """Something that is wrong with a store."""

    part: str
    """A part of the store; `file` for the database below it."""
    said: str
    rows: int = 1


def wrong_value(part: Part, row: Row) -> str | None:
    """A value that cannot be what was stored in its column; None when all can."""
    for column, value in zip(part.columns, row, strict=False):
        if value is not None and not _fits(column, value):
            return f"`{column.name}` cannot be read"
    return None


def _fits(column: Column, value: Any) -> bool:
    try:
        match column.kind:
            case Kind.INT:
                return isinstance(value, int)
            case Kind.FLAG:
                return value in (0, 1)
            case Kind.REAL:
                return isinstance(value, int | float)
            case Kind.BYTES:
                return isinstance(value, bytes | memoryview) and (
                    column.name != "links" or not len(value) % LINK_BYTES
                )
            case Kind.TIME:
                return datetime.fromisoformat(value).tzinfo is not None
            case Kind.DATE:
                return bool(date.fromisoformat(value))
            case Kind.JSON:
                import orjson

                orjson.loads(value)
                return True
    except (ValueError, TypeError):
        return False
    return isinstance(value, str)


def wrong_text(part: Part, row: Row) -> str | None:
    """A text that does not have the hash it is stored under."""
    if part.name == "contents":
        text = str(row[2])
    elif part.name == "passages" and row[3]:
        text = f"{row[2]!s}\n{row[3]!s}"
    else:
        return None
    return None if is_text_of(row[1], text) else ANOTHER_TEXT


def is_text_of(digest: object, text: str) -> bool:
    return REPLACED in text or hashing.of_text(text) == digest


def has_payload(values: Mapping[str, Any], content_hash: bytes) -> bool:
    """Has a document or a handoff the hash of what it says?"""
    import orjson

    metadata = values["metadata"]
    shown = f"{values['title']}{values['url']}{metadata}"
    loaded = orjson.loads(metadata)
    if REPLACED in shown or any(isinstance(one, float) for one in _leaves(loaded)):
        # Databases write numbers in different ways.
        return True
    return bool(payload_hash(content_hash, values["title"], values["url"], loaded) == values["payload_hash"])


def _leaves(value: Any) -> Iterator[Any]:
    match value:
        case dict():
            for one in value.values():
                yield from _leaves(one)
        case list():
            for one in value:
                yield from _leaves(one)
        case _:
            yield value


def tiles(slices: list[tuple[int, int, int]], length: int, *, blank: bool) -> bool:
    """Do the sections (position, start, end) of a text cover it, each beginning where the last ended?"""
    if not slices:
        return blank
    ends = [0, *(end for _, _, end in slices)]
    return ends[-1] == length and all(
        position == number and start == ends[number] and start <= end
        for number, (position, start, end) in enumerate(slices)
    )
