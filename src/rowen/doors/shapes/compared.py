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
