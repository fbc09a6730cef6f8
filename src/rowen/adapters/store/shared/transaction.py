"""One open transaction, as units of work see it: named queries in, rows out."""

from __future__ import annotations

import copy
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import Enum
from typing import Any, ClassVar, Protocol, Self, TypeVar

from rowen.adapters.store.shared.queries import Queries
from rowen.adapters.store.shared.values import Json, value_in
from rowen.core.document import Draft
from rowen.core.section import Passage

Row = tuple[Any, ...]


Place = tuple[int, int, int]
"""A content, and from which of its characters to which."""


class Comparable(Protocol):
    def __lt__(self, other: Any, /) -> bool: ...


K = TypeVar("K", bound=Comparable)
T = TypeVar("T")


class Lock(Enum):
    """What writers of one store may have to wait for. A lock ends with its transaction."""

    FEED = "feed"
    """Held by a writer that shows a generation."""
    TEXTS_USED = "texts_used"
    """Held by writers that are about to point at a text or a reference. They do not wait for each other."""
    TEXTS_FORGOTTEN = "texts_forgotten"
    """Held by a writer that deletes what nothing points at; it waits for those, and they for it."""


class Packing:
    """How the values of a source are stored: as they are, but for records. A server packs long ones."""

    LEVEL = 2
    """Of the compression: records are small, and there are many."""

    def text(self, text: str, record: bytes | None = None) -> Any:
        """`record` is the one it was made from, if that is new as well."""
        return text

    def metadata(self, metadata: Mapping[str, Any]) -> Any:
        return Json(metadata)

    def record(self, record: bytes, content_id: int) -> tuple[Any, ...]:
        """The values of its row; the text that was made from it is stored by then."""
        from isal import isal_zlib

        return (bytes(isal_zlib.compress(record, self.LEVEL)),)


VISIBLE = "documents_active"
"""The view of what readers see."""


class Transaction(ABC):
    queries: ClassVar[Queries]
    then = ""
    """Stands before statements about what readers see, and makes them read what readers saw."""

    def as_of(self, shown: Mapping[int, int]) -> Self:
        """The same transaction, for which these generations of sources are the visible ones.

        A source that is not named has nothing. Statements that go through the view of what readers see find
        a query of the same name in its place.
        """
        older = copy.copy(self)
        older.then = _instead_of_the_view(shown)
        return older

    def statement(self, name: str) -> str:
        """In the database's own SQL."""
        if self.then:
            return self.queries.translated(self.put_together(self.queries.text(name)))
        return self.queries.sql(name)

    def put_together(self, statement: str) -> str:
        return self.then + statement if self.then and VISIBLE in statement else statement

    @abstractmethod
    def rows(self, name: str, /, **values: Any) -> list[Row]: ...

    @abstractmethod
    def each(self, name: str, /, **values: Any) -> Iterable[Row]:
        """Many rows, one at a time where the driver can. No other statement may come before the last row."""

    def row(self, name: str, /, **values: Any) -> Row | None:
        found = self.rows(name, **values)
        return found[0] if found else None

    def value(self, name: str, /, **values: Any) -> Any:
        """The first column of the first row; None when there is none."""
        found = self.rows(name, **values)
        return found[0][0] if found else None

    def all(self, kind: type[T], name: str, /, **values: Any) -> list[T]:
        """The rows as dataclasses; the columns stand in the order of the fields."""
        return [value_in(kind, row) for row in self.rows(name, **values)]

    def one(self, kind: type[T], name: str, /, **values: Any) -> T | None:
        """The first of them; None when there is none."""
        found = self.row(name, **values)
        return None if found is None else value_in(kind, found)

    @abstractmethod
    def write(self, name: str, /, **values: Any) -> int:
        """How many rows it wrote."""

    @abstractmethod
    def write_many(self, name: str, values: Iterable[Mapping[str, Any]]) -> None: ...

    @abstractmethod
    def insert_many(self, name: str, values: Sequence[Mapping[str, Any]]) -> list[Any]:
        """For a query that returns an id: the ids, in the order of the values."""

    @abstractmethod
    def copy(self, name: str, rows: Iterable[Sequence[Any]]) -> None:
        """Many rows into one table, by the fastest way there is."""

    @abstractmethod
    def query(self, statement: str, values: Mapping[str, Any]) -> list[Row]:
        """For the few statements that are put together, of texts from `queries` and others."""

    # below: where the databases differ by more than a statement

    def packing(self, source_id: int, drafts: Sequence[Draft]) -> Packing:
        """How to store values of this source, such as these."""
        return Packing()

    def record(self, stored: bytes, text: Any = None) -> bytes:
        """What `Packing.record` made smaller; `text` is the one it goes on from, if it does."""
        return zlib.decompress(stored)

    @abstractmethod
    def lock(self, what: Lock) -> None: ...

    @abstractmethod
    def key(self, text: str) -> Any:
        """What a long text is found by: `IN keys(...)` in a query takes a list of these."""

    @abstractmethod
    def in_order(self, keys: Iterable[K]) -> list[K]:
        """The order in which to insert rows, so that writers do not wait for each other in a ring."""

    @abstractmethod
    def submit(
        self, task: str, payloads: Sequence[Mapping[str, Any]], *, now: datetime, priority: int = 0
    ) -> None:
        """Tickets for workers, who see them when the transaction has ended."""

    @abstractmethod
    def insert_passages(self, passages: Sequence[Passage]) -> dict[bytes, int]:
        """The ids of passages met for the first time, which are stored and indexed by their words."""

    @abstractmethod
    def slices(self, places: Sequence[Place]) -> dict[Place, str]:
        """These parts of contents; those of contents that are not there are left out."""

    @abstractmethod
    def insert_vectors(self, model_id: int, vectors: Mapping[int, bytes]) -> None:
        """The embeddings of passages that have none under this model, by passage."""


def _instead_of_the_view(shown: Mapping[int, int]) -> str:
    rows = ", ".join(f"({int(source)}, {int(generation)})" for source, generation in sorted(shown.items()))
    return (
        f"WITH shown (source_id, generation) AS (VALUES {rows or '(0, 0)'}), {VISIBLE} AS ("
        "SELECT d.*, s.name AS source, s.version, s.kind, shown.generation FROM shown"
        " JOIN sources s ON s.id = shown.source_id JOIN documents d ON d.source_id = s.id"
        " WHERE d.born <= shown.generation AND (d.died IS NULL OR d.died > shown.generation)) "
    )
