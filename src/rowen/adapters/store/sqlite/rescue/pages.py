"""Reads rows from the pages of a SQLite file, around those that are damaged.

SQLite stops at the first page it cannot read. This goes on: a page that makes no sense is counted, and its
rows are missing. The format is SQLite's documented one, of files in UTF-8 without reserved bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import field
from typing import NamedTuple

from rowen.records import dataclass

Value = str | int | float | bytes | None

MAGIC = b"SQLite format 3\0"
HEADER_BYTES = 100
INDEX_INNER, TABLE_INNER, INDEX_LEAF, TABLE_LEAF = 2, 5, 10, 13
MAX_COLUMNS = 200
MAX_DEPTH = 40

_INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
"""Bytes by the type of a value in a record."""


class Damaged(Exception):
    """Something on a page is not what the format says."""


class Record(NamedTuple):
    rowid: int | None
    """None for a row of an index, or of a table that is one."""
    values: tuple[Value, ...]


@dataclass(slots=True)
class Tree:
    """The rows of a table or an index, and what stood in the way."""

    bad_pages: set[int] = field(default_factory=set)
    bad_rows: set[int] = field(default_factory=set)
    """Numbers of rows whose values cannot be read."""
    nameless: int = 0
    """Unreadable rows of which not even the number is known."""
    seen: set[int] = field(default_factory=set)


class Pages:
    def __init__(self, data: bytes | memoryview, page_bytes: int) -> None:
        self._data = memoryview(data)
        self._size = page_bytes
        self.count = len(data) // page_bytes

    def close(self) -> None:
        self._data.release()

    def rows(self, root: int, tree: Tree) -> Iterator[Record]:
        """Every readable row below a page, in the order of their keys; `tree` says what was not readable."""
        yield from self._below(root, tree, MAX_DEPTH)

    def _below(self, number: int, tree: Tree, depth: int) -> Iterator[Record]:
        if number in tree.seen:
            return
        tree.seen.add(number)
        try:
            kind, cells, last = self._header(number)
        except Damaged:
            tree.bad_pages.add(number)
            return
        page = self._page(number)
        inner = kind in (TABLE_INNER, INDEX_INNER)
        for at in cells:
            try:
                child = 0
                if inner:
                    child, at = _u32(page, at), at + 4
                record = None if kind == TABLE_INNER else self._record(page, at, kind, tree)
            except (Damaged, IndexError, struct.error):
                tree.nameless += 1
                continue
            if child and depth:
                yield from self._below(child, tree, depth - 1)
            if record is not None:
                yield record
        if inner and depth:
            yield from self._below(last, tree, depth - 1)

    def _header(self, number: int) -> tuple[int, list[int], int]:
        """The kind of a page, where its cells are, and its last child."""
        page = self._page(number)
        start = HEADER_BYTES if number == 1 else 0
        kind = page[start]
        if kind not in (INDEX_INNER, TABLE_INNER, INDEX_LEAF, TABLE_LEAF):
            raise Damaged(f"page {number} is of no kind")
        inner = kind in (INDEX_INNER, TABLE_INNER)
        count = _u16(page, start + 3)
        first = start + (12 if inner else 8)
        if first + 2 * count > self._size:
            raise Damaged(f"page {number} says it has {count} cells")
        cells = [_u16(page, first + 2 * one) for one in range(count)]
        if any(not first + 2 * count <= at < self._size - 3 for at in cells):
            raise Damaged(f"page {number} has a cell outside of it")
        return kind, cells, _u32(page, start + 8) if inner else 0

    def _record(self, page: memoryview, at: int, kind: int, tree: Tree) -> Record | None:
        length, at = _varint(page, at)
        rowid: int | None = None
        if kind == TABLE_LEAF:
            number, at = _varint(page, at)
            rowid = number - (1 << 64) if number >= 1 << 63 else number
        try:
            return Record(rowid, tuple(_values(self._payload(page, at, length, kind))))
        except (Damaged, IndexError, struct.error, UnicodeDecodeError):
            if rowid is None:
                tree.nameless += 1
            else:
                tree.bad_rows.add(rowid)
            return None

    def _payload(self, page: memoryview, at: int, length: int, kind: int) -> bytes:
        usable = self._size
        most = usable - 35 if kind == TABLE_LEAF else (usable - 12) * 64 // 255 - 23
        if not 0 < length <= len(self._data):
            raise Damaged("a row of an impossible length")
        if length <= most:
            return _slice(page, at, length)
        least = (usable - 12) * 32 // 255 - 23
        here = least + (length - least) % (usable - 4)
        here = here if here <= most else least
        parts = [_slice(page, at, here)]
        left, further = length - here, _u32(page, at + here)
        while left > 0:
            more = self._page(further)
            taken = min(left, usable - 4)
            parts.append(bytes(more[4 : 4 + taken]))
            left, further = left - taken, _u32(more, 0)
        return b"".join(parts)

    def _page(self, number: int) -> memoryview:
        if not 1 <= number <= self.count:
            raise Damaged(f"there is no page {number}")
        return self._data[(number - 1) * self._size : number * self._size]


def _values(payload: bytes) -> Iterator[Value]:
    end, at = _varint(payload, 0)
    if not 0 < end <= len(payload):
        raise Damaged("a record with a wrong header")
    kinds: list[int] = []
    while at < end:
        kind, at = _varint(payload, at)
        kinds.append(kind)
    if at != end or len(kinds) > MAX_COLUMNS:
        raise Damaged("a record with a wrong header")
    for kind in kinds:
        if kind in (0, 8, 9):
            yield None if kind == 0 else kind - 8
            continue
        size = _INTEGERS.get(kind, 8 if kind == 7 else (kind - 12) // 2)
        if kind in (10, 11) or at + size > len(payload):
            raise Damaged("a record that is too short")
        value = payload[at : at + size]
        at += size
        if kind in _INTEGERS:
            yield int.from_bytes(value, "big", signed=True)
        elif kind == 7:
            yield struct.unpack(">d", value)[0]
        else:
            yield value.decode("utf-8", "surrogatepass") if kind % 2 else value
    if at != len(payload):
        raise Damaged("a record that is too long")


def _varint(data: bytes | memoryview, at: int) -> tuple[int, int]:
    value = 0
    for number in range(9):
        byte = data[at + number]
        if number == 8:
            return value << 8 | byte, at + 9
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + number + 1
    raise AssertionError("nine bytes were read")


def _slice(page: memoryview, at: int, length: int) -> bytes:
    if at + length > len(page):
        raise Damaged("a row that does not end on its page")
    return bytes(page[at : at + length])


def _u16(data: memoryview, at: int) -> int:
    return int.from_bytes(data[at : at + 2], "big")


def _u32(data: memoryview, at: int) -> int:
    return int.from_bytes(data[at : at + 4], "big")
