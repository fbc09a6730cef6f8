"""What changed, in notes for people: names and their signatures first, then sections, then pages.

new parameter `context` of `TaskGroup.create_task`; new section Errors; 3 pages removed under /legacy
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple
from urllib.parse import urlsplit

from rowen.core.compare import signatures
from rowen.core.compare.outline import Defined, Outline
from rowen.core.rules.words import count
from rowen.core.section import PATH_SEPARATOR

FOLDER_AT = 3
"""So many pages that went from one folder are told as a folder."""
START = "introduction"


class About(StrEnum):
    SYMBOL = "symbol"
    SECTION = "section"


class Note(NamedTuple):
    about: About
    change: str
    """`added`, `removed` or `changed`."""
    name: str
    words: str
    """The whole note, for people."""
    anchor: str | None = None


def compared(before: Outline, after: Outline) -> list[Note]:
    """The notes of one document in two versions."""
    return [*of_symbols(before.symbols, after.symbols), *_of_sections(before, after)]


def of_symbols(before: Mapping[str, Defined], after: Mapping[str, Defined]) -> list[Note]:
    """Of names that are defined: new ones, removed ones, and those with another signature."""
    notes = [
        _note("added", one, f"new {one.kind} `{name}`") for name, one in after.items() if name not in before
    ]
    notes += [
        _note("removed", one, f"{one.kind} `{name}` removed")
        for name, one in before.items()
        if name not in after
    ]
    for name, new in after.items():
        old = before.get(name)
        if old is None or (old.signature, old.kind, old.digest) == (new.signature, new.kind, new.digest):
            continue
        said = signatures.differences(old.signature, new.signature) if old.signature and new.signature else []
        if said:
            notes += [_note("changed", new, f"`{name}`: {', '.join(said)}")]
        elif old.kind != new.kind:
            notes.append(_note("changed", new, f"`{name}` is a {new.kind} now, was a {old.kind}"))
        elif old.digest != new.digest:
            notes.append(_note("changed", new, f"text of `{name}` changed"))
    return notes


def _note(change: str, one: Defined, words: str) -> Note:
    return Note(About.SYMBOL, change, one.name, words, one.anchor)


def _of_sections(before: Outline, after: Outline) -> list[Note]:
    old, new = before.sections, after.sections
    moved = {one.digest for path, one in old.items() if path not in new and one.words}
    notes = []
    for path, one in new.items():
        if path not in old and one.digest in moved:
            notes.append(Note(About.SECTION, "changed", path, f"section {_short(path)} renamed", one.anchor))
        elif path not in old:
            notes.append(Note(About.SECTION, "added", path, f"new section {_short(path)}", one.anchor))
    kept = {one.digest for path, one in new.items() if path not in old}
    for path, one in old.items():
        if path not in new and (one.digest not in kept or not one.words):
            notes.append(Note(About.SECTION, "removed", path, f"section {_short(path)} removed", one.anchor))
    for path, one in new.items():
        if path in old and old[path].digest != one.digest:
            notes.append(Note(About.SECTION, "changed", path, f"{_short(path)} changed", one.anchor))
    return notes


def _short(path: str) -> str:
    """The heading alone; a reader knows which page it is on."""
    return path.rpartition(PATH_SEPARATOR)[2] or START


def sentence(notes: Sequence[Note], *, most: int = 6) -> str:
    """The first notes in one line."""
    said = [note.words for note in notes[:most]]
    if len(notes) > most:
        said.append(f"{len(notes) - most:,} more")
    return "; ".join(said)


class Folder(NamedTuple):
    """A folder many pages went from."""

    path: str
    references: tuple[str, ...]

    @property
    def words(self) -> str:
        return f"{count(len(self.references), 'page')} removed under {self.path}"


def folders(removed: Iterable[str]) -> list[Folder]:
    """The folders that removed references have in common, the largest first."""
    below: dict[str, list[str]] = defaultdict(list)
    for reference in removed:
        below[folder_of(reference)].append(reference)
    found = [Folder(path, tuple(sorted(ones))) for path, ones in below.items() if len(ones) >= FOLDER_AT]
    return sorted(found, key=lambda one: (-len(one.references), one.path))


def folder_of(reference: str) -> str:
    """`/legacy` of `https://docs.example.org/legacy/a.html` and of `legacy/a.md`."""
    path = urlsplit(reference).path if "://" in reference else reference
    return "/" + path.strip("/").rpartition("/")[0]
