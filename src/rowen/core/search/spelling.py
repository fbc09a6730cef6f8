"""How many slips lie between two names, as far as a few.

A slip is a letter too many, too few or another one, or two neighbours that changed places (the optimal string
alignment distance). Most of tens of thousands of names are told apart by the letters they have, before
anything is aligned.
"""

from __future__ import annotations

from collections.abc import Iterable

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def one_slip_from(word: str) -> set[str]:
    """All that a word of Latin letters may mean if one slip was made."""
    halves = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    dropped = {before + after[1:] for before, after in halves if after}
    swapped = {before + after[1] + after[0] + after[2:] for before, after in halves if len(after) > 1}
    other = {before + one + after[1:] for before, after in halves if after for one in _LETTERS}
    added = {before + one + after for before, after in halves for one in _LETTERS}
    return (dropped | swapped | other | added) - {word}


def nearest(word: str, names: Iterable[str], *, slips: int) -> list[str]:
    """The names with the fewest slips, at most so many, in order."""
    letters = set(word)
    found: dict[int, list[str]] = {}
    for name in names:
        # One slip takes a letter away and brings another one.
        if abs(len(name) - len(word)) > slips or len(letters.symmetric_difference(name)) > 2 * slips:
            continue
        distance = between(word, name, most=slips)
        if distance is not None:
            found.setdefault(distance, []).append(name)
    return sorted(found[min(found)]) if found else []


def between(one: str, other: str, *, most: int) -> int | None:
    """The number of slips; None for more than `most`."""
    if one == other:
        return 0
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        earlier, before, row = before, row, [i]
        for j, its in enumerate(other, 1):
            least = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != its))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == its:
                least = min(least, earlier[j - 2] + 1)
            row.append(least)
        if min(row) > most and min(before) > most:
            return None
    return row[-1] if row[-1] <= most else None
