"""What passages say. A passage is cut out of a content by a section; its text is stored nowhere else.

A section knows its slice of the content and which runs of it stay (`kept`): link targets, comments and the
heading are left out. A passage that no rule of ours cuts out of its content, as some of older stores, has
its text in its own row.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from rowen.adapters.store.shared.transaction import Place as Slice
from rowen.adapters.store.shared.transaction import Row, Transaction
from rowen.core.search.hit import Place
from rowen.core.section import cut_out
from rowen.errors import StoreDamaged
from rowen.records import NamedTuple

_MORE = 0x80


class Said(NamedTuple):
    hash: bytes
    heading_path: str
    text: str


def said(db: Transaction, passages: Collection[int]) -> dict[int, Said]:
    """By number. Raises `StoreDamaged` when one has no text."""
    found = dict(_found(db, passages))
    lost = sum(number not in found for number in passages)
    if lost:
        raise StoreDamaged(f"store damaged: the texts of {lost} passages are missing")
    return found


def said_as_far_as_known(db: Transaction, passages: Collection[int]) -> dict[int, Said]:
    """The same without those that no content says any more, or whose content cannot be cut."""
    return dict(_found(db, passages))


def packed(kept: Sequence[int]) -> bytes:
    """Small numbers in a byte, larger ones in several."""
    if all(number < _MORE for number in kept):
        return bytes(kept)
    out = bytearray()
    for number in kept:
        while number >= _MORE:
            out.append(number & 0x7F | _MORE)
            number >>= 7
        out.append(number)
    return bytes(out)


def unpacked(kept: bytes) -> list[int]:
    if max(kept, default=0) < _MORE:
        return list(kept)
    numbers: list[int] = []
    number = shift = 0
    for byte in kept:
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < _MORE:
            numbers.append(number)
            number = shift = 0
    return numbers


def text_of(slice_: str, kept: bytes, heading: str) -> str:
    """What a section says; one with nothing but a heading says that."""
    runs = unpacked(bytes(kept))
    return cut_out(slice_, runs[: len(runs) // 2 * 2]) or heading


def texts_of(db: Transaction, places: Iterable[Place]) -> dict[int, str]:
    """What places say that came with where their texts are, by passage; without those that are gone since."""
    found: dict[int, str] = {}
    waiting: dict[int, tuple[Slice, bytes, str]] = {}
    for place in places:
        start, end, kept, heading, own = place.cut
        if own or kept is None:
            found[place.passage_id] = own
        else:
            waiting[place.passage_id] = (place.content_id, start, end), kept, heading
    slices = db.slices([one for one, _, _ in waiting.values()]) if waiting else {}
    for passage, (one, kept, heading) in waiting.items():
        if one in slices:
            found[passage] = text_of(slices[one], kept, heading)
    return found


def _found(db: Transaction, passages: Collection[int]) -> Iterator[tuple[int, Said]]:
    waiting: list[Row] = []
    for row in db.rows("passages_said", ids=list(passages)):
        number, digest, path, text, content, *_, kept, _ = row
        if text or (content is not None and kept is None):
            yield number, Said(digest, path, text)
        elif content is not None:
            waiting.append(row)
    slices = db.slices([(row[4], row[5], row[6]) for row in waiting]) if waiting else {}
    for number, digest, path, _, content, start, end, kept, heading in waiting:
        slice_ = slices.get((content, start, end))
        if slice_ is not None:
            yield number, Said(digest, path, text_of(slice_, kept, heading))
