"""Between SQLite's values and ours: times, JSON, links, and lists as query parameters."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

import apsw
import orjson


def time_out(value: datetime) -> str:
    """Sorts as text in the order of time."""
    return value.astimezone(UTC).isoformat(timespec="microseconds")


def time_in(value: str | None) -> datetime | None:
    return datetime.fromisoformat(value) if value else None


def date_in(value: str | None) -> date | None:
    return date.fromisoformat(value) if value else None


def json_out(value: Mapping[str, Any] | Sequence[Any]) -> str:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def json_in(value: str) -> Any:
    return orjson.loads(value)


def links_out(ids: Iterable[int]) -> bytes:
    return array("q", ids).tobytes()


def links_in(value: bytes) -> array[int]:
    links = array("q")
    links.frombytes(value)
    return links


def ids_parameter(ids: Iterable[int]) -> Any:
    """For `IN carray(?)`. Never empty: an id that does not exist stands for none."""
    return apsw.carray(array("q", ids) or array("q", [-1]))


def blobs_parameter(blobs: Iterable[bytes]) -> Any:
    return apsw.carray(tuple(blobs) or (b"",))


def texts_parameter(texts: Iterable[str]) -> Any:
    return apsw.carray(tuple(texts) or ("",))
