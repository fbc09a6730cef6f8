"""A check finds rows that are not what was written, whichever database they are in."""

from __future__ import annotations

import pytest

from rowen.adapters.store.postgres.checking import PostgresChecking
from rowen.adapters.store.postgres.copying import PostgresCopying
from rowen.adapters.store.postgres.store import PostgresStore
from rowen.adapters.store.postgres.transaction import PostgresTransaction
from rowen.adapters.store.shared.checking import SharedChecking
from rowen.adapters.store.shared.copying import SharedCopying
from rowen.adapters.store.sqlite.checking import SqliteChecking
from rowen.adapters.store.sqlite.copying import SqliteCopying
from rowen.adapters.store.sqlite.store import SqliteStore
from rowen.managing.check_store import CheckPorts, check
from rowen.ports.store.store import Store
from tests.contract.helpers import a_generation, a_source

pytestmark = pytest.mark.anyio

PAGES = {"https://docs.example/a": "# A\n\nalpha", "https://docs.example/b": "# B\n\nbeta"}


def ports(store: Store) -> CheckPorts:
    checking: SharedChecking  # type: ignore[type-arg]
    copying: SharedCopying  # type: ignore[type-arg]
    if isinstance(store, PostgresStore):
        checking, copying = PostgresChecking(store.database), PostgresCopying(store.database)
    else:
        assert isinstance(store, SqliteStore)
        checking, copying = SqliteChecking(store.database), SqliteCopying(store.database)
    return CheckPorts(checking=checking, copying=copying)


async def spoiled(store: Store, statement: str) -> list[str]:
    """What a check finds after a statement that no code of ours would run."""
    await a_generation(store, await a_source(store), PAGES)
    assert (await check(ports(store))).findings == []
    if isinstance(store, PostgresStore):

        def unit(db: PostgresTransaction) -> None:
            # Without the triggers that hold references.
            db.connection.execute("SET LOCAL session_replication_role = replica")
            db.connection.execute(statement)  # type: ignore[call-overload]

        await store.database.write(unit)
    else:
        assert isinstance(store, SqliteStore)
        await store.database.outside_transaction(
            lambda db: db.execute(f"PRAGMA foreign_keys = OFF; {statement}; PRAGMA foreign_keys = ON")
        )
    return [f"{one.part}: {one.said}" for one in (await check(ports(store))).findings]


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE contents SET text = 'another'", "contents: the text is not the one it was stored as"),
        ("UPDATE passages SET text = 'another'", "passages: the text is not the one it was stored as"),
        ("UPDATE documents SET title = 'another'", "documents: not what its hash was made from"),
        ("UPDATE sections SET end_at = start_at", "passages: the text is not the one it was stored as"),
        ("UPDATE sections SET heading = 'X', kept = NULL", "passages: no section says what they say"),
        ("DELETE FROM contents", "documents: `content_id` names rows of `contents` that are not there"),
        ("DELETE FROM passages", "vectors: `passage_id` names rows of `passages` that are not there"),
        ("DELETE FROM sections", "contents: its sections do not cover it"),
        ("DELETE FROM generations", "generations: generation 1 of `docs`, which readers see, is missing"),
        ("UPDATE generations SET documents = 3", "generations: generation 1 of `docs` has 2 of 3 documents"),
        ("UPDATE models SET dimensions = 7", "vectors: a vector that does not have the length of its model"),
    ],
)
async def test_a_row_that_is_not_what_was_written_is_found(store: Store, statement: str, said: str) -> None:
    assert said in await spoiled(store, statement)
