"""What differs between two versions of a document, section by section.

Sections are told apart by their heading paths; parts of a long section count as one. A section that says the
same at another place is *moved*, also when its heading changed with it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum

from rowen.core.compare.words import Mark, Piece, diff, folded
from rowen.core.section import join_path
from rowen.core.split import split
from rowen.records import dataclass

AROUND_SECTIONS = 1


class SectionChange(StrEnum):
    EQUAL = "equal"
    CHANGED = "changed"
    ADDED = "added"
    REMOVED = "removed"
    MOVED = "moved"
    """The same text at another place among its neighbours."""
    FOLDED = "folded"
    """Unchanged sections that are not shown; `sections` says how many."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SectionDiff:
    change: SectionChange
    heading_path: str
    """As the newer version has it; empty for what stands before the first heading."""
    anchor: str | None = None
    pieces: tuple[Piece, ...] = ()
    sections: int = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class TextDiff:
    """All sections of both versions, in the order of the newer one; removed ones where they stood."""

    sections: tuple[SectionDiff, ...]

    def count(self, change: SectionChange) -> int:
        return sum(one.sections for one in self.sections if one.change is change)

    @property
    def words_added(self) -> int:
        return self._words(Mark.ADDED)

    @property
    def words_removed(self) -> int:
        return self._words(Mark.REMOVED)

    def _words(self, mark: Mark) -> int:
        return sum(piece.words for one in self.sections for piece in one.pieces if piece.mark is mark)


@dataclass(frozen=True, slots=True)
class _Section:
    path: str
    occurrence: int
    anchor: str | None
    text: str


def compare(before: str | None, after: str | None) -> TextDiff:
    """Two versions of a document; None for one that does not exist."""
    old, new = _sections(before or ""), _sections(after or "")
    partner = _partners(old, new)
    still = _in_order([partner.get(index) for index in range(len(new))])
    found: list[SectionDiff] = []
    gone = set(range(len(old))) - set(partner.values())
    next_old = 0
    for index, section in enumerate(new):
        origin = partner.get(index)
        if origin is not None and index in still:
            found += [_gone(old[at]) for at in range(next_old, origin) if at in gone]
            next_old = max(next_old, origin + 1)
        found.append(_compared(None if origin is None else old[origin], section, moved=index not in still))
    found += [_gone(old[at]) for at in range(next_old, len(old)) if at in gone]
    return TextDiff(sections=tuple(found))


def fold(whole: TextDiff) -> TextDiff:
    """For reading: unchanged sections next to a change stay, the others become a count; likewise words."""
    sections = whole.sections
    near = [
        any(
            other.change is not SectionChange.EQUAL
            for other in sections[max(0, index - AROUND_SECTIONS) : index + AROUND_SECTIONS + 1]
        )
        for index in range(len(sections))
    ]
    shown: list[SectionDiff] = []
    for section, stays in zip(sections, near, strict=True):
        if stays:
            shown.append(_folded(section))
        elif shown and shown[-1].change is SectionChange.FOLDED:
            count = shown[-1].sections + 1
            shown[-1] = SectionDiff(change=SectionChange.FOLDED, heading_path="", sections=count)
        else:
            shown.append(SectionDiff(change=SectionChange.FOLDED, heading_path=""))
    return TextDiff(sections=tuple(shown))


def _sections(text: str) -> list[_Section]:
    """The sections of a text; neighbours with one path, such as the parts of a long one, are one."""
    seen: Counter[str] = Counter()
    found: list[_Section] = []
    for section in split(text):
        path = join_path(section.heading_path)
        part = text[section.start : section.end]
        if found and found[-1].path == path:
            found[-1] = _Section(path, found[-1].occurrence, found[-1].anchor, found[-1].text + part)
            continue
        seen[path] += 1
        found.append(_Section(path, seen[path], section.anchor, part))
    # The blank lines around a section belong to its place, not to what it says.
    return [replace(one, text=one.text.strip()) for one in found]


def _partners(old: Sequence[_Section], new: Sequence[_Section]) -> dict[int, int]:
    """Which section of the older version each of the newer one was."""
    by_place = {(one.path, one.occurrence): index for index, one in enumerate(old)}
    partner = {
        index: by_place[one.path, one.occurrence]
        for index, one in enumerate(new)
        if (one.path, one.occurrence) in by_place
    }
    left = {old[index].text: index for index in set(range(len(old))) - set(partner.values())}
    for index, one in enumerate(new):
        # Under another heading path: the text below its own heading line says whether it is the same.
        if index not in partner and one.text and one.text in left:
            partner[index] = left.pop(one.text)
    return partner


def _in_order(origins: Sequence[int | None]) -> set[int]:
    """The places of the longest run of sections that kept their order: what is not in it was moved."""
    tails: list[int] = []
    ends: list[int] = []
    before: dict[int, int | None] = {}
    for index, origin in enumerate(origins):
        if origin is None:
            continue
        at = bisect_left(tails, origin)
        before[index] = ends[at - 1] if at else None
        tails[at:] = [origin, *tails[at + 1 :]]
        ends[at:] = [index, *ends[at + 1 :]]
    kept: set[int] = set()
    last = ends[-1] if ends else None
    while last is not None:
        kept.add(last)
        last = before[last]
    return kept


def _compared(before: _Section | None, after: _Section, *, moved: bool) -> SectionDiff:
    if before is None:
        return SectionDiff(
            change=SectionChange.ADDED,
            heading_path=after.path,
            anchor=after.anchor,
            pieces=_all(Mark.ADDED, after.text),
        )
    pieces = diff(before.text, after.text)
    same = all(piece.mark is Mark.EQUAL for piece in pieces)
    change = SectionChange.CHANGED
    if same:
        change = SectionChange.MOVED if moved or before.path != after.path else SectionChange.EQUAL
    return SectionDiff(change=change, heading_path=after.path, anchor=after.anchor, pieces=pieces)


def _gone(section: _Section) -> SectionDiff:
    return SectionDiff(
        change=SectionChange.REMOVED,
        heading_path=section.path,
        anchor=section.anchor,
        pieces=_all(Mark.REMOVED, section.text),
    )


def _all(mark: Mark, text: str) -> tuple[Piece, ...]:
    return tuple(Piece(mark, one.text, one.words) for one in diff(text, text))


def _folded(section: SectionDiff) -> SectionDiff:
    if section.change in (SectionChange.ADDED, SectionChange.REMOVED):
        return section
    pieces = folded(section.pieces)
    if section.change is not SectionChange.CHANGED:
        # A neighbour is named; its words are not repeated.
        pieces = (Piece(Mark.FOLDED, "", sum(one.words for one in section.pieces)),)
    return replace(section, pieces=pieces)
