"""One open transaction on PostgreSQL, every row written counted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import psycopg

from rowen.adapters.store.postgres import halfvec
from rowen.adapters.store.postgres.jobs import engine
from rowen.adapters.store.shared.queries import Queries
from rowen.adapters.store.shared.search.words import words
from rowen.adapters.store.shared.transaction import K, Lock, Place, Row, Transaction
from rowen.core import hashing
from rowen.core.section import Passage

QUERIES = Queries(
    __package__,
    [
        (r"%", "%%"),
        (r"\bIN list\((:\w+)\)", r"= ANY (\1)"),
        (r"\b\w+ IN keys\((:\w+)\)", r"digest = ANY (\1)"),
        (r"\binstr\(", "strpos("),
        (r"\btext_of\(([\w.]+)\)", r"\1"),
        (r"\btext_bytes\(([\w.]+)\)", r"octet_length(\1)"),
        (r"\bmoment\((:\w+)\)", r"\1"),
        (r"\btime_of\(", "("),
        (r"(?<!:):([a-z]\w*)", r"%(\1)s"),
    ],
)

FEW = 4
"""Slices of a long content that the server cuts out; for more, the content comes whole."""
_WRITES = ("INSERT", "UPDATE", "DELETE", "COPY")


class PostgresTransaction(Transaction):
    queries = QUERIES

    def __init__(self, connection: psycopg.Connection[Row], schema: str) -> None:
        self.connection = connection
        self.schema = schema
        self.written = 0
        """Rows inserted, updated or deleted so far."""

    def rows(self, name: str, /, **values: Any) -> list[Row]:
        return self._execute(self.statement(name), values)

    def each(self, name: str, /, **values: Any) -> Iterable[Row]:
        return self.rows(name, **values)

    def write(self, name: str, /, **values: Any) -> int:
        with self.connection.cursor() as cursor:
            cursor.execute(QUERIES.sql(name), values)
            return self._counted(cursor)

    def write_many(self, name: str, values: Iterable[Mapping[str, Any]]) -> None:
        """All of them in one trip to the server."""
        with self.connection.cursor() as cursor:
            cursor.executemany(QUERIES.sql(name), values)
            self._counted(cursor)

    def insert_many(self, name: str, values: Sequence[Mapping[str, Any]]) -> list[Any]:
        if not values:
            return []
        with self.connection.cursor() as cursor:
            cursor.executemany(QUERIES.sql(name), values, returning=True)
            ids = []
            for result in cursor.results():
                self._counted(result)
                row = result.fetchone()
                ids.append(row[0] if row else None)
            return ids

    def copy(self, name: str, rows: Iterable[Sequence[Any]]) -> None:
        self.copy_into(QUERIES.sql(name), rows)

    def copy_into(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """A sixteenth of the time of as many inserts."""
        with self.connection.cursor() as cursor:
            with cursor.copy(statement) as copy:
                for row in rows:
                    copy.write_row(row)
            self._counted(cursor)

    def query(self, statement: str, values: Mapping[str, Any]) -> list[Row]:
        return self._execute(QUERIES.translated(self.put_together(statement)), values)

    def lock(self, what: Lock) -> None:
        self.rows(f"lock_{what.value}")

    def key(self, text: str) -> bytes:
        """An entry of an index must be short, and a text may be long."""
        return hashing.of_text(text)

    def in_order(self, keys: Iterable[K]) -> list[K]:
        return sorted(keys)

    def submit(
        self, task: str, payloads: Sequence[Mapping[str, Any]], *, now: datetime, priority: int = 0
    ) -> None:
        engine.submit(self.connection, self.schema, task, payloads, priority=priority)

    def insert_passages(self, passages: Sequence[Passage]) -> dict[bytes, int]:
        # Not by COPY: the server makes the words.
        return dict(
            self.rows(
                "passages_insert",
                hashes=[passage.hash for passage in passages],
                heading_paths=[passage.heading_path for passage in passages],
                chars=[len(passage.text) for passage in passages],
                heading_words=[words(passage.heading_path) for passage in passages],
                text_words=[words(passage.text) for passage in passages],
            )
        )

    def slices(self, places: Sequence[Place]) -> dict[Place, str]:
        by_content: defaultdict[int, list[Place]] = defaultdict(list)
        for place in places:
            by_content[place[0]].append(place)
        few = [place for these in by_content.values() if len(these) <= FEW for place in these]
        contents, starts, ends = map(list, zip(*few, strict=True)) if few else ([], [], [])
        whole = [content for content, these in by_content.items() if len(these) > FEW]
        found: dict[Place, str] = {}
        for content, start, end, text in self.rows(
            "slices", whole=whole, contents=contents, starts=starts, ends=ends
        ):
            if start is None:
                found |= {place: text[place[1] : place[2]] for place in by_content[content]}
            else:
                found[content, start, end] = text
        return found

    def insert_vectors(self, model_id: int, vectors: Mapping[int, bytes]) -> None:
        with self.connection.cursor() as cursor:
            with cursor.copy(QUERIES.sql("vectors_insert")) as copy:
                for piece in halfvec.rows_of(model_id, vectors):
                    copy.write(piece)
            self._counted(cursor)

    def _execute(self, statement: str, values: Mapping[str, Any]) -> list[Row]:
        with self.connection.cursor() as cursor:
            cursor.execute(statement, values)
            self._counted(cursor)
            return cursor.fetchall() if cursor.description else []

    def _counted(self, cursor: psycopg.Cursor[Row]) -> int:
        if (cursor.statusmessage or "").startswith(_WRITES):
            self.written += max(cursor.rowcount, 0)
        return cursor.rowcount
