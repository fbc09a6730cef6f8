"""Addresses by content: the one place that says how Rowen hashes.

SHA-256, raw bytes inside, hexadecimal at the doors.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Protocol

SIZE = 32
"""Bytes of a hash."""
_FIRST_EIGHT = struct.Struct(">q24x").unpack


class Hash(Protocol):
    def digest(self) -> bytes: ...


def of_bytes(data: bytes) -> bytes:
    return _sha256()(data).digest()


@cache
def _sha256() -> Callable[[bytes], Hash]:
    from hashlib import sha256  # the library it loads takes long, and most commands hash nothing

    return sha256


def of_text(text: str) -> bytes:
    return _sha256()(text.encode("utf-8", "surrogatepass")).digest()


def short_of_text(text: str) -> int:
    """The first eight bytes as a number: a key for short texts, of which a search may make a few."""
    number: int = _FIRST_EIGHT(_sha256_of_few()(text.encode("utf-8", "surrogatepass")).digest())[0]
    return number


@cache
def _sha256_of_few() -> Callable[[bytes], Hash]:
    # Python's own, which is there at once; for long texts that of `hashlib` is several times as quick.
    for own in ("_sha2", "_sha256"):
        try:
            made: Callable[[bytes], Hash] = import_module(own).sha256
        except ImportError:
            continue
        return made
    return _sha256()


def of_mapping(values: Mapping[str, object]) -> bytes:
    """The same for the same values in any order: SHA-256 of their JSON, sorted and without blanks."""
    # Loaded with the first mapping: most commands have none to hash.
    import orjson

    # Both write the same bytes, `orjson` in a fifth of the time, but for fractions and what it refuses.
    try:
        canonical = orjson.dumps(values, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        return of_text(_canonical(values))
    for one in _written_otherwise():
        if one.search(canonical):
            return of_text(_canonical(values))
    return of_bytes(canonical)


@cache
def _written_otherwise() -> list[re.Pattern[bytes]]:
    """A fraction, or what may be none at all: the two libraries write some of them differently."""
    # Each has a beginning that is looked for at once; as one pattern they take four times as long. Behind
    # most of these a text begins, which one look at its first character tells.
    return [re.compile(rb"%b(?=[-0-9n])(?:-?[0-9]+[.eE]|null)" % before) for before in (b'":', rb"\[", b",")]


def _canonical(values: Mapping[str, object]) -> str:
    import json

    return json.dumps(values, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
