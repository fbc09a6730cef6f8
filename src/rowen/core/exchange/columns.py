"""Documents as rows: one record for JSON Lines, flat columns for CSV and Parquet.

The columns every document has come first, in an order that does not change; then one column for each key of
the metadata, in the order of their names. A survey of all documents decides which there are and of what type.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from rowen.core.exchange.delivery import named
from rowen.core.feed import Document
from rowen.records import dataclass

MAX_METADATA_COLUMNS = 500
"""Metadata keys beyond these go together into one column: sources may have any number of keys."""
METADATA = "metadata"
_LARGEST_WHOLE = 2**63
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_UNSEEN = frozenset(("Cc", "Cf", "Mn", "Zl", "Zp", "Zs"))
"""Kinds of characters that show nothing at the beginning of a text."""


class Format(StrEnum):
    """Of a file with documents."""

    JSONL = "jsonl"
    CSV = "csv"
    PARQUET = "parquet"


class Type(StrEnum):
    TEXT = "text"
    WHOLE = "whole"
    NUMBER = "number"
    TRUTH = "truth"
    TIME = "time"


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: Type = Type.TEXT


_FIXED = (
    *map(Column, ("source", "version", "kind", "reference", "url", "title", "content_type", "content_hash")),
    Column("generation", Type.WHOLE),
    Column("fetched_at", Type.TIME),
)
_TEXT = Column("text")


class Survey:
    """Looks at every document once and knows the columns afterwards."""

    def __init__(self) -> None:
        self._types: dict[str, Type | None] = {}
        self._rest = False

    def add(self, document: Document) -> None:
        for key, value in document.metadata.items():
            if key not in self._types and len(self._types) >= MAX_METADATA_COLUMNS:
                self._rest = True
                continue
            self._types[key] = _wider(self._types.get(key), _type_of(value))

    def columns(self, *, text: bool) -> tuple[Column, ...]:
        # In front of the metadata: it keeps its place when a source gets another key.
        fixed = (*_FIXED, _TEXT) if text else _FIXED
        found = (
            Column(f"{METADATA}.{key}", type_ or Type.TEXT) for key, type_ in sorted(self._types.items())
        )
        rest = (Column(METADATA),) if self._rest else ()
        return (*fixed, *found, *rest)


def record(document: Document, *, text: bool) -> dict[str, Any]:
    """A document for JSON Lines, its metadata as it is."""
    return {
        **_fixed(document),
        "fetched_at": document.fetched_at.isoformat(),
        METADATA: dict(document.metadata),
        **({"text": document.text} if text else {}),
    }


def row(document: Document, columns: Sequence[Column]) -> list[Any]:
    """The cells of a document; None where it has nothing."""
    fixed = {**_fixed(document), "fetched_at": document.fetched_at, "text": document.text}
    names = {column.name for column in columns}
    cells: list[Any] = []
    for column in columns:
        if column.name in fixed:
            cells.append(fixed[column.name])
        elif column.name == METADATA:
            rest = {key: v for key, v in document.metadata.items() if f"{METADATA}.{key}" not in names}
            cells.append(_json(rest) if rest else None)
        else:
            cells.append(_cell(document.metadata.get(column.name.removeprefix(f"{METADATA}.")), column.type))
    return cells


def harmless(cell: Any) -> Any:
    """For spreadsheets: a text that would be taken for a formula is marked as text."""
    return f"'{cell}" if isinstance(cell, str) and _is_formula(cell) else cell


def _is_formula(text: str) -> bool:
    if text.startswith(_FORMULA):
        return True
    # Programs drop invisible characters, and some read full-width signs as the usual ones.
    first = next((one for one in text if unicodedata.category(one) not in _UNSEEN), "")
    return unicodedata.normalize("NFKC", first).startswith(_FORMULA)


def _fixed(document: Document) -> Mapping[str, Any]:
    name, version = named(document.source)
    return {
        "source": name,
        "version": version,
        "kind": document.kind,
        "reference": document.reference,
        "url": document.url,
        "title": document.title,
        "content_type": document.content_type,
        "content_hash": document.content_hash.hex(),
        "generation": document.generation,
    }


def _type_of(value: Any) -> Type | None:
    match value:
        case None:
            return None
        case bool():
            return Type.TRUTH
        case int() if -_LARGEST_WHOLE <= value < _LARGEST_WHOLE:
            return Type.WHOLE
        case float():
            return Type.NUMBER
    return Type.TEXT


def _wider(one: Type | None, other: Type | None) -> Type | None:
    if one is None or other is None or one is other:
        return one or other
    return Type.NUMBER if {one, other} == {Type.WHOLE, Type.NUMBER} else Type.TEXT


def _cell(value: Any, type_: Type) -> Any:
    if type_ is Type.TEXT:
        return value if value is None or isinstance(value, str) else _json(value)
    return float(value) if type_ is Type.NUMBER and value is not None else value


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
