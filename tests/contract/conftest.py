"""What every database must pass, unchanged. A second one joins by adding itself to `STORES`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from rowen.adapters.sqlite.store import SqliteStore
from rowen.ports.store import Store

STORES: dict[str, Callable[[Path], Store]] = {
    "sqlite": lambda folder: SqliteStore(folder / "rowen.db"),
}


@pytest.fixture(params=sorted(STORES))
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    opened = STORES[request.param](tmp_path)
    yield opened
    await opened.close()
