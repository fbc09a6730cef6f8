"""How a SQLite file holds texts: as zstd, a quarter of their size on documentation.

A value that is text stands as it is: very short ones, and those that do not get smaller. Short ones are
packed with the dictionary of their source (`dictionaries.py`), which their frame names. Very long ones are
several frames of as many characters each, so that a part is opened without the rest. The list of them stands
in front, in a frame that readers of zstd skip; the lowest byte of each number comes first:

    u32 0x184D2A50, u32 bytes that follow
    u32 characters of a frame, u32 bytes of the text, u32 bytes of each frame

PostgreSQL compresses long values by itself. Statements use what `teach` gives to a connection.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any

import apsw

from rowen.adapters.store.shared.values import moment, time_of
from rowen.adapters.store.sqlite import dictionaries
from rowen.adapters.store.sqlite.dictionaries import UnreadableText, zstd

SHORTEST = 100
"""Bytes of a text that is worth a try."""
FRAME = 32_768
"""Characters: 40 µs to open. Half of that would make all texts larger by a twentieth."""
PACKED = {"contents": "text", "documents": "metadata", "drafts": "metadata"}
"""The column of a table that is text, and may be packed."""
MOMENTS = {"handoffs": ("created_at", "updated_at", "retry_at")}
"""The columns of a table that are times as numbers."""
KEPT = 256
"""Frames that stay open in a process: some 10 MB."""
_LISTED = 0x184D2A50
_HEAD = struct.Struct("<IIII")


def pack(text: str, dictionary: int = dictionaries.NONE) -> str | bytes:
    raw = text.encode()
    if len(raw) < SHORTEST:
        return text
    if len(text) <= FRAME:
        packed = dictionaries.compressed(raw, dictionary)
    else:
        parts = [text[at : at + FRAME].encode() for at in range(0, len(text), FRAME)]
        frames = [dictionaries.compressed(part) for part in parts]
        sizes = struct.pack(f"<{len(frames)}I", *map(len, frames))
        packed = b"".join((_HEAD.pack(_LISTED, 8 + len(sizes), FRAME, len(raw)), sizes, *frames))
    return packed if len(packed) < len(raw) else text


def pack_both(text: str, record: bytes, dictionary: int) -> tuple[bytes, bytes] | None:
    """A text, and the record it was made from, which says much the same. None where that gains nothing."""
    raw = text.encode()
    longest = max(len(raw), len(record))
    if dictionary == dictionaries.NONE or len(raw) < SHORTEST or longest > dictionaries.LONGEST:
        return None
    packed, rest = dictionaries.in_turn(raw, record, dictionary)
    return (packed, rest) if len(packed) < len(raw) else None


def unpack(stored: str | bytes, db: apsw.Connection | None = None) -> str:
    """`db` has the dictionaries of what is stored, if there are any."""
    if isinstance(stored, str):
        return stored
    if not _is_listed(stored):
        dictionaries.learn(stored, db)
    return _opened(stored)


def cut(
    stored: str | bytes, places: Sequence[tuple[int, int]], db: apsw.Connection | None = None
) -> list[str]:
    """Parts of a text, each from a character to another; no more of it is opened than they need."""
    if isinstance(stored, str) or not _is_listed(stored):
        if isinstance(stored, bytes):
            dictionaries.learn(stored, db)
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


def opened(stored: str | bytes, db: apsw.Connection | None = None) -> str | bytes:
    """The text; what cannot be read stays as it is, for those who look for damage."""
    try:
        return unpack(stored, db)
    except UnreadableText:
        return stored


def read(table: str, name: str) -> str:
    """How a statement reads a column whose values other databases have in another form."""
    return f'time_of("{name}")' if name in MOMENTS.get(table, ()) else f'"{name}"'


def size(stored: str | bytes, db: apsw.Connection | None = None) -> int:
    """Bytes of the text; of a packed one, as its first bytes say, unless its record goes on from it."""
    if isinstance(stored, str):
        return len(stored.encode())
    try:
        if _is_listed(stored):
            return int(_HEAD.unpack_from(stored)[3])
        said = zstd().get_frame_info(stored).decompressed_size
        return len(unpack(stored, db).encode()) if said is None else int(said)
    except (zstd().ZstdError, TypeError, struct.error) as exc:
        raise UnreadableText(f"a text cannot be read: {exc}") from exc


def teach(db: apsw.Connection) -> None:
    """Give a connection `packed(text)`, `text_of(stored)`, `text_bytes(stored)` and `deflated(record, text)`.

    And `moment(time)` and `time_of(moment)`.
    """
    db.create_scalar_function("packed", _of_null(pack), 1, deterministic=True)
    db.create_scalar_function("text_of", _of_null(lambda stored: unpack(stored, db)), 1, deterministic=True)
    db.create_scalar_function("text_bytes", _of_null(lambda stored: size(stored, db)), 1, deterministic=True)

    def deflate(*stored: Any) -> Any:
        return None if stored[0] is None else dictionaries.deflated(stored[0], db, *stored[1:])

    db.create_scalar_function("deflated", deflate, -1, deterministic=True)
    db.create_scalar_function("moment", _of_null(moment), 1, deterministic=True)
    db.create_scalar_function("time_of", _of_null(time_of), 1, deterministic=True)


def _is_listed(stored: bytes) -> bool:
    return stored[:4] == _LISTED.to_bytes(4, "little")


@lru_cache(maxsize=KEPT)
def _held(frame: bytes) -> str:
    """Searches show the same pages again and again; to compare the bytes takes a tenth of opening them."""
    return _opened(frame)


def _opened(frames: bytes) -> str:
    try:
        return dictionaries.decompressed(frames, listed=_is_listed(frames)).decode()
    except UnicodeDecodeError as exc:
        raise UnreadableText(f"a text cannot be read: {exc}") from exc


def _of_null(function: Any) -> Any:
    return lambda value: None if value is None else function(value)
