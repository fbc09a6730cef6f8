"""The child process that indexes: `python -m rowen.adapters.store.shared.search.indexer FOLDER`.

It writes the index of words in the folder, under its lock. Frames, without JSON:

    parent:  u32 number of texts, of each an i64 key and two u32 lengths, then paths and texts in UTF-8
    child:   one byte: 1 when the texts are in the index, 0 when another process was writing
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from rowen.adapters.children.child import serve, take_pipes
from rowen.adapters.store.shared.search.index import Text, WordIndex, key_of

if TYPE_CHECKING:
    from rowen.core.section import Passage

TIMEOUT_S = 120.0
"""Some thousand texts take less than a second; a machine that is suspended or starved is another matter."""
_COUNT = struct.Struct(">I")
_TEXT = struct.Struct(">qII")


def request(passages: Sequence[Passage]) -> bytes:
    heads = [_COUNT.pack(len(passages))]
    texts: list[bytes] = []
    for passage in passages:
        # A text may hold half of a surrogate pair; no word does.
        heading, text = (
            passage.heading_path.encode("utf-8", "replace"),
            passage.text.encode("utf-8", "replace"),
        )
        heads.append(_TEXT.pack(key_of(passage.hash), len(heading), len(text)))
        texts += (heading, text)
    return b"".join((*heads, *texts))


def read_request(stream: BinaryIO) -> list[Text] | None:
    """The next texts, or None when there will be none."""
    prefix = stream.read(_COUNT.size)
    if len(prefix) < _COUNT.size:
        return None
    (count,) = _COUNT.unpack(prefix)
    heads = list(_TEXT.iter_unpack(stream.read(count * _TEXT.size)))
    return [Text(key, stream.read(path).decode(), stream.read(text).decode()) for key, path, text in heads]


def read_answer(payload: bytes) -> bool:
    if payload not in (b"\0", b"\1"):
        raise ValueError("not an answer")
    return payload == b"\1"


def main() -> None:
    incoming, outgoing = take_pipes()
    index = WordIndex(Path(sys.argv[1]))
    serve(incoming, outgoing, read_request, lambda texts: bytes([index.add(texts)]), timeout_s=2 * TIMEOUT_S)


if __name__ == "__main__":
    main()
