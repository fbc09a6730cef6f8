"""Between PostgreSQL's values and ours: times, JSON, links, and the words of the keyword index."""

from __future__ import annotations

import re
import sys
import unicodedata
from array import array
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import orjson

from rowen.core.search.query import indexable

_NUL_IN_JSON = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")
_NO_WORD = re.compile("[^\\w\u0300-\u036f]+|_+")
_ACCENTS = re.compile("(?<=[a-z])[\u0300-\u036f]+")


def time_in(value: datetime) -> datetime:
    """The server answers in its own kind of UTC."""
    return value.astimezone(UTC)


def maybe_time_in(value: datetime | None) -> datetime | None:
    return None if value is None else value.astimezone(UTC)


def json_out(value: Any) -> str:
    text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    # PostgreSQL knows no NUL, not even as an escape.
    return _NUL_IN_JSON.sub(r"\1\\ufffd", text) if "\\u0000" in text else text


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


def words(text: str) -> str:
    """The text as words between spaces, in lower case, Latin letters without accents, as SQLite has them.

    The server's own parser would read `os.path.join` as the name of a host, and `path` would not find it;
    what it takes for capital letters depends on the database.
    """
    plain = _NO_WORD.sub(" ", indexable(text)).lower()
    if plain.isascii():
        return plain
    # The dots of Japanese and the parts of Korean syllables are put together again.
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", plain)))
