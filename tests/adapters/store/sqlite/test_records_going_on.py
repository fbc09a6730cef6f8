"""A record is packed as what goes on where the text ends that was made from it."""

from __future__ import annotations

import json
import zlib
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import apsw
import pytest

from rowen.adapters.store.sqlite import dictionaries
from rowen.adapters.store.sqlite.copying import SqliteCopying
from rowen.adapters.store.sqlite.dictionaries import UnreadableText
from rowen.adapters.store.sqlite.rescue.rescue import SqliteRescue
from rowen.adapters.store.sqlite.store import SqliteStore
from rowen.core.document import Draft
from rowen.core.exchange.store_copy import PARTS
from rowen.core.source import Source
from rowen.errors import StoreDamaged
from tests.contract.helpers import LATER, NOW, a_draft, a_run, a_source, an_end, ingest

pytestmark = pytest.mark.anyio

BEFORE = 38
"""The schema in which every record was packed by itself."""
NUMBERS = range(120)


def a_dataset(number: int, *, modified: str = "2026-01-01", said: str = "rain") -> Draft:
    stations = " ".join(f"{one:x}" for one in Random(number).choices(range(1 << 20), k=40))
    notes = f"The office counts the {said} that fell at its stations {stations}, day by day."
    row = {"id": number, "licence": "Creative Commons", "modified": modified, "notes": notes}
    text = f"# Dataset {number}\n\n{notes}\n\n- Licence: Creative Commons\n"
    return replace(a_draft(f"https://data.example/{number}", text), record=json.dumps(row).encode())


async def a_portal(store: SqliteStore, *drafts: Draft, source: Source | None = None) -> Source:
    source = source or await a_source(store)
    lease, run = await a_run(store, source)
    await ingest(store, lease, run, await store.stage(lease, run, drafts, now=NOW))
    await store.finish_run(lease, run, an_end(run), now=LATER)
    await store.release_lease(lease)
    return source


async def records(store: SqliteStore, source: Source) -> dict[str, bytes | None]:
    known = await store.known(source.id)
    return {reference: await store.record(one.document_id) for reference, one in known.items()}


def of(drafts: list[Draft]) -> dict[str, bytes | None]:
    return {draft.reference: draft.record for draft in drafts}


def _ask(path: Path, statement: str) -> Any:
    db = apsw.Connection(str(path))
    try:
        return db.execute(statement).get
    finally:
        db.close()


async def test_a_record_takes_a_third_of_what_it_takes_alone(tmp_path: Path) -> None:
    path = tmp_path / "rowen.db"
    store = SqliteStore(path)
    drafts = [a_dataset(number) for number in NUMBERS]
    source = await a_portal(store, *drafts)
    assert await records(store, source) == of(drafts)
    number = _ask(path, "SELECT id FROM dictionaries")
    alone = sum(len(dictionaries.compressed(draft.record or b"", number)) for draft in drafts)
    assert _ask(path, "SELECT sum(length(body)) FROM records WHERE goes_on_from IS NOT NULL") < alone / 3
    known = await store.known(source.id)
    found = await store.living(source.id, limit=len(known))
    assert {one.draft.reference: one.draft.text for one in found} == {
        draft.reference: draft.text for draft in drafts
    }
    await store.close()


async def test_a_record_that_changed_without_its_text_stands_alone_and_the_text_stays(
    tmp_path: Path,
) -> None:
    path = tmp_path / "rowen.db"
    store = SqliteStore(path)
    drafts = [a_dataset(number) for number in NUMBERS]
    source = await a_portal(store, *drafts)
    changed = replace(a_dataset(3, modified="2026-02-02"), title="Dataset 3, again")
    await a_portal(store, changed, source=source)
    expected = of([*drafts, changed])
    assert await records(store, source) == expected
    await store.vacuum({source.id: 2}, handoffs_before=LATER, everything=False)
    assert await records(store, source) == expected
    assert _ask(path, "SELECT count(*) FROM records") == len(NUMBERS)
    assert _ask(path, "SELECT count(*) FROM contents") == len(NUMBERS)
    await store.close()


