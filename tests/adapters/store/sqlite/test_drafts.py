"""What a document is made of stands in the file once: with its handoff, and then with the document."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw
import pytest

from rowen.adapters.store.sqlite.database import migrations
from rowen.adapters.store.sqlite.store import SqliteStore
from tests.contract.helpers import LATER, NOW, a_draft, a_run, a_source, an_end, ingest

pytestmark = pytest.mark.anyio

BEFORE = 34
"""The schema before there were drafts and dictionaries."""
DRAFTS = [
    a_draft(f"https://docs.example/{number}", f"# Page {number}\n\nIt says {'something ' * number}.")
    for number in range(150)
]


def _count(path: Path, table: str) -> Any:
    db = apsw.Connection(str(path))
    try:
        return db.execute(f"SELECT count(*) FROM {table}").get
    finally:
        db.close()


async def test_a_draft_goes_when_its_document_is_there(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "rowen.db")
    source = await a_source(store)
    lease, run = await a_run(store, source)
    staged = await store.stage(lease, run, DRAFTS, now=NOW)
    await ingest(store, lease, run, staged[:100])
    assert _count(tmp_path / "rowen.db", "drafts") == 50
    await ingest(store, lease, run, staged[100:])
    await store.finish_run(lease, run, an_end(run), now=LATER)
    assert _count(tmp_path / "rowen.db", "drafts") == 0
    assert _count(tmp_path / "rowen.db", "documents") == 150
    await store.close()


async def test_what_an_interrupted_run_stored_survives_a_downgrade_and_an_upgrade(tmp_path: Path) -> None:
    path = tmp_path / "rowen.db"
    store = SqliteStore(path)
    source = await a_source(store)
    lease, run = await a_run(store, source)
    await ingest(store, lease, run, (await store.stage(lease, run, DRAFTS, now=NOW))[:100])
    assert _count(path, "dictionaries") == 1
    store.database.migrate_to(BEFORE)
    await store.close()
    store = SqliteStore(path)
    assert store.database.bare(lambda db: db.execute("PRAGMA user_version").get) == migrations()[-1].number
    assert _count(path, "drafts") == 50
    begun = await store.begin_run(lease, source.id, full=False, now=LATER)
    assert begun is not None
    assert begun.run is not None
    left = await store.leftovers(source.id)
    assert {one: known.payload_hash for one, known in left.items()} == {
        draft.reference: draft.payload_hash for draft in DRAFTS
    }
    revived = await store.revive(lease, begun.run, [draft.reference for draft in DRAFTS], now=LATER)
    assert {one.draft.reference: (one.draft.text, one.draft.metadata) for one in revived} == {
        draft.reference: (draft.text, draft.metadata) for draft in DRAFTS
    }
    await store.close()
