"""PGQueuer inside our schema: its tables, and submitting tickets on our own open transactions.

PGQueuer only carries tickets. It is imported when one is submitted or taken up, and when a store is made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import orjson
import psycopg
from psycopg.rows import dict_row

from rowen.errors import StoreUnusable

if TYPE_CHECKING:
    from pgqueuer.domain.settings import DBSettings

Connection = psycopg.Connection[Any]


def engine_settings(schema: str) -> DBSettings:
    """The engine's tables lie beside ours; its channel has our schema's name, so no store wakes another."""
    try:
        from pgqueuer.domain.settings import DBSettings
        from pgqueuer.domain.types import Channel
    except ImportError as exc:
        raise StoreUnusable(
            "workers on PostgreSQL need PGQueuer, which is not installed",
            hint="pip install 'rowen[postgres]'",
        ) from exc
    return DBSettings(db_schema=schema, channel=Channel(f"{schema}_tickets"))


def install(db: Connection, schema: str) -> None:
    """The engine's tables, on the transaction of a migration."""
    from pgqueuer.adapters.persistence.qb import QueryBuilderEnvironment

    builder = QueryBuilderEnvironment(settings=engine_settings(schema))
    db.execute(builder.build_install_query(create_schema=False))


def uninstall(db: Connection, schema: str) -> None:
    from pgqueuer.adapters.persistence.qb import QueryBuilderEnvironment

    db.execute(QueryBuilderEnvironment(settings=engine_settings(schema)).build_uninstall_query())


def submit(
    db: Connection,
    schema: str,
    task: str,
    payloads: Sequence[Mapping[str, Any]],
    *,
    delay_s: float = 0.0,
    priority: int = 0,
) -> None:
    """On an open transaction: the tickets are there when it is, and not before."""
    from pgqueuer.adapters.persistence.qb import QueryQueueBuilder
    from pgqueuer.adapters.persistence.queries import SyncQueries

    queries = SyncQueries(_OnTransaction(db), qbq=QueryQueueBuilder(settings=engine_settings(schema)))
    count = len(payloads)
    queries.enqueue(
        [task] * count,
        [orjson.dumps(payload) for payload in payloads],
        [priority] * count,
        [timedelta(seconds=delay_s)] * count,
    )


class _OnTransaction:
    """The engine's own driver insists on a connection without one."""

    def __init__(self, db: Connection) -> None:
        self._db = db

    def fetch(self, query: str, *args: object) -> list[dict[str, object]]:
        with psycopg.RawCursor(self._db, row_factory=dict_row) as cursor:
            cursor.execute(query, args or None)
            return cursor.fetchall()
