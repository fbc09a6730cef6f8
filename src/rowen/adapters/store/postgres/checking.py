"""Rows of a PostgreSQL store that point at others. Its pages are the server's to check (`pg_amcheck`)."""

from __future__ import annotations

from collections.abc import Iterator

from rowen.adapters.store.postgres.transaction import PostgresTransaction
from rowen.adapters.store.shared.checking import Pointer, SharedChecking
from rowen.core.exchange.store_check import Finding

POINTERS = """
SELECT k.conrelid::regclass::text, a.attname, k.confrelid::regclass::text, b.attname
FROM pg_constraint k
JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
JOIN pg_attribute b ON b.attrelid = k.confrelid AND b.attnum = k.confkey[1]
WHERE k.contype = 'f' AND k.connamespace = current_schema()::regnamespace ORDER BY 1, 2
"""
INVALID = """
SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE NOT i.indisvalid AND c.relnamespace = current_schema()::regnamespace
"""


class PostgresChecking(SharedChecking[PostgresTransaction]):
    def _structure(self, db: PostgresTransaction, thorough: bool) -> Iterator[Finding]:
        for (name,) in db.query(INVALID, {}):
            yield Finding(part="file", said=f"the index `{name}` is not valid: `REINDEX INDEX {name}`")

    def pointers(self, db: PostgresTransaction) -> list[Pointer]:
        return [Pointer(*row) for row in db.query(POINTERS, {})]
