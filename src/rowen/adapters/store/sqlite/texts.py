"""How a SQLite file holds long texts: as zstd, a quarter of their size on documentation.

A value that is text stands as it is: short ones, and those that do not get smaller. Very long ones are
several frames of as many characters each, so that a part is opened without the rest. The list of them stands
in front, in a frame that readers of zstd skip; the lowest byte of each number comes first:

    u32 0x184D2A50, u32 bytes that follow
    u32 characters of a frame, u32 bytes of the text, u32 bytes of each frame

PostgreSQL compresses long values by itself. Statements use what `teach` gives to a connection.
"""

from __future__ import annotations

import struct
import sys
import threading
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import accumulate
from typing import Any

import apsw

LEVEL = 6
"""Higher ones gain next to nothing."""
SHORTEST = 100
"""Bytes of a text that is worth a try."""
FRAME = 32_768
"""Characters: 40 µs to open. Half of that would make all texts larger by a twentieth."""
KEPT = 256
"""Frames that stay open in a process: some 10 MB."""
_LISTED = 0x184D2A50
_HEAD = struct.Struct("<IIII")
_mine = threading.local()


class UnreadableText(ValueError):
    """A stored text is not what was written."""


def pack(text: str) -> str | bytes:
    raw = text.encode()
    if len(raw) < SHORTEST:
        return text
    if len(text) <= FRAME:
        packed = _compressed(raw)
    else:
        parts = [text[at : at + FRAME].encode() for at in range(0, len(text), FRAME)]
        frames = [_compressed(part) for part in parts]
        sizes = struct.pack(f"<{len(frames)}I", *map(len, frames))
        packed = b"".join((_HEAD.pack(_LISTED, 8 + len(sizes), FRAME, len(raw)), sizes, *frames))
    return packed if len(packed) < len(raw) else text


def _compressed(raw: bytes) -> bytes:
    """One frame, which says the size of what is in it.

    To make a compressor costs more than to compress a short text, so each thread keeps one.
    """
    try:
        compressor = _mine.compressor
    except AttributeError:
        compressor = _mine.compressor = _zstd().ZstdCompressor(LEVEL)
    compressor.set_pledged_input_size(len(raw))
    return bytes(compressor.compress(raw, compressor.FLUSH_FRAME))


def unpack(stored: str | bytes) -> str:
    return stored if isinstance(stored, str) else _opened(stored)


def cut(stored: str | bytes, places: Sequence[tuple[int, int]]) -> list[str]:
    """Parts of a text, each from a character to another; no more of it is opened than they need."""
    if isinstance(stored, str) or not _is_listed(stored):
        text = stored if isinstance(stored, str) else _held(stored)
        return [text[start:end] for start, end in places]
    try:
        _, follow, each, _ = _HEAD.unpack_from(stored)
        sizes = struct.unpack_from(f"<{(follow - 8) // 4}I", stored, _HEAD.size)
        frames = memoryview(stored)[8 + follow :]
    except struct.error as exc:
        raise UnreadableText(f"a text cannot be read: {exc}") from exc
    begins = [0, *accumulate(sizes)]
    texts: dict[int, str] = {}

    def part(start: int, end: int) -> str:
        first, last = start // each, min((end - 1) // each, len(sizes) - 1)
        for number in range(first, last + 1):
            if number not in texts:
                texts[number] = _held(bytes(frames[begins[number] : begins[number + 1]]))
        found = "".join(texts[number] for number in range(first, last + 1))
        return found[start - first * each : end - first * each]

    return [part(start, end) for start, end in places]


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
        if _is_listed(stored):
            return int(_HEAD.unpack_from(stored)[3])
        return int(_zstd().get_frame_info(stored).decompressed_size)
    except (_zstd().ZstdError, TypeError, struct.error) as exc:
        raise UnreadableText(f"a text cannot be read: {exc}") from exc


def teach(db: apsw.Connection) -> None:
    """Give a connection `packed(text)`, `text_of(stored)` and `text_bytes(stored)`."""
    db.create_scalar_function("packed", _of_null(pack), 1, deterministic=True)
    db.create_scalar_function("text_of", _of_null(unpack), 1, deterministic=True)
    db.create_scalar_function("text_bytes", _of_null(size), 1, deterministic=True)


def _is_listed(stored: bytes) -> bool:
    return stored[:4] == _LISTED.to_bytes(4, "little")


@lru_cache(maxsize=KEPT)
def _held(frame: bytes) -> str:
    """Searches show the same pages again and again; to compare the bytes takes a tenth of opening them."""
    return _opened(frame)


def _opened(frames: bytes) -> str:
    try:
        return bytes(_zstd().decompress(frames)).decode()
    except (_zstd().ZstdError, UnicodeDecodeError) as exc:
        raise UnreadableText(f"a text cannot be read: {exc}") from exc


def _of_null(function: Any) -> Any:
    return lambda value: None if value is None else function(value)


@cache
def _zstd() -> Any:
    # Loaded with the first text: `rowen status` opens none.
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd
