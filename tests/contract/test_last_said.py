"""What the store answers of references that readers do not see."""

from __future__ import annotations

from datetime import timedelta

import pytest

from rowen.core.document import Outcome
from rowen.core.run import RunItem
from rowen.core.source import Source
from rowen.ports.store.learning.outcomes import Said
from rowen.ports.store.store import Store
from tests.contract.helpers import NOW, a_generation, a_lease, a_source, an_end
from tests.support.begun import begun

pytestmark = pytest.mark.anyio

A, B = "https://docs.example/a", "https://docs.example/b"
DAY = timedelta(days=1)


async def a_removal(store: Store, source: Source, reference: str, *, days: float, shown: bool) -> None:
    lease = await a_lease(store, source)
    run = await begun(store, lease, source.id, full=False, now=NOW + days * DAY)
    known = await store.known(source.id)
    await store.retire(lease, run, [known[reference].reference_id])
    items = [
        RunItem(reference, Outcome.DELETED, "http_404"),
        RunItem(B, Outcome.FAILED, "timeout", "too slow"),
    ]
    await store.finish_run(lease, run, an_end(run, items=items, activate=shown), now=NOW + days * DAY)
    await store.release_lease(lease)


async def test_a_removal_is_told_once_readers_have_seen_it(store: Store) -> None:
    source = await a_source(store)
    await a_generation(store, source, {A: "one", B: "b"})
    (document,) = await store.documents(source.id, references=[A])
    assert await store.last_said(source.id, [A, B]) == []
    await a_removal(store, source, A, days=1, shown=False)
    slow = Said(B, Outcome.FAILED, "timeout", "too slow", NOW + DAY)
    assert await store.last_said(source.id, [A, B]) == [slow], (
        "a failure counts, a removal nobody saw does not"
    )
    await a_removal(store, source, A, days=2, shown=True)
    said = await store.last_said(source.id, [A])
    assert said == [Said(A, Outcome.DELETED, "http_404", None, NOW + 2 * DAY)]
    assert await store.last_said(source.id, []) == []
    assert await store.reference_of(document.id) == (source.id, A), "also of one that is gone"
    assert await store.reference_of(document.id + 10_000) is None


async def test_references_of_other_sources_are_not_told(store: Store) -> None:
    source, other = await a_source(store), await a_source(store, "other")
    await a_generation(store, source, {A: "one", B: "b"})
    await a_removal(store, source, A, days=1, shown=True)
    assert await store.last_said(other.id, [A, B]) == []
