"""One open transaction on SQLite. There is one writer at a time, so it locks and orders nothing itself."""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any

import apsw

from rowen.adapters.store.shared.queries import Queries
from rowen.adapters.store.shared.transaction import K, Lock, Packing, Place, Row, Transaction
from rowen.adapters.store.shared.values import Json, time_out
from rowen.adapters.store.sqlite import dictionaries, texts
from rowen.core.document import Draft
from rowen.core.section import Passage


def _as_insert(copy: re.Match[str]) -> str:
    table, columns = copy.groups()
    return f"INSERT INTO {table} ({columns}) VALUES ({', '.join('?' * (columns.count(',') + 1))})"


QUERIES = Queries(
    __package__,
    [
        # The index has the beginnings of hashes; rows with another hash and the same beginning are left out.
        (
            r"((?:\w+\.)?\bhash) IN list\((:\w+)\)",
            r"substr(\1, 1, 12) IN (SELECT substr(value, 1, 12) FROM carray(\2)) AND \1 IN carray(\2)",
        ),
        (r"\bIN (?:list|keys)\((:\w+)\)", r"IN carray(\1)"),
        (r"COPY (\w+) \((.+)\) FROM STDIN", _as_insert),
    ],
)


def bound(_cursor: apsw.Cursor, _number: int, value: Any) -> Any:
    """What SQLite stores for a value it has no type for. Its driver asks for no other values."""
    match value:
        case datetime():
            return time_out(value)
        case list():
            return apsw.carray(_items(value))
        case Json():
            return value.text()
        case date():
            return value.isoformat()
    raise TypeError(f"SQLite cannot store {type(value).__name__}")


def _items(values: list[Any]) -> Any:
    # `carray` takes no empty list; an empty blob equals no value of ours.
    return array("q", values) if values and isinstance(values[0], int) else tuple(values) or (b"",)


class SqlitePacking(Packing):
    """With the dictionary of the source, if it has one."""

    def __init__(self, dictionary: int) -> None:
        self._dictionary = dictionary
        self._going_on: dict[bytes, bytes] = {}
        """Records that go on where their text ends, with what they take."""

    def text(self, text: str, record: bytes | None = None) -> str | bytes:
        both = None if record is None else texts.pack_both(text, record, self._dictionary)
        if record is None or both is None:
            return texts.pack(text, self._dictionary)
        packed, self._going_on[record] = both
        return packed

    def metadata(self, metadata: Mapping[str, Any]) -> str | bytes:
        said = Json(metadata).text()
        return said if self._dictionary == dictionaries.NONE else texts.pack(said, self._dictionary)

    def record(self, record: bytes, content_id: int) -> tuple[Any, ...]:
        if record in self._going_on:
            return self._going_on[record], content_id
        if self._dictionary == dictionaries.NONE:
            return *super().record(record, content_id), None
        return dictionaries.compressed(record, self._dictionary), None


class SqliteTransaction(Transaction):
    queries = QUERIES

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection

    def rows(self, name: str, /, **values: Any) -> list[Row]:
        return self.connection.execute(self.statement(name), values).fetchall()

    def each(self, name: str, /, **values: Any) -> Iterable[Row]:
        return self.connection.execute(self.statement(name), values)

    def write(self, name: str, /, **values: Any) -> int:
        self.connection.execute(QUERIES.sql(name), values)
        return self.connection.changes()

    def write_many(self, name: str, values: Iterable[Mapping[str, Any]]) -> None:
        self.connection.executemany(QUERIES.sql(name), values)

    def insert_many(self, name: str, values: Sequence[Mapping[str, Any]]) -> list[Any]:
        return [found for (found,) in self.connection.executemany(QUERIES.sql(name), values)]

    def copy(self, name: str, rows: Iterable[Sequence[Any]]) -> None:
        self.connection.executemany(QUERIES.sql(name), rows)

    def query(self, statement: str, values: Mapping[str, Any]) -> list[Row]:
        translated = QUERIES.translated(self.put_together(statement))
        return self.connection.execute(translated, values).fetchall()

    def lock(self, what: Lock) -> None: ...

    def key(self, text: str) -> str:
        return text

    def in_order(self, keys: Iterable[K]) -> list[K]:
        return list(keys)

    def packing(self, source_id: int, drafts: Sequence[Draft]) -> SqlitePacking:
        samples = (
            value
            for one in drafts
            for value in (one.text.encode(), one.record or b"", Json(one.metadata).text().encode())
        )
        return SqlitePacking(dictionaries.of_source(self.connection, source_id, samples))

    def record(self, stored: bytes, text: str | bytes | None = None) -> bytes:
        if text is not None:
            return dictionaries.gone_on(text, stored, self.connection)
        return dictionaries.inflated(stored, self.connection)

    def submit(
        self, task: str, payloads: Sequence[Mapping[str, Any]], *, now: datetime, priority: int = 0
    ) -> None:
        self.copy("jobs_insert", ((task, Json(payload), priority, now) for payload in payloads))

    def insert_passages(self, passages: Sequence[Passage]) -> dict[bytes, int]:
        values = [
            {"hash": one.hash, "heading_path": one.heading_path, "chars": len(one.text)} for one in passages
        ]

        ids = self.insert_many("passage_insert", values)
        return {one.hash: passage_id for passage_id, one in zip(ids, passages, strict=True)}

    def slices(self, places: Sequence[Place]) -> dict[Place, str]:
        by_content: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        for content, start, end in places:
            by_content[content].append((start, end))
        return {
            (content, *place): slice_
            for content, stored in self.rows("contents_stored", ids=list(by_content))
            for place, slice_ in zip(by_content[content], self._cut(stored, by_content[content]), strict=True)
        }

    def _cut(self, stored: str | bytes, places: Sequence[tuple[int, int]]) -> list[str]:
        return texts.cut(stored, places, self.connection)

    def insert_vectors(self, model_id: int, vectors: Mapping[int, bytes]) -> None:
        self.copy("vectors_insert", ((passage, model_id, vector) for passage, vector in vectors.items()))
