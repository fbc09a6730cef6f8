"""Between the values of the databases and ours.

Times, dates and JSON come out of both databases as text and are read here. They go in as `datetime`, `date`
and `Json`, and a list of ids goes in as a `list`: each database's driver is told how to write those.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import orjson


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


def time_out(value: datetime) -> str:
    """Sorts as text in the order of time."""
    return value.astimezone(UTC).isoformat(timespec="microseconds")


def time_in(text: str) -> datetime:
    return datetime.fromisoformat(text)


def maybe_time_in(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def maybe_date_in(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None


def links_out(ids: Iterable[int]) -> bytes:
    """The same bytes whichever machine writes them."""
    links = array("q", ids)
    if sys.byteorder == "big":
        links.byteswap()
    return links.tobytes()


def links_in(value: bytes) -> array[int]:
    links = array("q")
    links.frombytes(value)
    if sys.byteorder == "big":
        links.byteswap()
    return links
