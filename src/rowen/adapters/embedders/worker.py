"""The child process that embeds with the default model: `python -m rowen.adapters.embedders.worker FOLDER`.

A harvest embeds thousands of texts, and tokenizing them holds the interpreter; in a child it does not hold up
the process that asks, compares and writes. Frames, without JSON:

    parent:  u32 number of texts, a u32 length of each, the texts in UTF-8
    child:   the vectors, one after the other
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import BinaryIO

from rowen.adapters.children.child import serve, take_pipes
from rowen.adapters.embedders.static import MODEL, Weights

_COUNT = struct.Struct(">I")
TIMEOUT_S = 120.0
"""A batch takes a second at most; a machine that is suspended or starved is another matter."""


def request(texts: Sequence[str]) -> bytes:
    # A text may hold half of a surrogate pair, from the JSON of an API; the tokenizer knows no such thing.
    encoded = [text.encode("utf-8", "replace") for text in texts]
    lengths = struct.pack(f">{len(encoded)}I", *map(len, encoded))
    return b"".join((_COUNT.pack(len(encoded)), lengths, *encoded))


def read_request(stream: BinaryIO) -> list[str] | None:
    """The next texts, or None when there will be none."""
    prefix = stream.read(_COUNT.size)
    if len(prefix) < _COUNT.size:
        return None
    (count,) = _COUNT.unpack(prefix)
    lengths = struct.unpack(f">{count}I", stream.read(4 * count))
    texts = stream.read(sum(lengths))
    return [texts[low:high].decode() for low, high in pairwise(accumulate(lengths, initial=0))]


def read_answer(payload: bytes, count: int) -> list[bytes]:
    """Raises `ValueError` for another number of vectors."""
    size = MODEL.dimensions
    if len(payload) != count * size:
        raise ValueError(f"{len(payload)} bytes for {count} vectors")
    return [payload[low : low + size] for low in range(0, len(payload), size)]


def main() -> None:
    incoming, outgoing = take_pipes()
    weights = Weights.from_folder(Path(sys.argv[1]))
    serve(
        incoming,
        outgoing,
        read_request,
        lambda texts: b"".join(weights.embed(texts)),
        timeout_s=2 * TIMEOUT_S,
    )


if __name__ == "__main__":
    main()
