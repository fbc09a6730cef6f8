"""Numbers with their nouns, as every message says them."""

from __future__ import annotations


def count(number: int, noun: str, plural: str | None = None) -> str:
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
