"""What parent and child say to each other about texts and their sections.

    parent:  u32 number of texts, a u32 length of each, the texts in UTF-8
    child:   u32 length, JSON; the hashes of all sections, one after the other

The JSON has of each text its headings with their paths, each once, and a row of each section. What a section
says is not sent back: it is cut out of the text that the parent has. A child that cannot say the sections of
a text in JSON answers with nothing.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any, BinaryIO

import orjson

from rowen.core.hashing import SIZE
from rowen.core.section import Form, Section, Symbol, cut_out
from rowen.core.split import split

_NUMBER = struct.Struct(">I")
_FORMS = {form.value: form for form in Form}


def request(texts: Sequence[str]) -> bytes:
    # A text may hold half of a surrogate pair, from the JSON of an API.
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    lengths = struct.pack(f">{len(encoded)}I", *map(len, encoded))
    return b"".join((_NUMBER.pack(len(encoded)), lengths, *encoded))


def read_request(stream: BinaryIO) -> list[str] | None:
    """The next texts, or None when there will be none."""
    prefix = stream.read(_NUMBER.size)
    if len(prefix) < _NUMBER.size:
        return None
    (count,) = _NUMBER.unpack(prefix)
    lengths = struct.unpack(f">{count}I", stream.read(_NUMBER.size * count))
    texts = stream.read(sum(lengths))
    return [
        texts[low:high].decode("utf-8", "surrogatepass")
        for low, high in pairwise(accumulate(lengths, initial=0))
    ]


def answer(texts: Sequence[str]) -> bytes:
    trees = [split(text) for text in texts]
    try:
        rows = orjson.dumps([_said(tree) for tree in trees])
    except TypeError:
        # Half of a surrogate pair in a heading is nothing that JSON can say.
        return b""
    hashes = b"".join(section.passage_hash for tree in trees for section in tree)
    return b"".join((_NUMBER.pack(len(rows)), rows, hashes))


def read_answer(payload: bytes, texts: Sequence[str]) -> list[list[Section]] | None:
    """None when the child could not say it. Raises `ValueError` for what is no answer to these texts."""
    if not payload:
        return None
    try:
        (length,) = _NUMBER.unpack_from(payload)
        begin = _NUMBER.size + length
        said = orjson.loads(payload[_NUMBER.size : begin])
        if len(payload) - begin != SIZE * sum(len(rows) for _, rows in said):
            raise ValueError("another number of hashes than of sections")
        hashes = (payload[at : at + SIZE] for at in range(begin, len(payload), SIZE))
        return [_read(text, heads, rows, hashes) for text, (heads, rows) in zip(texts, said, strict=True)]
    except (TypeError, LookupError, struct.error) as exc:
        raise ValueError("not the sections of these texts") from exc


def _read(
    text: str, heads: Sequence[tuple[str, list[str]]], rows: Sequence[Any], hashes: Iterator[bytes]
) -> list[Section]:
    known = [(heading, tuple(path)) for heading, path in heads]
    return [
        # By position: names would cost as much as the rest of it, and a harvest has very many sections.
        Section(
            position,
            level,
            parent,
            known[head][0],
            known[head][1],
            anchor,
            start,
            end,
            cut_out(text[start:end], kept),
            next(hashes),
            tuple(kept),
            symbol and Symbol(*symbol),
            link_share,
            _FORMS[form],
        )
        for position, (level, parent, head, anchor, start, end, kept, symbol, link_share, form) in enumerate(
            rows
        )
    ]


def _said(tree: Sequence[Section]) -> tuple[list[Any], list[Any]]:
    heads: dict[tuple[str, tuple[str, ...]], int] = {}
    rows = [
        (
            one.level,
            one.parent,
            heads.setdefault((one.heading, one.heading_path), len(heads)),
            one.anchor,
            one.start,
            one.end,
            one.kept,
            one.symbol and tuple(one.symbol),
            one.link_share,
            one.form,
        )
        for one in tree
    ]
    return list(heads), rows
