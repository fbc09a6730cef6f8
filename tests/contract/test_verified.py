"""What the store keeps of when documents were verified: one row a source."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from rowen.core.freshness.proof import Proof
from rowen.core.freshness.source_rates import SourceRates
from rowen.core.source import Source
from rowen.core.web.verified import Freshness, Looked, LookedAtSome
from rowen.ports.store.store import Store
from tests.contract.helpers import LATER, NOW, a_generation, a_lease, a_source, an_end
from tests.support.begun import begun

pytestmark = pytest.mark.anyio

A, B = "https://docs.example/a", "https://docs.example/b"
DAY = timedelta(days=1)


async def a_look(
    store: Store,
    source: Source,
    looked: Looked | LookedAtSome | None,
    *,
    days: float,
    rates: SourceRates | None = None,
) -> int:
    """A run that finds nothing new; how many rows its end wrote."""
    lease = await a_lease(store, source)
    run = await begun(store, lease, source.id, full=False, now=NOW + days * DAY)
    before = store.rows_written()
    end = replace(an_end(run, activate=False), looked=looked, rates=rates)
    await store.finish_run(lease, run, end, now=LATER)
    written = store.rows_written() - before
    await store.release_lease(lease)
    return written


async def ways(store: Store, source: Source) -> dict[str, tuple[float, str | None]]:
    """How many days after the beginning, and how."""
    return {
        one.reference.rpartition("/")[2]: ((one.verified_at - NOW) / DAY, one.verified_by)
        for one in await store.documents(source.id)
        if one.verified_at
    }


async def test_a_run_that_looked_at_everything_verifies_all_but_its_exceptions(store: Store) -> None:
    source = await a_source(store)
    await a_generation(store, source, {A: "one", B: "b"})
    assert await ways(store, source) == {"a": (0, "fetched"), "b": (0, "fetched")}
    few = await a_look(store, source, Looked(by="not_modified"), days=1)
    assert await ways(store, source) == {"a": (1, "not_modified"), "b": (1, "not_modified")}
    many = await a_look(store, source, Looked(by="same_body", failed=[B, *map(str, range(500))]), days=2)
    assert many == few, "one row, however many exceptions"
    assert await ways(store, source) == {"a": (2, "same_body"), "b": (1, "not_modified")}
    await a_look(store, source, None, days=3)
    assert (await ways(store, source))["a"] == (2, "same_body"), "a run that did not look says nothing"
    found = {one.reference: one.id for one in await store.documents(source.id)}
    assert await store.proofs([found[B]]) == {found[B]: Proof(NOW + DAY, "not_modified")}
    assert await store.proofs([]) == {}
    await a_look(store, source, Looked(by="same_body", failed=[B]), days=2)
    found_fresh = Freshness(day=1, week=1, older=0, last=NOW + 2 * DAY)
    assert await store.freshness(source.id, now=NOW + 2.5 * DAY) == found_fresh


async def test_a_source_was_last_verified_when_one_of_its_documents_was(store: Store) -> None:
    source = await a_source(store)
    assert (await store.freshness(source.id, now=NOW)).last is None
    await a_generation(store, source, {A: "one", B: "b"})

    async def agreed() -> float:
        last = (await store.freshness(source.id, now=NOW + 9 * DAY)).last
        assert last == max(one.verified_at for one in await store.documents(source.id) if one.verified_at)
        return (last - NOW) / DAY

    assert await agreed() == 0
    await a_look(store, source, Looked(by="not_modified", failed=[B]), days=1)
    assert await agreed() == 1
    await a_look(store, source, LookedAtSome(unchanged={"not_modified": [B]}), days=2)
    assert await agreed() == 2
    await a_look(store, source, None, days=3)
    assert await agreed() == 2, "a run that was held or failed says nothing of what readers see"


async def test_after_a_rollback_only_what_was_fetched_is_known(store: Store) -> None:
    source = await a_source(store)
    first = await a_generation(store, source, {A: "one"})
    await a_generation(store, source, {A: "two"})
    await a_look(store, source, Looked(by="not_modified"), days=1)
    await store.activate(source.id, first.generation, now=LATER)
    assert await ways(store, source) == {"a": (0, "fetched")}
