"""Blocks of text that are the same on most pages of a source, and texts without them.

A page's Markdown is cut at its blank lines; code is one block. A block that most pages have, once each, says
nothing about any of them. What may be content all the same is never taken: titles, code, ends of definitions,
labels of a few words that are no links, and headings with text of their own below them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping

from rowen.core import hashing
from rowen.patterns import pattern
from rowen.records import NamedTuple

MIN_PAGES = 20
"""A source with fewer pages is left alone."""
SHARE = 0.6
"""Of the pages; what fewer have is content."""
FEW_WORDS = 4

_FENCE = pattern(r"[ \t]*(`{3,}|~{3,})")
_HEADING = pattern(r"(#{1,6})(?:[ \t]|$)")
_DEFINITION = pattern(r"\{[#.][^{}]*[ ]?\.[\w-]+[^{}]*\}[ \t]*$")
_WORD = pattern(r"[^\W_]+")


class Block(NamedTuple):
    start: int
    end: int
    """With the blank lines after it."""
    key: str | None
    """What it is known by on other pages; None for one that is never taken."""
    level: int = 0
    """Of a heading."""


def blocks(text: str) -> list[Block]:
    found = [_block(text, start, end) for start, end in _stretches(text)]
    counts = Counter(block.key for block in found)
    # What a page says more than once belongs to what it says there.
    return [block if counts[block.key] == 1 else block._replace(key=None) for block in found]


def keys_of(text: str) -> set[str]:
    """What might be boilerplate of a page."""
    return {block.key for block in blocks(text) if block.key is not None}


def common(pages: Iterable[Collection[str]], *, total: int) -> set[str]:
    """What most pages of so many have, by the keys of those that may; nothing where there are too few."""
    counts: Counter[str] = Counter()
    for keys in pages:
        counts.update(keys)
    least = total * SHARE if total >= MIN_PAGES else total + 1
    return {key for key, count in counts.items() if count >= least}


def may_be_common(counts: Mapping[str, int], *, looked_at: int, most: int) -> bool:
    """Can anything still be on most pages, of which there are `most` at most, when so many were looked at?"""
    least = looked_at - most * (1 - SHARE)
    return least <= 0 or any(count >= least for count in counts.values())


def without(text: str, learned: Collection[str]) -> str:
    """The text without learned blocks; as it is, if there would be nothing left but headings."""
    if not learned:
        return text
    found = blocks(text)
    taken = [block.key in learned and not block.level for block in found]
    _take_headings(found, taken, learned)
    if not any(taken) or all(gone or block.level for block, gone in zip(found, taken, strict=True)):
        return text
    kept = "".join(
        text[block.start : block.end] for block, gone in zip(found, taken, strict=True) if not gone
    )
    return kept.rstrip() + "\n"


def _take_headings(found: list[Block], taken: list[bool], learned: Collection[str]) -> None:
    """A heading goes with its text: with all of it, when it is as common."""
    for at, block in enumerate(found):
        if not block.level or block.key not in learned:
            continue
        end = next((n for n in range(at + 1, len(found)) if found[n].level), len(found))
        taken[at] = end > at + 1 and all(taken[at + 1 : end])


def _block(text: str, start: int, end: int) -> Block:
    own = text[start:end].strip()
    if heading := _HEADING.match(own):
        level = len(heading[1])
        fixed = level == 1 or "\n" in own or _DEFINITION.search(own) is not None
        return Block(start, end, None if fixed else _key(own), level)
    if _FENCE.match(own) or own.startswith("<!--"):
        return Block(start, end, None)
    label = "](" not in own and len(_WORD.findall(own[:200])) < FEW_WORDS
    return Block(start, end, None if label or not own else _key(own))


def _key(text: str) -> str:
    return hashing.of_text(" ".join(text.split())).hex()[:16]


def _stretches(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each block; a heading is a block of its own."""
    start = at = 0
    fence, blank, alone = "", False, False
    for line in text.splitlines(keepends=True):
        marks = _FENCE.match(line)
        heading = not fence and _HEADING.match(line) is not None
        if not fence and line.strip() and (blank or alone or heading) and at > start:
            yield start, at
            start = at
        if fence:
            if marks and marks[1].startswith(fence) and not line.strip(" \t\r\n`~"):
                fence = ""
        elif marks:
            fence = marks[1]
        blank, alone = not fence and not line.strip(), heading or (alone and not line.strip())
        at += len(line)
    if at > start:
        yield start, at
