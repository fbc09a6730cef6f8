"""Which version a reader means: `python@3.12`, `python@3`, or just `python`.

Versions are text that a person typed (`3.12`, `v2.0-rc1`, `2024-05`, `latest`). They are compared piece by
piece, numbers as numbers, and a pre-release comes before its release.
"""

from __future__ import annotations

from collections.abc import Iterable

from rowen.patterns import pattern

_PIECE = pattern(r"\d+|[a-z]+")
_BEFORE_RELEASE = {
    "dev": -5,
    "a": -4,
    "alpha": -4,
    "b": -3,
    "beta": -3,
    "pre": -2,
    "preview": -2,
    "rc": -1,
    "c": -1,
}
_ALWAYS_NEWEST = frozenset({"", "latest", "stable", "current", "main", "master", "head"})
"""A source without a version, or with one of these names, follows the newest there is."""

Key = tuple[tuple[int, int, str], ...]


def sort_key(version: str) -> Key:
    """Sorts versions from the oldest to the newest."""
    name = version.strip().lower().removeprefix("v")
    if name in _ALWAYS_NEWEST:
        return ((9, 0, name),)
    return (*(_piece(text) for text in _PIECE.findall(name)), (0, 0, ""))


def best(wanted: str, versions: Iterable[str]) -> str | None:
    """The version a reader means: that very one, else the newest inside it, else the newest before it.

    An empty wish means the newest of all. None when every version is newer than the wish.
    """
    ordered = sorted(versions, key=sort_key)
    if not ordered:
        return None
    if not wanted.strip():
        return ordered[-1]
    if wanted in ordered:
        return wanted
    key = sort_key(wanted)
    start = key[:-1]
    if not any(piece[0] == 1 and not piece[2] for piece in start):
        # An unknown name is neither older nor newer than anything.
        return None
    numbered = [version for version in ordered if sort_key(version)[0][0] != 9]
    inside = [version for version in numbered if sort_key(version)[: len(start)] == start]
    before = [version for version in numbered if sort_key(version) <= key]
    for chosen in (inside, before):
        released = [version for version in chosen if not _is_before_release(version)]
        if chosen:
            return (released or chosen)[-1]
    return None


def _is_before_release(version: str) -> bool:
    return any(piece[0] == -1 for piece in sort_key(version))


def _piece(text: str) -> tuple[int, int, str]:
    if text.isdigit():
        return (1, int(text), "")
    if text in _BEFORE_RELEASE:
        return (-1, _BEFORE_RELEASE[text], "")
    return (1, 0, text)
