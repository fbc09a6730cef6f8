"""The room that a text takes on a terminal."""

from __future__ import annotations


def cells(text: str) -> int:
    """Its columns: two for a wide character, none for a combining mark."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(one) else 2 if east_asian_width(one) in "WF" else 1 for one in text)
