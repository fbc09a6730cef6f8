"""SQLite's own look at a file, and the rows that point at others."""

from __future__ import annotations

from collections.abc import Iterator

from rowen.adapters.store.shared.checking import Pointer, SharedChecking
from rowen.adapters.store.sqlite.transaction import SqliteTransaction
from rowen.core.exchange.store_check import Finding

MAX_SAID = 20
"""SQLite finds something wrong with every row of a bad page; these say enough."""

POINTERS = """
SELECT t.name, f."from", f."table", coalesce(f."to", 'id')
FROM pragma_table_list t JOIN pragma_foreign_key_list(t.name) f
WHERE t.schema = 'main' AND t.type = 'table' ORDER BY t.name, f.seq
"""


class SqliteChecking(SharedChecking[SqliteTransaction]):
    def _structure(self, db: SqliteTransaction, thorough: bool) -> Iterator[Finding]:
        check = "integrity_check" if thorough else "quick_check"
        for (said,) in db.connection.execute(f"PRAGMA {check}({MAX_SAID})"):
            for line in str(said).splitlines():
                if line != "ok" and not line.startswith("***"):
                    yield Finding(part="file", said=line)

    def pointers(self, db: SqliteTransaction) -> list[Pointer]:
        return [Pointer(*row) for row in db.query(POINTERS, {})]
