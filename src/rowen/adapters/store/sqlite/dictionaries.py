"""What the short values of a source have in common, so that each of them takes a third of its bytes.

A record of a portal or a note is too short for zstd to find repetitions in it: what repeats stands in the
other records. So the first batches of a source that hold enough short values train a dictionary, which the
file keeps for ever: the texts, records and metadata of that source are packed with it, and their frames name
it by its number. The number comes from what the dictionary holds, so one process may know those of several
files.
"""

from __future__ import annotations

import sys
import threading
import zlib
from collections.abc import Iterable
from functools import cache
from typing import Any

import apsw

NONE = 0
"""The number of no dictionary."""
SIZE = 16_384
"""Bytes of a dictionary. Twice as much makes values smaller by a fortieth."""
SAMPLE_BYTES = 32_768
"""What batches with less than this in short values hold is kept, until they are enough together."""
SHORTEST, LONGEST = 100, 8_192
"""Bytes of a value that is packed with a dictionary: in longer ones zstd finds enough by itself."""
LEVEL, SHORT_LEVEL = 6, 3
"""Higher ones gain next to nothing; with a dictionary they take three times as long."""
MOST_COMPRESSORS = 8
"""That a thread keeps: a service writes few sources at a time, of the hundreds it may have."""
_FRAME = b"\x28\xb5\x2f\xfd"
_END = b"\x01\0\0"
"""The last block of a frame, with nothing in it."""
_known: dict[int, Any] = {}
_samples: dict[tuple[str, int], list[bytes]] = {}
"""Of sources without a dictionary, by file and source: of each less than `SAMPLE_BYTES`."""
_mine = threading.local()


class UnreadableText(ValueError):
    """A stored text is not what was written."""


def of_source(db: apsw.Connection, source_id: int, samples: Iterable[bytes]) -> int:
    """The number of a source's dictionary. One is made of the samples if it has none and they are enough."""
    found: Any = db.execute("SELECT id, body FROM dictionaries WHERE source_id = ?", (source_id,)).fetchall()
    if found:
        return _remembered(*found[0])
    # On a busy machine every batch of a harvest may be small: without this, none of them would train one.
    short = _samples.setdefault((db.filename, source_id), [])
    short += (one for one in samples if SHORTEST <= len(one) <= LONGEST)
    whole = sum(map(len, short))
    if whole < SAMPLE_BYTES:
        return NONE
    del _samples[db.filename, source_id]
    try:
        made = zstd().train_dict(short, min(SIZE, whole // 8))
    except zstd().ZstdError:
        # The samples have nothing in common.
        return NONE
    body = bytes(made.dict_content)
    values = (made.dict_id, source_id, body)
    db.execute(
        "INSERT INTO dictionaries (id, source_id, body) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", values
    )
    return _remembered(made.dict_id, body) if db.changes() else NONE


def compressed(raw: bytes, dictionary: int = NONE) -> bytes:
    """One frame, which says the size of what is in it, and which dictionary it needs."""
    compressor = _compressor(dictionary if len(raw) <= LONGEST else NONE)
    compressor.set_pledged_input_size(len(raw))
    return bytes(compressor.compress(raw, compressor.FLUSH_FRAME))


def in_turn(first: bytes, then: bytes, dictionary: int) -> tuple[bytes, bytes]:
    """A frame of one value, and what another one takes that goes on where it ends."""
    compressor = _compressor(dictionary)
    compressor.set_pledged_input_size(None)
    begun = bytes(compressor.compress(first, compressor.FLUSH_BLOCK))
    return begun + _END, bytes(compressor.compress(then, compressor.FLUSH_FRAME))


def learn(frame: bytes, db: apsw.Connection | None) -> None:
    """Read the dictionary that a frame names, if it is not known yet."""
    number = _named(frame)
    if number == NONE or number in _known or db is None:
        return
    try:
        body = db.execute("SELECT body FROM dictionaries WHERE id = ?", (number,)).get
    except apsw.SQLError:
        # A file from before there were dictionaries, or a damaged one.
        return
    if isinstance(body, bytes):
        _remembered(number, body)


def decompressed(frames: bytes, *, listed: bool = False) -> bytes:
    number = NONE if listed else _named(frames)
    if number != NONE and number not in _known:
        raise UnreadableText(f"a text cannot be read: there is no dictionary {number}")
    try:
        return bytes(zstd().decompress(frames, zstd_dict=_known.get(number)))
    except zstd().ZstdError as exc:
        raise UnreadableText(f"a text cannot be read: {exc}") from exc


def gone_on(frame: str | bytes | None, rest: bytes, db: apsw.Connection) -> bytes:
    """The other value of `in_turn`."""
    if not isinstance(frame, bytes) or not frame.endswith(_END):
        raise UnreadableText("a record cannot be read: the text is not there that it goes on from")
    learn(frame, db)
    return decompressed(frame.removesuffix(_END) + rest)[len(decompressed(frame)) :]


def inflated(body: bytes, db: apsw.Connection) -> bytes:
    """A record, which older files have as zlib."""
    if not body.startswith(_FRAME):
        try:
            return zlib.decompress(body)
        except zlib.error as exc:
            raise UnreadableText(f"a record cannot be read: {exc}") from exc
    learn(body, db)
    return decompressed(body)


def deflated(body: bytes, db: apsw.Connection, text: str | bytes | None = None) -> bytes:
    """A record as every database has it; `text` is the one it goes on from, as it is stored."""
    if text is not None:
        return zlib.compress(gone_on(text, body, db))
    return zlib.compress(inflated(body, db)) if body.startswith(_FRAME) else body


def _compressor(dictionary: int) -> Any:
    """To make a compressor costs more than to compress a short text, so each thread keeps its own."""
    try:
        return _mine.compressors[dictionary]
    except AttributeError:
        _mine.compressors = {}
    except KeyError:
        pass
    if len(_mine.compressors) >= MOST_COMPRESSORS:
        _mine.compressors.clear()
    level = LEVEL if dictionary == NONE else SHORT_LEVEL
    made = zstd().ZstdCompressor(level, zstd_dict=_known.get(dictionary))
    _mine.compressors[dictionary] = made
    return made


def _named(frame: bytes) -> int:
    """The number of the dictionary that a frame needs."""
    try:
        return int(zstd().get_frame_info(frame).dictionary_id)
    except zstd().ZstdError:
        return NONE


def _remembered(number: int, body: bytes) -> int:
    if number not in _known:
        try:
            made = zstd().ZstdDict(body)
        except (ValueError, zstd().ZstdError) as exc:
            raise UnreadableText(f"a dictionary cannot be read: {exc}") from exc
        if made.dict_id != number:
            raise UnreadableText(f"a dictionary cannot be read: {made.dict_id} stands in place of {number}")
        _known[number] = made
    return number


@cache
def zstd() -> Any:
    # Loaded with the first text: `rowen status` opens none.
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd
