"""What makes the rows of small documents short: beginnings of hashes in indexes, times as numbers."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.adapters.store.shared.values import moment, time_of, time_out
from rowen.adapters.store.sqlite.store import SqliteStore
from rowen.core.section import Passage
from tests.contract.helpers import LATER, MODEL, NOW, a_draft, a_generation, a_run, a_source, an_end

pytestmark = pytest.mark.anyio

BEFORE = 36
"""The schema with whole hashes in indexes, and times as texts."""


def _all(path: Path, statement: str) -> list[Any]:
    db = apsw.Connection(str(path))
    try:
        return db.execute(statement).fetchall()
    finally:
        db.close()


async def test_texts_whose_hashes_begin_alike_are_told_apart(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "rowen.db")
    one, other = (b"the same" + bytes([number]) * 24 for number in range(2))
    absent = one[:12] + bytes(20)
    rain, snow = Passage(one, "Rain", "It rains."), Passage(other, "Snow", "It snows.")
    await store.save_passages([rain], {one: b"1234"}, MODEL)
    await store.save_passages([rain, snow], {}, MODEL)
    states = await store.passage_states([one, other, absent], MODEL)
    assert {digest: state.embedded for digest, state in states.items()} == {one: True, other: False}
    assert states[one].passage_id != states[other].passage_id
    await store.close()


async def test_the_file_itself_refuses_a_text_or_a_handoff_that_is_there(tmp_path: Path) -> None:
    path = tmp_path / "rowen.db"
    store = SqliteStore(path)
    lease, run = await a_run(store, await a_source(store))
    await store.stage(lease, run, [a_draft("https://docs.example/a", "# A\n")], now=NOW)
    await store.close()
    db = apsw.Connection(str(path))
    for table in ("contents", "handoffs"):
        columns = ", ".join(row[1] for row in db.execute(f"PRAGMA table_info({table})") if row[1] != "id")
        with pytest.raises(apsw.ConstraintError):
            db.execute(f"INSERT INTO {table} ({columns}) SELECT {columns} FROM {table}")
    db.close()


async def test_a_text_or_a_handoff_that_comes_again_is_stored_once(tmp_path: Path) -> None:
    path = tmp_path / "rowen.db"
    store = SqliteStore(path)
    source = await a_source(store)
    lease, run = await a_run(store, source)
    drafts = [a_draft("https://docs.example/a", "# A\n"), a_draft("https://docs.example/b", "# B\n")]
    first = await store.stage(lease, run, drafts, now=NOW)
    again = await store.stage(lease, run, [*drafts, a_draft("https://docs.example/c", "# A\n")], now=LATER)
    assert [one.handoff_id for one in again[:2]] == [one.handoff_id for one in first]
    await store.close()
    assert _all(path, "SELECT count(*) FROM contents") == [(2,)]
    assert _all(path, "SELECT count(*) FROM handoffs") == [(3,)]


async def test_all_rows_are_there_after_a_downgrade_and_an_upgrade(tmp_path: Path) -> None:
    path = tmp_path / "rowen.db"
    store = SqliteStore(path)
    source = await a_source(store)
    pages = {f"https://docs.example/{number}": f"# Page {number}\n\nIt rains.\n" for number in range(9)}
    await a_generation(store, source, pages)
    handoffs, known = await store.handoffs(), await store.known(source.id)
    tables = ("contents", "passages", "sections", "vectors", "documents", "handoffs", "refs")
    rows = {table: _all(path, f"SELECT count(*) FROM {table}") for table in tables}
    store.database.migrate_to(BEFORE)
    assert _all(path, "SELECT DISTINCT typeof(created_at), typeof(updated_at) FROM handoffs") == [
        ("text", "text")
    ]
    await store.close()
    assert {table: _all(path, f"SELECT count(*) FROM {table}") for table in tables} == rows
    store = SqliteStore(path)
    assert (await store.handoffs(), await store.known(source.id)) == (handoffs, known)
    await store.close()
    assert {table: _all(path, f"SELECT count(*) FROM {table}") for table in tables} == rows
    assert _all(path, "SELECT DISTINCT typeof(created_at), typeof(updated_at) FROM handoffs") == [
        ("integer", "integer")
    ]
    assert _all(path, "PRAGMA foreign_key_check") == []
    assert _all(path, "SELECT name FROM sqlite_schema WHERE sql LIKE '%\\_before%' ESCAPE '\\'") == []


async def test_rows_of_a_removed_source_go_after_an_upgrade(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "rowen.db")
    source = await a_source(store)
    store.database.migrate_to(BEFORE)
    await store.close()
    store = SqliteStore(tmp_path / "rowen.db")
    lease, run = await a_run(store, source)
    await store.stage(lease, run, [a_draft("https://docs.example/a", "# A\n")], now=NOW)
    await store.finish_run(lease, run, an_end(run), now=LATER)
    await store.remove_source(source.id, now=LATER)
    await store.close()
    assert _all(tmp_path / "rowen.db", "SELECT count(*) FROM handoffs") == [(0,)]


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_time_is_the_same_after_it_was_a_number(time: datetime) -> None:
    number = moment(time_out(time))
    assert isinstance(number, int)
    assert time_of(number) == time_out(time)


@pytest.mark.parametrize("text", ["", "yesterday", "2026-01-01T00:00:00", "\x00"])
def test_what_is_no_time_stays_what_it_is(text: str) -> None:
    assert moment(text) == text
    assert time_of(text) == text  # type: ignore[arg-type]  # what a damaged file may hold
    assert time_of(1 << 62) == 1 << 62
