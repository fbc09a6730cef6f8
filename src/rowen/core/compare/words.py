"""Which words differ between two texts.

Paragraphs are compared first, then the words of those that differ, so that the cost grows with what changed
and not with the square of a page: `difflib` alone takes 29 s for two texts of 10,000 words, and this way some
milliseconds. What differs too widely to be read word by word is one removal and one addition.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from enum import StrEnum
from typing import NamedTuple

MOST_PAIRS = 1_000_000
"""Two stretches of more words times words than this are not compared word by word."""
LEAST_ALIKE = 0.2
"""Two paragraphs that have less in common are two paragraphs, not one that was edited."""
AROUND_WORDS = 12
"""So many unchanged words are shown on each side of a change."""

_PARAGRAPH = re.compile(r".+?(?:\n\s*\n+|\Z)", re.DOTALL)
_WORD = re.compile(r"\w+\s*|[^\w\s]\s*|\s+")


class Mark(StrEnum):
    EQUAL = "equal"
    REMOVED = "removed"
    ADDED = "added"
    FOLDED = "folded"
    """Unchanged words that are not shown; `words` says how many."""


class Piece(NamedTuple):
    mark: Mark
    text: str
    words: int


def diff(before: str, after: str) -> tuple[Piece, ...]:
    """The pieces of both texts in order.

    invariant: the equal and removed pieces together are `before`, the equal and added ones `after`.
    """
    if before == after:
        return _joined([(Mark.EQUAL, before)])
    old, new = _PARAGRAPH.findall(before), _PARAGRAPH.findall(after)
    found: list[tuple[Mark, str]] = []
    for tag, a, b, c, d in _opcodes(old, new):
        if tag == "equal":
            found.append((Mark.EQUAL, "".join(old[a:b])))
        else:
            found += _edited("".join(old[a:b]), "".join(new[c:d]))
    return _joined(found)


def folded(pieces: Iterable[Piece], *, around: int = AROUND_WORDS) -> tuple[Piece, ...]:
    """The same with long unchanged stretches left out: only the words next to a change stay."""
    every = list(pieces)
    shown: list[Piece] = []
    for index, piece in enumerate(every):
        words = _WORD.findall(piece.text) if piece.mark is Mark.EQUAL else []
        first = 0 if index == 0 else around
        last = 0 if index == len(every) - 1 else around
        hidden = len(words) - first - last
        if piece.mark is not Mark.EQUAL or hidden <= around:
            shown.append(piece)
            continue
        kept = (words[:first], words[len(words) - last :])
        middle = Piece(Mark.FOLDED, "", count_words("".join(words[first : len(words) - last])))
        shown += [_piece(Mark.EQUAL, "".join(kept[0])), middle, _piece(Mark.EQUAL, "".join(kept[1]))]
    return tuple(piece for piece in shown if piece.text or piece.mark is Mark.FOLDED)


def count_words(text: str) -> int:
    return len(re.findall(r"\w+", text))


def _edited(before: str, after: str) -> list[tuple[Mark, str]]:
    whole = [(Mark.REMOVED, before), (Mark.ADDED, after)]
    old, new = _WORD.findall(before), _WORD.findall(after)
    if not old or not new:
        return whole
    if len(old) * len(new) > MOST_PAIRS:
        return _by_lines(before.splitlines(keepends=True), after.splitlines(keepends=True)) or whole
    opcodes = _opcodes(old, new)
    common = sum(b - a for tag, a, b, _, _ in opcodes if tag == "equal")
    if common < LEAST_ALIKE * max(len(old), len(new)):
        return whole
    found: list[tuple[Mark, str]] = []
    for tag, a, b, c, d in opcodes:
        if tag == "equal":
            found.append((Mark.EQUAL, "".join(old[a:b])))
        else:
            found += [(Mark.REMOVED, "".join(old[a:b])), (Mark.ADDED, "".join(new[c:d]))]
    return found


def _by_lines(old: Sequence[str], new: Sequence[str]) -> list[tuple[Mark, str]]:
    """A long list or table, where single lines differ; nothing when it is one line, or most of it differs."""
    if min(len(old), len(new)) < 2 or len(old) * len(new) > MOST_PAIRS:
        return []
    opcodes = _opcodes(old, new)
    if not any(tag == "equal" for tag, *_ in opcodes):
        return []
    found: list[tuple[Mark, str]] = []
    for tag, a, b, c, d in opcodes:
        if tag == "equal":
            found.append((Mark.EQUAL, "".join(old[a:b])))
        else:
            found += _edited("".join(old[a:b]), "".join(new[c:d]))
    return found


def _opcodes(old: Sequence[str], new: Sequence[str]) -> Sequence[tuple[str, int, int, int, int]]:
    return SequenceMatcher(None, old, new, autojunk=False).get_opcodes()


def _joined(found: Iterable[tuple[Mark, str]]) -> tuple[Piece, ...]:
    """Neighbours with one mark as one piece, without empty ones."""
    pieces: list[tuple[Mark, str]] = []
    for mark, text in found:
        if not text:
            continue
        if pieces and pieces[-1][0] is mark:
            pieces[-1] = (mark, pieces[-1][1] + text)
        else:
            pieces.append((mark, text))
    return tuple(_piece(mark, text) for mark, text in pieces)


def _piece(mark: Mark, text: str) -> Piece:
    return Piece(mark, text, count_words(text))
