"""Between the values of the databases and ours.

Times, dates and JSON come out of both databases as text and are read here. They go in as `datetime`, `date`
and `Json`, and a list of ids goes in as a `list`: each database's driver is told how to write those.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, date, datetime, timedelta
from enum import Enum
from functools import cache, lru_cache
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import orjson

from rowen.records import dataclass

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Json:
    """A value that is stored as JSON."""

    value: Any

    def text(self) -> str:
        return orjson.dumps(self.value, option=orjson.OPT_SORT_KEYS).decode()


def maybe_json(value: Any) -> Json | None:
    return None if value is None else Json(value)


def json_in(text: str) -> Any:
    return orjson.loads(text)


@lru_cache(maxsize=64)
def time_out(value: datetime) -> str:
    """Sorts as text in the order of time. The rows of a batch have one time."""
    return value.astimezone(UTC).isoformat(timespec="microseconds")


def time_in(text: str) -> datetime:
    return datetime.fromisoformat(text)


def maybe_time_in(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@lru_cache(maxsize=64)
def moment(text: str) -> int | str:
    """Microseconds since 1970 of a time as `time_out` writes it; what is no such time stays as it is."""
    try:
        return (datetime.fromisoformat(text) - _EPOCH) // _MICROSECOND
    except (ValueError, TypeError):
        return text


def time_of(moment: int) -> str | int:
    """The way back."""
    try:
        return time_out(_EPOCH + moment * _MICROSECOND)
    except (OverflowError, TypeError):
        return moment


def value_in(kind: type[T], row: Sequence[Any]) -> T:
    """A dataclass from a row whose columns stand in the order of its fields; the last ones may be missing."""
    fields_in = _fields_in(kind)  # type: ignore[arg-type]  # mypy takes a class with slots for unhashable
    if len(row) > len(fields_in):
        raise AssertionError(
            f"a row of {len(row)} columns for the {len(fields_in)} fields of {kind.__name__}"
        )
    columns = zip(fields_in, row, strict=False)
    return kind(**{name: None if value is None else read(value) for (name, read), value in columns})


def value_out(value: Any) -> dict[str, Any]:
    """The fields of a dataclass by name, as they go into a statement."""
    found: dict[str, Any] = {}
    for name in _names_of(type(value)):  # type: ignore[arg-type]  # as above
        one = getattr(value, name)
        # Asking an abstract class costs more than the rest: most values are of a type that is none.
        found[name] = Json(one) if type(one) not in _PLAIN and isinstance(one, Mapping) else one
    return found


_PLAIN = frozenset((str, bytes, int, float, bool, NoneType, tuple, list))


@cache
def _names_of(kind: type[Any]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


@cache
def _fields_in(kind: type[Any]) -> list[tuple[str, Callable[[Any], Any]]]:
    """The fields of a dataclass, each with the function that reads its column."""
    hints = get_type_hints(kind)
    return [(field.name, _reader_of(hints[field.name])) for field in fields(kind)]


def _reader_of(hint: Any) -> Callable[[Any], Any]:
    named = [one for one in get_args(hint) if one is not NoneType] if NoneType in get_args(hint) else [hint]
    kind: type[Any] = get_origin(named[0]) or named[0]
    if issubclass(kind, tuple):
        return lambda text: tuple(json_in(text))
    if issubclass(kind, Mapping):
        return json_in
    if issubclass(kind, date):
        return kind.fromisoformat
    return kind if issubclass(kind, Enum | bool) else lambda value: value


def links_out(ids: Iterable[int]) -> bytes:
    """The same bytes whichever machine writes them."""
    links = array("q", ids)
    if sys.byteorder == "big":
        links.byteswap()
    return links.tobytes()


def links_in(value: bytes) -> array[int]:
    links = array("q", value)
    if sys.byteorder == "big":
        links.byteswap()
    return links
