"""The columns of a dataset's tables: name, type and what they hold, out of the ways in which portals say it.

Read are the fields of a Frictionless table schema, of CKAN's datastore, of Opendatasoft and of a feature
service, the columns of CSVW and of STAC's tables, plain names, and lists side by side as in Socrata's
catalogue. Columns belong to the facts about a dataset (`datasets/details`): found by words, never embedded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from rowen.core import hashing
from rowen.kinds.api.datasets.dataset import in_language, map_in

MAX_LISTED = 2_000
"""So many names of columns can be filtered by; the text has all for which there is room."""
_LINE_CHARS = 1_000
"""About so much stands on one line: long texts are cut between lines."""
_OWN = frozenset(("_id", "_full_text"))
"""Columns that the datastore of CKAN adds by itself."""
_LISTS = ("fields", "columns", "column")
_NAMES = ("name", "id", "column", "field")
_LABELS = ("label", "alias", "title", "titles", "rdfs:label")
_TYPES = ("type", "datatype", "dataType", "format")
_DESCRIPTIONS = ("description", "dc:description", "dcterms:description", "notes", "comment")
_ESRI = "esriFieldType"
_LAYER = re.compile(r"https?://[^?#]+/(?:Feature|Map)Server/\d+")


class Column(NamedTuple):
    name: str
    type: str = ""
    label: str = ""
    """What people call it, where that is not its name."""
    description: str = ""

    @property
    def shown(self) -> str:
        return self.label or self.name


class Table(NamedTuple):
    """A table whose columns are asked for."""

    id: str
    url: str
    """What is asked."""
    mark: str
    """The same as long as the table is, as far as its dataset says it."""


def mark_of(*said: Any) -> str:
    return hashing.of_mapping({"said": [str(one) for one in said]}).hex()[:16]


def layer_of(item: Any) -> Table | None:
    """The layer of a feature service behind a dataset of ArcGIS Hub; a whole service has no fields."""
    about = item.get("properties") if isinstance(item, Mapping) else None
    url = about.get("url") if isinstance(about, Mapping) else None
    if not isinstance(about, Mapping) or not isinstance(url, str) or about.get("fields"):
        return None
    layer = _LAYER.fullmatch(url.strip().rstrip("/"))
    return Table(layer[0], f"{layer[0]}?f=json", mark_of(layer[0], about.get("modified"))) if layer else None


def columns_of(found: Any, language: str = "") -> tuple[Column, ...]:
    """What a portal says of columns, in its order; a column without any name is none."""
    if isinstance(found, str):
        found = map_in(found)
    if isinstance(found, Mapping):
        inner = next((found[name] for name in _LISTS if isinstance(found.get(name), list)), None)
        rows: Iterable[Any] = _side_by_side(found) if inner is None else inner
    else:
        rows = found if isinstance(found, list | tuple) else ()
    read = (_column(row, language) for row in rows)
    return tuple(one for one in read if one is not None)


def named(tables: Iterable[Sequence[Column]]) -> dict[str, Any]:
    """Metadata to filter by: the names that people use, sorted, and how many there was no room for."""
    names = sorted({column.shown for columns in tables for column in columns})
    if not names:
        return {}
    left_out = len(names) - MAX_LISTED
    return {"columns": names[:MAX_LISTED]} | ({"columns_left_out": left_out} if left_out > 0 else {})


def lines(table: str, columns: Sequence[Column]) -> Iterator[tuple[str, int]]:
    """The columns of a table in lines of some length, with how many each has."""
    start = f"Columns of {table}: " if table else "Columns: "
    some: list[str] = []
    chars = 0
    for column in columns:
        said = _said(column)
        if some and chars + len(said) > _LINE_CHARS:
            yield start + "; ".join(some), len(some)
            some, chars = [], 0
        some.append(said)
        chars += len(said)
    if some:
        yield start + "; ".join(some), len(some)


def _said(column: Column) -> str:
    name = _line(column.name)
    label = _line(column.label)
    about = ", ".join(filter(None, (label if label != name else "", _line(column.type))))
    said = f"{name} ({about})" if about else name
    return ": ".join(filter(None, (said, _line(column.description))))


def _column(row: Any, language: str) -> Column | None:
    if isinstance(row, str):
        row = {"name": row}
    if not isinstance(row, Mapping):
        return None
    info = row.get("info")
    more = info if isinstance(info, Mapping) else {}

    def first(names: Iterable[str]) -> str:
        values = (value for name in names for value in (more.get(name), row.get(name)))
        return next((_line(text) for one in values if (text := _text(one, language))), "")

    name, label = first(_NAMES), first(_LABELS)
    if not (name or label) or name in _OWN:
        return None
    # What a person has set stands above what the file seemed to be.
    kind = _text(more.get("type_override"), language) or first(_TYPES)
    return Column(
        name or label, kind.removeprefix(_ESRI), label if label != name and name else "", first(_DESCRIPTIONS)
    )


def _text(value: Any, language: str) -> str:
    if isinstance(value, Mapping) and isinstance(value.get("base"), str):
        # A type of CSVW with its limits.
        return str(value["base"])
    return in_language(value, language)


def _side_by_side(lists: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """One column for each place of lists that belong together."""
    together = {name: values for name, values in lists.items() if isinstance(values, list)}
    for row in zip_longest(*together.values()):
        yield dict(zip(together, row, strict=True))


def _line(text: str) -> str:
    return " ".join(text.split())
