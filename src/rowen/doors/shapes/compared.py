"""What changed between two versions of one thing, as JSON."""

from __future__ import annotations

from rowen.doors.shapes.shape import Shape, at


class PlacedNote(Shape):
    change: str = at("note.change")
    """`added`, `changed` or `removed`"""
    name: str = at("note.name")
    words: str = at("note.words")
    """For people"""
    title: str
    """Of the page"""
    url: str


class ComparedPage(Shape):
    reference: str
    url: str
    title: str


class Compared(Shape):
    before: str
    after: str
    summary: str
    counts: dict[str, int]
    """Of everything, also of what is not listed"""
    symbols: list[PlacedNote]
    """Names that are defined: new, removed, then those with another signature"""
    sections: list[PlacedNote]
    pages_added: list[ComparedPage]
    pages_removed: list[ComparedPage]


class WordPiece(Shape):
    mark: str
    """`equal`, `removed`, `added`; `folded` for unchanged words that are left out"""
    text: str
    words: int


class SectionDiff(Shape):
    change: str
    """`equal`, `changed`, `added`, `removed`, `moved`; `folded` for unchanged sections that are left out"""
    heading_path: str
    anchor: str | None
    sections: int
    """How many a `folded` one stands for"""
    pieces: list[WordPiece]


class DocumentDiff(Shape):
    source: str
    reference: str
    change: str = at("kind")
    """`added`, `changed`, `removed`, or `same`"""
    from_generation: int
    to_generation: int
    title: str = at(lambda one: (one.after or one.before).title)
    url: str = at(lambda one: (one.after or one.before).url)
    words_added: int
    words_removed: int
    sections: list[SectionDiff]
    """In the order of the newer version; removed ones where they stood"""
