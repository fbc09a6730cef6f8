"""Looking into folders: what is there, and reading one file.

A folder that cannot be read is an error, never an empty listing.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import field
from typing import NamedTuple, Protocol

from rowen.records import dataclass


class Entry(NamedTuple):
    """A file of a folder. A tuple, because a refresh makes one for each of 100,000 files."""

    path: str
    """Relative to the root, with forward slashes; bytes that are no UTF-8 are written as `\\xNN`."""
    size: int
    mtime_ns: int
    on_disk: str = ""
    """The path to read it by, when that differs."""

    @property
    def validator(self) -> str:
        return f"{self.mtime_ns:x}-{self.size:x}"


@dataclass(frozen=True, kw_only=True, slots=True)
class ScanOptions:
    hidden: bool = False
    ignore_files: bool = True
    """Keep to the rules of .gitignore files."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Scan:
    entries: Sequence[Entry]
    passed_over: Mapping[str, int] = field(default_factory=dict)
    """Files and folders that were left out, by reason."""
    unreadable: Sequence[tuple[str, str]] = ()
    """Folders that could not be read, with the cause: what is below them is unknown."""


@dataclass(frozen=True, slots=True)
class Touched:
    """A path below a watched folder that came, changed or went."""

    path: str
    """Relative to the root, with forward slashes."""
    exists: bool
    is_file: bool


class Folders(Protocol):
    def within(self, roots: Sequence[str]) -> Folders:
        """The same for a caller that may look below these folders only, also where links lead out of them.

        To them nothing else exists.
        """
        ...

    def locate(self, location: str) -> str | None:
        """The absolute path of what a user typed, or None when it does not look like a path that exists."""
        ...

    @property
    def absence(self) -> tuple[str, str | None]:
        """What to say where `locate` finds nothing, and the next step."""
        ...

    def uri(self, root: str, path: str) -> str:
        """The `file:` address of an entry."""
        ...

    def watch(self, root: str) -> AsyncGenerator[Sequence[Touched]]:
        """What changes below a folder, or in the one file the root is, batch by batch, without end.

        The first batch is empty: the root is there, and changes count from the next question on. Raises
        `Unfetchable`.
        """
        ...

    async def scan(self, root: str, options: ScanOptions) -> Scan:
        """Everything below a folder, or the one file the root is. Raises `Unfetchable`."""
        ...

    async def read(self, root: str, path: str, *, max_bytes: int) -> bytes:
        """Raises `Unfetchable`, `Vanished` or `BodyTooLarge`."""
        ...
