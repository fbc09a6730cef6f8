"""What the store promises about who added a source."""

from __future__ import annotations

import pytest

from rowen.core.source import ADDED_BY, API, NewSource
from rowen.ports.store.store import Store
from tests.contract.helpers import NOW, a_generation, a_source

pytestmark = pytest.mark.anyio


async def test_who_added_a_source_is_remembered_through_its_runs(store: Store) -> None:
    new = NewSource(
        kind="web", name="docs", location="https://docs.example/", key="web:docs:1", metadata={ADDED_BY: API}
    )
    source = await store.add_source(new, now=NOW)
    assert source.metadata == {ADDED_BY: API}
    await a_generation(store, source, {"https://docs.example/a": "text"})
    (after,) = await store.sources()
    assert after.metadata == {ADDED_BY: API}
    assert not after.is_typed


async def test_a_source_that_the_operator_added_says_nothing(store: Store) -> None:
    source = await a_source(store)
    assert source.metadata == {}
    assert source.is_typed
