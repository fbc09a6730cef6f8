"""The default model's tokenizer as a table on the disk: a command that embeds one question opens it at once.

The library takes as long to read the tokenizer's JSON as all else of a search takes, and is faster only in
bulk. The table has the merges of byte pair encoding, sorted by the two tokens that are joined, and the tokens
of single characters. It is a cache: made from the checked files, and void when these are touched.
"""

from __future__ import annotations

import mmap
import os
import struct
from array import array
from bisect import bisect_left
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

_FORMAT = b"rowen tokens 1\n\0"
_HEAD = struct.Struct("<16s32sIII")
"""The format, the stamp, the numbers of merges and of characters, and the token of the byte 0."""
_NEVER = (1 << 32, 0)
"""The rank of two tokens that are not joined."""


def stamp(files: Sequence[Path], digests: Sequence[str]) -> bytes | None:
    """Says of which files a table was made; None when one of them cannot be read."""
    try:
        found = [file.stat() for file in files]
    except OSError:
        return None
    # Not a hash of them, for which a library would be loaded that no search needs.
    marked = [one.st_mtime_ns ^ int(digest[:16], 16) for one, digest in zip(found, digests, strict=True)]
    return struct.pack("<4Q", *(one.st_size for one in found), *(mark % (1 << 64) for mark in marked))


class TokenTable:
    def __init__(self, data: mmap.mmap, merges: int, characters: int, byte: int) -> None:
        numbers = memoryview(data)[_HEAD.size :].cast("I")
        ends = [0, merges, 2 * merges, 3 * merges, 3 * merges + characters, 3 * merges + 2 * characters]
        if len(numbers) != ends[-1]:
            raise ValueError("a table that was cut")
        columns = [numbers[start:end] for start, end in pairwise(ends)]
        self._pairs, self._ranks, self._joined, self._characters, self._tokens = columns
        self._byte = byte

    @classmethod
    def open(cls, path: Path, wanted: bytes) -> TokenTable | None:
        """The table of these files, if there is one."""
        try:
            with path.open("rb") as file:
                data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            form, found, merges, characters, byte = _HEAD.unpack_from(data)
            return cls(data, merges, characters, byte) if (form, found) == (_FORMAT, wanted) else None
        except (OSError, ValueError, struct.error):
            return None

    def word(self, text: str) -> list[int]:
        """The tokens of a word with the blanks before it."""
        tokens = [token for one in text.replace(" ", "▁") for token in self._character(one)]
        ranks = [self._pair(a, b) for a, b in pairwise(tokens)]
        while ranks and (best := min(ranks)) is not _NEVER:
            at = ranks.index(best)
            tokens[at : at + 2] = [best[1]]
            del ranks[at]
            if at > 0:
                ranks[at - 1] = self._pair(tokens[at - 1], tokens[at])
            if at < len(ranks):
                ranks[at] = self._pair(tokens[at], tokens[at + 1])
        return tokens

    def _character(self, one: str) -> Sequence[int]:
        at = bisect_left(self._characters, ord(one))
        if at < len(self._characters) and self._characters[at] == ord(one):
            return (self._tokens[at],)
        return [self._byte + byte for byte in one.encode()]

    def _pair(self, a: int, b: int) -> tuple[int, int]:
        wanted = a << 16 | b
        at = bisect_left(self._pairs, wanted)
        if at < len(self._pairs) and self._pairs[at] == wanted:
            return self._ranks[at], self._joined[at]
        return _NEVER


def write(path: Path, stamped: bytes, tokenizer: bytes) -> None:
    """Make the table from the tokenizer's JSON. A folder that cannot be written has none."""
    import json  # a table is made once

    model = json.loads(tokenizer)["model"]
    vocabulary = model["vocab"]
    halves = [one.split(" ") if isinstance(one, str) else one for one in model["merges"]]
    merges = sorted(
        (vocabulary[a] << 16 | vocabulary[b], rank, vocabulary[a + b]) for rank, (a, b) in enumerate(halves)
    )
    characters = sorted((ord(text), token) for text, token in vocabulary.items() if len(text) == 1)
    head = _HEAD.pack(_FORMAT, stamped, len(merges), len(characters), vocabulary["<0x00>"])
    columns = [*zip(*merges, strict=True), *zip(*characters, strict=True)]
    # Another process may write it at the same moment: each has a file of its own, and the last one stays.
    mine = path.with_name(f"{path.name}.{os.getpid()}")
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            mine.write_bytes(head + b"".join(array("I", column).tobytes() for column in columns))
            mine.replace(path)
        finally:
            mine.unlink(missing_ok=True)