async def test_a_text_goes_with_the_record_that_goes_on_from_it(tmp_path: Path) -> None:
    path = tmp_path / "rowen.db"
    store = SqliteStore(path)
    drafts = [a_dataset(number) for number in NUMBERS]
    source = await a_portal(store, *drafts)
    await a_portal(store, a_dataset(3, said="snow"), source=source)
    assert _ask(path, "SELECT count(*) FROM contents") == len(NUMBERS) + 1
    await store.vacuum({source.id: 2}, handoffs_before=LATER, everything=False)
    assert _ask(path, "SELECT count(*) FROM contents") == len(NUMBERS)
    assert _ask(path, "SELECT count(*) FROM records") == len(NUMBERS)
    await store.close()


async def test_a_text_that_no_document_uses_stays_while_a_record_goes_on_from_it(tmp_path: Path) -> None:
    path = tmp_path / "rowen.db"
    store = SqliteStore(path)
    drafts = [a_dataset(number) for number in NUMBERS]
    source = await a_portal(store, *drafts)
    # Another Rowen makes another text from the same record.
    other = a_draft(drafts[3].reference, "# Dataset 3\n\nSaid in another way.\n")
    other = replace(other, record=drafts[3].record)
    await a_portal(store, other, source=source)
    await store.vacuum({source.id: 2}, handoffs_before=LATER, everything=True)
    assert await records(store, source) == of(drafts)
    assert _ask(path, "PRAGMA foreign_key_check") is None
    await store.close()


async def test_records_are_the_same_after_a_downgrade_and_an_upgrade(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "rowen.db")
    drafts = [a_dataset(number) for number in NUMBERS]
    source = await a_portal(store, *drafts)
    store.database.migrate_to(BEFORE)
    await store.close()
    store = SqliteStore(tmp_path / "rowen.db")
    assert await records(store, source) == of(drafts)
    replaced = await store.replacements(source.id, 1)
    assert len(replaced) == len(NUMBERS)
    await store.close()


async def test_a_copy_of_a_store_gets_whole_records(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "rowen.db")
    drafts = [a_dataset(number) for number in NUMBERS]
    await a_portal(store, *drafts)
    part = next(one for one in PARTS if one.name == "records")
    async with SqliteCopying(store.database).view() as view:
        page = await view.page(part, after=None, max_rows=1000, max_bytes=1_000_000)
    bodies = [body for _, _, body in page.rows if isinstance(body, bytes)]
    assert {zlib.decompress(body) for body in bodies} == {draft.record for draft in drafts}
    await store.close()


async def test_a_rescue_drops_records_whose_text_is_lost(tmp_path: Path) -> None:
    path, rescued = tmp_path / "rowen.db", tmp_path / "rescued.db"
    store = SqliteStore(path)
    drafts = [a_dataset(number) for number in NUMBERS]
    source = await a_portal(store, *drafts)
    await store.close()
    db = apsw.Connection(str(path))
    db.execute("UPDATE contents SET text = x'00' || text WHERE id <= 20; PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    rescue = SqliteRescue(path, rescued)
    await rescue.save(lambda table, rows: None)
    rescue.place()
    rescue.discard()
    store = SqliteStore(rescued)
    assert await records(store, source) == of(drafts[20:])
    await store.close()
    assert _ask(rescued, "SELECT count(*) FROM records") == len(NUMBERS) - 20
    assert _ask(rescued, "PRAGMA foreign_key_check") is None


async def test_a_record_without_its_text_is_damage(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "rowen.db")
    source = await a_portal(store, *(a_dataset(number) for number in NUMBERS))
    store.database.bare(
        lambda db: db.execute("PRAGMA foreign_keys = OFF; UPDATE contents SET text = 'lost' WHERE id = 1")
    )
    with pytest.raises(StoreDamaged, match="goes on from"):
        await records(store, source)
    await store.close()


def test_a_record_alone_that_cannot_be_read_is_damage() -> None:
    with pytest.raises(UnreadableText):
        dictionaries.inflated(b"no record", apsw.Connection(":memory:"))
