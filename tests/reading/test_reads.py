"""What one search asks the store for: units of work and statements are counted, not timed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from rowen.adapters.store.sqlite.database import SqliteDatabase
from rowen.adapters.store.sqlite.transaction import SqliteTransaction
from rowen.core.search.hit import SearchMode
from rowen.doors import asking
from tests.support.site import Site, html
from tests.support.world import a_page, a_world

pytestmark = pytest.mark.anyio

T = TypeVar("T")


async def test_a_search_takes_three_reads_however_many_hits_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = {"/": html("Home", "The barley begins here.", links=[f"/{n}" for n in range(12)])}
    pages |= {f"/{number}": a_page(f"/{number}", "grain", "barley") for number in range(12)}
    units: list[str] = []
    statements: list[str] = []
    read, rows = SqliteDatabase._read, SqliteTransaction.rows

    def counted_read(self: SqliteDatabase, work: Callable[[SqliteTransaction], T]) -> T:
        units.append("read")
        return read(self, work)

    def counted_rows(self: SqliteTransaction, name: str, /, **values: Any) -> Any:
        statements.append(name)
        return rows(self, name, **values)

    with Site(pages) as site:
        async with a_world(tmp_path, site) as world:
            await world.add()
            await world.sync()
            question = "what bears grain and barley in a field of many different words"
            await asking.search(world.ports, question)
            monkeypatch.setattr(SqliteDatabase, "_read", counted_read)
            monkeypatch.setattr(SqliteTransaction, "rows", counted_rows)
            for limit in (1, 10):
                units.clear()
                statements.clear()
                found = await asking.search(world.ports, question, limit=limit)
                assert (len(found.hits), found.mode) == (limit, SearchMode.HYBRID)
                # Which model answers, the search itself, and what is shown of its documents.
                assert len(units) == 3
                assert sorted(statements) == [
                    "contents_stored",
                    "documents_about",
                    "notes_named",
                    "places_in",
                    "search_begins",
                    "verification",
                ]
