"""One spreadsheet: its tabs by their ids, which survive renaming, and cells by row and column from 0."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from rowen.core.exchange.sheet import Block, Cell
from rowen.core.safety.secrets import Secret
from rowen.records import dataclass


class Spreadsheet(Protocol):
    """Each call is one attempt. `TransientError` when another may help, else another `RowenError`."""

    async def find(self, title: str) -> int | None:
        """The id of the tab with this title."""
        ...

    async def create(self, title: str) -> int:
        """A new empty tab."""
        ...

    async def read(self, sheet_id: int) -> list[list[Cell]] | None:
        """Every cell that holds something; rows and their ends that hold nothing are left away.

        None when there is no such tab.
        """
        ...

    async def write(
        self,
        sheet_id: int,
        *,
        blocks: Sequence[Block] = (),
        rows: Sequence[Sequence[Cell | None]] = (),
        columns: int = 0,
    ) -> None:
        """All of it or nothing: these cells, and these rows after the last one that holds something.

        Text stays text, also when it begins like a formula. The tab is made as wide as `columns` first.
        """
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class SpreadsheetOptions:
    spreadsheet_id: str
    base_url: str
    """Where the service answers."""
    credentials: Secret | None = None
    """The account's key; one of this and `credentials_file`."""
    credentials_file: str | None = None
    user_agent: str = "rowen"
    timeout_s: float = 60.0


class OpenSpreadsheet(Protocol):
    def __call__(self, options: SpreadsheetOptions) -> AbstractAsyncContextManager[Spreadsheet]: ...
