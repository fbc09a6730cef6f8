"""Files for others: written whole or not at all.

A reader of such a file sees the old one or the new one. What is written is a draft beside it that takes its
place at the end; when anything goes wrong the draft goes and the old file stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from rowen.core.exchange.columns import Column, Format
from rowen.records import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class ExportFile:
    path: str
    format: Format
    columns: Sequence[Column] = ()
    """Of the flat formats; a line of JSON says itself what is in it."""
    safe: bool = True
    """Texts that a spreadsheet would take for a formula are marked, where a format has no types."""


class Rows(Protocol):
    async def write(self, rows: Sequence[Any]) -> None:
        """More rows: records for JSON Lines, lists of cells for the flat formats."""
        ...


class Exports(Protocol):
    def locate(self, path: str) -> str:
        """The absolute path of what an operator typed."""
        ...

    def check(self, path: str, format: Format | None) -> None:  # noqa: A002
        """Could this be written? None for text. Raises `ConfigError` when a person must change a setting."""
        ...

    def is_there(self, path: str) -> bool: ...

    def open(self, file: ExportFile) -> AbstractAsyncContextManager[Rows]:
        """Rows for a file, which appears when the block ends well. Raises `ConfigError`, `PermanentError`."""
        ...

    async def write_text(self, path: str, text: str) -> None:
        """A whole file at once. Raises the same."""
        ...
