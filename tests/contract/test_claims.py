"""What the store keeps of the claims of a source: one row for each signal."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rowen.core.freshness.claims import Record, Signal
from rowen.errors import LeaseLost
from rowen.ports.store.store import Store
from tests.contract.helpers import LATER, NOW, a_lease, a_source

pytestmark = pytest.mark.anyio

RECORD = Record(
    claims=10_000,
    checked=90,
    lies=1,
    told=7,
    alarms=3,
    held=12,
    runs=2,
    turns=9,
    falls=1,
    lied_at=NOW,
    lied_about="https://docs.example/a",
    checked_at=LATER,
)


async def test_records_of_signals_are_kept_for_each_source(store: Store) -> None:
    source, other = await a_source(store), await a_source(store, name="other")
    assert await store.claims(source.id) == {}
    lease = await a_lease(store, source)
    await store.save_claims(lease, source.id, {Signal.LASTMOD: RECORD, Signal.ETAG: Record(claims=1)})
    assert await store.claims(source.id) == {Signal.LASTMOD: RECORD, Signal.ETAG: Record(claims=1)}
    written = store.rows_written()
    await store.save_claims(lease, source.id, {Signal.ETAG: replace(RECORD, lied_about=None)})
    assert store.rows_written() - written == 1
    kept = {Signal.LASTMOD: RECORD, Signal.ETAG: replace(RECORD, lied_about=None)}
    assert await store.claims_of([source.id, other.id]) == {source.id: kept, other.id: {}}
    assert await store.claims_of([]) == {}


async def test_only_the_holder_of_the_lease_writes_them_and_they_go_with_their_source(store: Store) -> None:
    source = await a_source(store)
    lease = await a_lease(store, source)
    await store.save_claims(lease, source.id, {Signal.ETAG: RECORD})
    with pytest.raises(LeaseLost):
        await store.save_claims(replace(lease, token=lease.token - 1), source.id, {Signal.ETAG: Record()})
    assert await store.claims(source.id) == {Signal.ETAG: RECORD}
    await store.remove_source(source.id, now=LATER)
    assert await store.claims(source.id) == {}
