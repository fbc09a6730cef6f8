"""How a SQLite file holds long texts: as zstd, a quarter of their size on documentation.

A value that is text stands as it is: short ones, and those that do not get smaller. PostgreSQL compresses
long values by itself. Statements use the functions that `teach` gives to a connection.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

import apsw

LEVEL = 4
"""Higher ones gain a twentieth, for several times the CPU."""
SHORTEST = 100
"""Bytes of a text that is worth a try."""


class UnreadableText(ValueError):
    """A stored text is not what was written."""


def pack(text: str) -> str | bytes:
    raw = text.encode()
    if len(raw) < SHORTEST:
        return text
    packed = bytes(_zstd().compress(raw, LEVEL))
    return packed if len(packed) < len(raw) else text


def unpack(stored: str | bytes) -> str:
    if isinstance(stored, str):
        return stored
    try:
        return bytes(_zstd().decompress(stored)).decode()
    except (_zstd().ZstdError, UnicodeDecodeError) as exc:
        raise UnreadableText(f"a text cannot be read: {exc}") from exc


def opened(stored: str | bytes) -> str | bytes:
    """The text; what cannot be read stays as it is, for those who look for damage."""
    try:
        return unpack(stored)
    except UnreadableText:
        return stored


def size(stored: str | bytes) -> int:
    """Bytes of the text; of a packed one, as its first bytes say."""
    if isinstance(stored, str):
        return len(stored.encode())
    try:
        return int(_zstd().get_frame_info(stored).decompressed_size)
    except (_zstd().ZstdError, TypeError) as exc:
        raise UnreadableText(f"a text cannot be read: {exc}") from exc


def teach(db: apsw.Connection) -> None:
    """Give a connection `packed(text)`, `text_of(stored)` and `text_bytes(stored)`."""
    db.create_scalar_function("packed", _of_null(pack), 1, deterministic=True)
    db.create_scalar_function("text_of", _of_null(unpack), 1, deterministic=True)
    db.create_scalar_function("text_bytes", _of_null(size), 1, deterministic=True)


def _of_null(function: Any) -> Any:
    return lambda value: None if value is None else function(value)


@cache
def _zstd() -> Any:
    # Made of a library that few commands need: `rowen status` opens no text.
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd
