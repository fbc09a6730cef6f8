"""Where a long text is cut into parts.

Parts are cut at borders that the text around them chooses: a border becomes a cut when
its block hashes lowest within `MIN_CHARS` on both sides. So where a part begins does not depend on what
stands far before it: editing one paragraph of ordinary length makes one to three new parts, however long the
section is. That is measured, not proven: adding a paragraph makes four now and then, a huge one more.

Where links lead to counts neither as length nor as text: a site that moves is cut as before.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise
from zlib import crc32

from rowen.core.text.markdown import fence_after, without_addresses
from rowen.patterns import pattern

MIN_CHARS = 500
"""No shorter part is made of a long section, unless a neighbour that cannot be cut forces it."""
MAX_CHARS = 2000
"""No part is longer. The mean comes out near 1,000."""
_FENCE = pattern(r"\n(?=[ \t`~])[ \t]*(?P<fence>`{3,}|~{3,})(?P<info>[^\n]*)")
_BLANK_LINES = pattern(r"\n(?:[ \t]*\n)+")
_SENTENCE = pattern(r"[.!?…][\"')\]»”’*_`]*\s+|[。！？]")


def parts(text: str, start: int, end: int) -> list[int]:
    """Where the parts of a body end. The last one ends where the body does."""
    if end - start <= MAX_CHARS:
        return [end]
    # With the line break in front, which the scan for fences needs.
    shown, hidden = without_addresses(text[start - 1 : end])
    cuts = [start - 1 + cut + hidden.before(cut) for cut in _cuts(shown, 1, len(shown))]
    return [*cuts[:-1], end]


def _cuts(text: str, start: int, end: int) -> list[int]:
    if end - start <= MAX_CHARS:
        return [end]
    borders = _borders(text, start, end)
    cuts: list[int] = []
    for low, high in pairwise((start, *_lowest_around(borders, start, end), end)):
        _cut_to_size(borders, low, high, cuts)
        cuts.append(high)
    return cuts


_Border = tuple[int, tuple[int, int]]
"""(offset, (rank, hash)): a border between paragraphs has rank 0, one inside a block too long has rank 1."""


def _borders(text: str, start: int, end: int) -> list[_Border]:
    """Every place where the body may be cut, in order. Between two of them stand at most MAX_CHARS."""
    borders: list[_Border] = []
    low = start
    for high, fenced in _blocks(text, start, end):
        if high - low > MAX_CHARS:
            for cut in _inside(text, low, high, fenced=fenced):
                borders.append((cut, (1, crc32(text[low:cut].encode("utf-8", "surrogatepass")))))
                low = cut
        borders.append((high, (0, crc32(text[low:high].strip().encode("utf-8", "surrogatepass")))))
        low = high
    return borders


def _blocks(text: str, start: int, end: int) -> list[tuple[int, bool]]:
    """(end, is fenced code) of each paragraph or fenced block; a block owns the blank lines after it."""
    blocks: list[tuple[int, bool]] = []
    low = start
    fence = ""
    for match in _FENCE.finditer(text, start - 1, end):
        before, fence = fence, fence_after(fence, match)
        if fence and not before:
            _add_paragraphs(blocks, text, low, match.start() + 1)
        elif before and not fence:
            low = _after_blank_lines(text, match.end(), end)
            blocks.append((low, True))
    if fence:
        blocks.append((end, True))
    else:
        _add_paragraphs(blocks, text, low, end)
    return blocks


def _add_paragraphs(blocks: list[tuple[int, bool]], text: str, start: int, end: int) -> None:
    blocks += [(match.end(), False) for match in _BLANK_LINES.finditer(text, start, end)]
    if start < end and (not blocks or blocks[-1][0] < end):
        blocks.append((end, False))


def _after_blank_lines(text: str, offset: int, end: int) -> int:
    while offset < end:
        line_end = text.find("\n", offset, end)
        line_end = end if line_end < 0 else line_end + 1
        if text[offset:line_end].strip():
            break
        offset = line_end
    return offset


def _inside(text: str, start: int, end: int, *, fenced: bool) -> Iterator[int]:
    """Cuts inside a block that is too long: after lines, else after sentences, else anywhere."""
    low = start
    while low < end:
        high = text.find("\n", low, end) + 1 or end
        if high - low > MAX_CHARS:
            yield from _inside_line(text, low, high, fenced=fenced)
        if high < end:
            yield high
        low = high


def _inside_line(text: str, start: int, end: int, *, fenced: bool) -> Iterator[int]:
    low = start
    ends = [] if fenced else [match.end() for match in _SENTENCE.finditer(text, start, end)]
    for high in [*ends, end]:
        while high - low > MAX_CHARS:
            space = text.rfind(" ", low + MIN_CHARS, low + MAX_CHARS) + 1
            low = space or low + MAX_CHARS
            yield low
        if high < end:
            yield high
        low = high


def _lowest_around(borders: list[_Border], start: int, end: int) -> list[int]:
    """Borders that hash lowest within MIN_CHARS on both sides; so two of them are further apart than that."""
    cuts: list[int] = []
    candidates = [b for b in borders if start + MIN_CHARS <= b[0] <= end - MIN_CHARS]
    for index, (offset, key) in enumerate(candidates):
        left = index - 1
        while left >= 0 and offset - candidates[left][0] <= MIN_CHARS and candidates[left][1] > key:
            left -= 1
        if left >= 0 and offset - candidates[left][0] <= MIN_CHARS:
            continue
        right = index + 1
        while (
            right < len(candidates)
            and candidates[right][0] - offset <= MIN_CHARS
            and candidates[right][1] >= key
        ):
            right += 1
        if right == len(candidates) or candidates[right][0] - offset > MIN_CHARS:
            cuts.append(offset)
    return cuts


def _cut_to_size(borders: list[_Border], start: int, end: int, cuts: list[int]) -> None:
    """Cut a stretch in which no border stood out for too long, at the lowest hash of its middle."""
    size = end - start
    if size <= MAX_CHARS:
        return
    # Of a very long stretch only the inner half: text that repeats itself must not be peeled part by part.
    margin = MIN_CHARS if size <= 4 * MAX_CHARS else size // 4
    inner = borders[bisect_left(borders, (start + 1,)) : bisect_left(borders, (end,))]
    middle = [b for b in inner if start + margin <= b[0] <= end - margin]
    centre = start + size // 2
    offset = min(middle or inner, key=lambda border: (border[1], abs(border[0] - centre)))[0]
    _cut_to_size(borders, start, offset, cuts)
    cuts.append(offset)
    _cut_to_size(borders, offset, end, cuts)
