"""The `Checking` port: what both databases look at in the same way."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from typing import Generic, NamedTuple, TypeVar

from rowen.adapters.store.shared.database import Database
from rowen.adapters.store.shared.slices import text_of
from rowen.adapters.store.shared.transaction import Row, Transaction
from rowen.core.exchange.store_check import ANOTHER_TEXT, Finding, is_text_of
from rowen.errors import StoreDamaged

CONTENTS = 100
"""That are looked at together."""

Tx = TypeVar("Tx", bound=Transaction)


class Pointer(NamedTuple):
    """A column that names rows of another table."""

    table: str
    column: str
    target: str
    target_column: str

    @property
    def dangling(self) -> str:
        """A condition on the rows that name a row which is not there."""
        return (
            f'"{self.column}" IS NOT NULL AND NOT EXISTS (SELECT 1 FROM "{self.target}" AS target'
            f' WHERE target."{self.target_column}" = "{self.table}"."{self.column}")'
        )


class SharedChecking(ABC, Generic[Tx]):
    def __init__(self, database: Database[Tx]) -> None:
        self._db = database

    async def structure(self, *, thorough: bool = True) -> list[Finding]:
        findings: list[Finding] = []

        def look(db: Tx) -> None:
            for one in self._structure(db, thorough):
                findings.append(one)  # also kept when an error ends it

        try:
            await self._db.read(look)
        except StoreDamaged:
            findings = findings or [Finding(part="file", said="cannot be read to its end", rows=0)]
        return findings

    async def references(self) -> list[Finding]:
        findings: list[Finding] = []
        for one in await self._db.read(self.pointers):
            try:
                found = await self._db.read(partial(_dangling, pointer=one))
            except StoreDamaged:
                findings.append(
                    Finding(part=one.table, said=f"`{one.column}` cannot be read to its end", rows=0)
                )
                continue
            if found:
                said = f"`{one.column}` names rows of `{one.target}` that are not there"
                findings.append(Finding(part=one.table, said=said, rows=found))
        return findings

    async def texts(self) -> list[Finding]:
        wrong = after = 0
        try:
            while found := await self._db.read(partial(_contents_after, after=after)):
                wrong += await self._db.read(partial(_not_cut_out, contents=found))
                after = found[-1]
        except StoreDamaged:
            return [Finding(part="passages", said="their texts cannot be read to the end", rows=wrong)]
        unsaid = int(await self._db.read(lambda db: db.value("passages_unsaid")))
        findings = {ANOTHER_TEXT: wrong, "no section says what they say": unsaid}
        return [Finding(part="passages", said=said, rows=rows) for said, rows in findings.items() if rows]

    @abstractmethod
    def pointers(self, db: Tx) -> list[Pointer]:
        """As the schema declares them."""

    @abstractmethod
    def _structure(self, db: Tx, thorough: bool) -> Iterator[Finding]: ...


def _contents_after(db: Transaction, after: int) -> list[int]:
    return [row[0] for row in db.rows("contents_after", after=after, limit=CONTENTS)]


def _not_cut_out(db: Transaction, contents: list[int]) -> int:
    """How many sections of these contents cut out another text than that of their passage."""
    places: defaultdict[int, list[Row]] = defaultdict(list)
    for content, *place in db.rows("sections_said", ids=contents):
        places[content].append(tuple(place))
    return sum(
        not is_text_of(digest, f"{path}\n{text_of(text[start:end], kept, heading)}")
        for content, text in db.each("contents_said", ids=contents)
        for start, end, kept, heading, digest, path in places[content]
    )


def _dangling(db: Transaction, pointer: Pointer) -> int:
    return int(db.query(f'SELECT count(*) FROM "{pointer.table}" WHERE {pointer.dangling}', {})[0][0])
